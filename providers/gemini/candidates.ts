import { finishReason, type Usage, withFacts } from 'gw/contract';
import { countOf, type Fields, isFields } from 'gw/common-wire';
import { CallReader, type WholeCall } from './calls.ts';
import { annotationsOf } from './citations.ts';
import { type Place, signatureItem } from './signatures.ts';
import type { ToolNames } from './tool-names.ts';
import { usageFacts } from './usage-facts.ts';

/** What some parts of a candidate add to the answer; a whole answer is one such piece. */
export interface Piece {
  content?: string;
  reasoning_content?: string;
  reasoning_details?: Fields[];
  tool_calls?: WholeCall[];
  /** Made by models that answer with images; each a part of the kind that clients send. */
  images?: Fields[];
  /** Sources of the text, once it is complete. */
  annotations?: object[];
}

/** Reads one candidate, over all frames of a stream: calls, signatures and places are counted through. */
export class CandidateReader {
  readonly #calls: CallReader;
  /** Candidates with sources: what they cite is sent at the end. */
  readonly #sourced: Fields[] = [];
  readonly #said: string[] = [];
  readonly #partStarts: number[] = [];
  #signatures = 0;
  #text = 0;
  #thoughts = 0;
  #isFinished = false;

  /** `answer` is an id of the answer, and `index` of the candidate in it. */
  constructor(answer: string, index: number, names: ToolNames) {
    this.#calls = new CallReader(answer, index, names);
  }

  /** What is new in a candidate, and how it ended: `null` while it goes on. Throws when it ended inside a call. */
  read(candidate: Fields): { readonly piece: Piece; readonly finish: string | null } {
    const { content, finishReason: reason, groundingMetadata, citationMetadata } = candidate;
    const piece: Piece = {};
    const parts: readonly unknown[] = isFields(content) && Array.isArray(content['parts']) ? content['parts'] : [];
    for (const part of parts) if (isFields(part)) this.#part(piece, part);
    if (isFields(groundingMetadata) || isFields(citationMetadata)) this.#sourced.push(candidate);
    const finish = readFinish(reason, this.#calls.hasCalls);
    if (finish !== null) this.#isFinished = true;
    if (this.#calls.isOpen && (finish === 'stop' || finish === 'tool_calls'))
      throw new Error('the answer ended inside a function call');
    if (this.#isFinished) this.#cite(piece);
    return { piece, finish };
  }

  #cite(piece: Piece): void {
    if (this.#sourced.length === 0) return;
    const annotations = annotationsOf(this.#sourced.splice(0), {
      text: this.#said.join(''),
      partStarts: this.#partStarts,
    });
    if (annotations.length > 0) piece.annotations = annotations;
  }

  #part(piece: Piece, part: Fields): void {
    const { thought, functionCall: call, text, inlineData: data, thoughtSignature: given } = part;
    const signature = typeof given === 'string' && given !== '' ? given : undefined;
    this.#partStarts.push(this.#text);
    const place =
      thought === true
        ? this.#thought(piece, text)
        : (this.#call(piece, call, signature) ?? this.#spoken(piece, text, data));
    if (signature === undefined) return;
    (piece.reasoning_details ??= []).push(signatureItem(this.#signatures, place, signature));
    this.#signatures += 1;
  }

  #thought(piece: Piece, text: unknown): Place {
    const start = this.#thoughts;
    if (typeof text === 'string' && text !== '') {
      piece.reasoning_content = (piece.reasoning_content ?? '') + text;
      this.#thoughts += text.length;
    }
    return { thought: true, start, end: this.#thoughts };
  }

  #call(piece: Piece, part: unknown, signature: string | undefined): Place | undefined {
    const call = this.#calls.read(part, signature);
    if (call?.whole) (piece.tool_calls ??= []).push(call.whole);
    return call && { id: call.id };
  }

  /** Text and images; a signature on anything else keeps its place in the text. */
  #spoken(piece: Piece, text: unknown, data: unknown): Place {
    const start = this.#text;
    if (typeof text === 'string') {
      piece.content = (piece.content ?? '') + text;
      this.#said.push(text);
      this.#text += text.length;
    }
    const image = imageOf(data);
    if (image) (piece.images ??= []).push(image);
    return { start, end: this.#text };
  }
}

function imageOf(data: unknown): Fields | undefined {
  if (!isFields(data) || typeof data['data'] !== 'string' || data['data'] === '') return undefined;
  const type = typeof data['mimeType'] === 'string' ? data['mimeType'] : 'image/png';
  return { type: 'image_url', image_url: { url: `data:${type};base64,${data['data']}` } };
}

/** `null` while a candidate goes on. A stop after calls is a stop for them; every other reason outranks calls. */
function readFinish(reason: unknown, hasCalls: boolean): string | null {
  if (typeof reason !== 'string' || reason === '' || reason === 'FINISH_REASON_UNSPECIFIED') return null;
  const finish = finishReason(reason);
  return finish === 'stop' && hasCalls ? 'tool_calls' : finish;
}

/** Why a prompt was not answered at all; `undefined` when it was. */
export function blockedPrompt({ promptFeedback: feedback }: Fields): string | undefined {
  if (!isFields(feedback)) return undefined;
  const { blockReasonMessage: message, blockReason } = feedback;
  if (typeof blockReason !== 'string' || blockReason === '' || blockReason === 'BLOCK_REASON_UNSPECIFIED')
    return undefined;
  return typeof message === 'string' && message !== '' ? message : `the prompt was blocked: ${blockReason}`;
}

/** `undefined` when nothing was counted. What the vendor's own tools brought is part of the prompt. See docs/providers.md#gemini-models. */
export function readUsage(metadata: unknown): Usage | undefined {
  if (!isFields(metadata)) return undefined;
  const [thoughts, cached] = [countOf(metadata['thoughtsTokenCount']), countOf(metadata['cachedContentTokenCount'])];
  const prompt = countOf(metadata['promptTokenCount']) + countOf(metadata['toolUsePromptTokenCount']);
  const completion = countOf(metadata['candidatesTokenCount']) + thoughts;
  const total = countOf(metadata['totalTokenCount']) || prompt + completion;
  if (total === 0) return undefined;
  const usage = {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: total,
    ...(thoughts > 0 && { reasoning_tokens: thoughts }),
    ...(cached > 0 && { cache_read_tokens: cached }),
  };
  return withFacts(usage, usageFacts(metadata));
}
