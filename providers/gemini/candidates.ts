import { finishReason, type ToolCallDelta, type Usage } from 'gw/contract';
import { countOf, type Fields, isFields } from 'gw/common-wire';
import { type Place, signatureItem } from './signatures.ts';

/** What some parts of a candidate add to the answer; a whole answer is one such piece. */
export interface Piece {
  content?: string;
  reasoning_content?: string;
  reasoning_details?: Fields[];
  tool_calls?: (ToolCallDelta & { readonly index: number; readonly id: string })[];
  /** Made by models that answer with images; each a part of the kind that clients send. */
  images?: Fields[];
}

/** Reads the parts of one candidate, over all frames of a stream: calls, signatures and places are counted through. */
export class CandidateReader {
  readonly #index: number;
  #calls = 0;
  #signatures = 0;
  #text = 0;
  #thoughts = 0;

  constructor(index: number) {
    this.#index = index;
  }

  get hasCalls(): boolean {
    return this.#calls > 0;
  }

  read(content: unknown): Piece {
    const piece: Piece = {};
    const parts: readonly unknown[] = isFields(content) && Array.isArray(content['parts']) ? content['parts'] : [];
    for (const part of parts) if (isFields(part)) this.#part(piece, part);
    return piece;
  }

  #part(piece: Piece, part: Fields): void {
    const { thought, functionCall: call, text, inlineData: data, thoughtSignature: signature } = part;
    const place = thought === true ? this.#thought(piece, text) : this.#call(piece, call) ?? this.#said(piece, text, data);
    if (typeof signature !== 'string' || signature === '') return;
    piece.reasoning_details = [...(piece.reasoning_details ?? []), signatureItem(this.#signatures, place, signature)];
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

  #call(piece: Piece, call: unknown): Place | undefined {
    if (!isFields(call) || typeof call['name'] !== 'string') return undefined;
    const { id: given, name, args } = call;
    const id = typeof given === 'string' && given !== '' ? given : `call_${this.#index}_${this.#calls}`;
    const called = { index: this.#calls, id, type: 'function', function: { name, arguments: JSON.stringify(isFields(args) ? args : {}) } };
    piece.tool_calls = [...(piece.tool_calls ?? []), called];
    this.#calls += 1;
    return { id };
  }

  /** Text and images; a signature on anything else keeps its place in the text. */
  #said(piece: Piece, text: unknown, data: unknown): Place {
    const start = this.#text;
    if (typeof text === 'string') {
      piece.content = (piece.content ?? '') + text;
      this.#text += text.length;
    }
    const image = imageOf(data);
    if (image) piece.images = [...(piece.images ?? []), image];
    return { start, end: this.#text };
  }
}

function imageOf(data: unknown): Fields | undefined {
  if (!isFields(data) || typeof data['data'] !== 'string' || data['data'] === '') return undefined;
  const type = typeof data['mimeType'] === 'string' ? data['mimeType'] : 'image/png';
  return { type: 'image_url', image_url: { url: `data:${type};base64,${data['data']}` } };
}

/** `null` while a candidate goes on. A stop after calls is a stop for them; every other reason outranks calls. */
export function readFinish(reason: unknown, hasCalls: boolean): string | null {
  if (typeof reason !== 'string' || reason === '' || reason === 'FINISH_REASON_UNSPECIFIED') return null;
  const finish = finishReason(reason);
  return finish === 'stop' && hasCalls ? 'tool_calls' : finish;
}

/** Why a prompt was not answered at all; `undefined` when it was. */
export function blockedPrompt({ promptFeedback: feedback }: Fields): string | undefined {
  if (!isFields(feedback) || typeof feedback['blockReason'] !== 'string' || feedback['blockReason'] === '') return undefined;
  const { blockReasonMessage: message, blockReason } = feedback;
  return typeof message === 'string' && message !== '' ? message : `the prompt was blocked: ${blockReason}`;
}

/** `undefined` when nothing was counted. Source: providers reference 5.2. */
export function readUsage(metadata: unknown): Usage | undefined {
  if (!isFields(metadata)) return undefined;
  const [prompt, thoughts, cached] = [countOf(metadata['promptTokenCount']), countOf(metadata['thoughtsTokenCount']), countOf(metadata['cachedContentTokenCount'])];
  const completion = countOf(metadata['candidatesTokenCount']) + thoughts;
  const total = countOf(metadata['totalTokenCount']) || prompt + completion;
  if (total === 0) return undefined;
  return {
    prompt_tokens: prompt, completion_tokens: completion, total_tokens: total,
    ...(thoughts > 0 && { reasoning_tokens: thoughts }), ...(cached > 0 && { cache_read_tokens: cached }),
  };
}
