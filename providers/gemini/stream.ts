import {
  type CallInfo,
  type ChatChunk,
  type ChatRequest,
  type ChunkChoice,
  type StreamDecoder,
  tryParseJson,
  type Usage,
  withFacts,
} from 'gw/contract';
import { type Fields, isFields } from 'gw/common-wire';
import { errorOf, frameFailure } from '../_common/google/faults.ts';
import { blockedPrompt, CandidateReader, readUsage } from './candidates.ts';
import { readLogprobs } from './logprobs.ts';
import { type ToolNames, toolNames } from './tool-names.ts';
import { Grounding, tierOf } from './usage-facts.ts';

/** Each frame is a whole reply with what is new. See docs/providers.md#gemini-models. */
export function openStream({ model, exchangeId }: CallInfo, request: ChatRequest): StreamDecoder {
  const stream = new FrameDecoder(model, exchangeId, request);
  return ({ data }) => {
    const frame = tryParseJson(data);
    const error = errorOf(frame);
    if (error) throw frameFailure(error);
    return isFields(frame) ? stream.decode(frame) : [];
  };
}

interface OpenCandidate {
  readonly reader: CandidateReader;
  finish: string | null;
}

class FrameDecoder {
  readonly #model: string;
  readonly #exchangeId: string;
  readonly #request: ChatRequest;
  readonly #names: ToolNames;
  readonly #candidates = new Map<number, OpenCandidate>();
  #id: string | undefined;
  /** Usage counts up with every frame, and is sent once something has finished. */
  #usage: Usage | undefined;
  #isFinished = false;
  readonly #grounding = new Grounding();

  constructor(model: string, exchangeId: string, request: ChatRequest) {
    this.#model = model;
    this.#exchangeId = exchangeId;
    this.#request = request;
    this.#names = toolNames(request);
  }

  decode(frame: Fields): readonly ChatChunk[] {
    this.#usage = readUsage(frame['usageMetadata']) ?? this.#usage;
    const { responseId, candidates } = frame;
    const id = typeof responseId === 'string' && responseId !== '' ? responseId : undefined;
    this.#id ??= id;
    const given = Array.isArray(candidates) ? candidates.filter(isFields) : [];
    this.#grounding.read(given);
    const choices =
      given.length > 0
        ? given.flatMap((candidate, place) => this.#choice(candidate, place) ?? [])
        : this.#blocked(frame);
    if (choices.some(({ finish_reason: finish }) => finish !== null)) this.#isFinished = true;
    const counted = this.#isFinished ? this.#usage : undefined;
    if (counted) this.#usage = undefined;
    const usage = counted && withFacts(counted, { tier: tierOf(counted, this.#request), ...this.#grounding.facts() });
    if (choices.length === 0 && !usage) return [];
    return [{ ...(id !== undefined && { id }), model: this.#model, choices, ...(usage && { usage }) }];
  }

  /** `undefined` for a candidate that adds nothing. */
  #choice(candidate: Fields, place: number): ChunkChoice | undefined {
    const { index: given } = candidate;
    const index = typeof given === 'number' && Number.isInteger(given) && given >= 0 ? given : place;
    const open = this.#candidates.get(index) ?? {
      reader: new CandidateReader(this.#id ?? this.#exchangeId, index, this.#names),
      finish: null,
    };
    this.#candidates.set(index, open);
    const { piece: delta, finish } = open.reader.read(candidate);
    const logprobs = readLogprobs(candidate['logprobsResult']);
    if (Object.keys(delta).length === 0 && !logprobs && finish === open.finish) return undefined;
    open.finish = finish;
    return { index, delta: { ...delta }, ...(logprobs && { logprobs }), finish_reason: finish };
  }

  #blocked(frame: Fields): ChunkChoice[] {
    const refusal = this.#candidates.size > 0 || this.#isFinished ? undefined : blockedPrompt(frame);
    return refusal === undefined ? [] : [{ index: 0, delta: { refusal }, finish_reason: 'content_filter' }];
  }
}
