import {
  type ChatChunk,
  type ChunkChoice,
  type Fields,
  GatewayError,
  type Usage,
} from '../../../../host/contract/index.ts';
import { bytesOfText } from '../../../../host/upstream/sse.ts';
import { type ClientFailure, failureOf } from '../../../../host/wire/client-failure.ts';
import type { ClientStream } from '../../../../host/wire/client-wire.ts';
import type { AnswerFacts } from './answer.ts';
import { logprobsOf, tokensOf } from './candidate-extras.ts';
import { CandidateWriter } from './candidate-writer.ts';
import { errorBody } from '../errors.ts';
import type { StreamForm } from '../stream-form.ts';
import { usageMetadata } from './usage.ts';

export interface StreamFacts extends AnswerFacts {
  readonly model: string;
  readonly requestId: string;
}

/** Writes one streamed answer: frames with what is new, and a last one with the reasons and the usage. See docs/reference/ingress.md#gemini-events. */
export class GeminiStream implements ClientStream {
  readonly frames = undefined;
  readonly #form: StreamForm;
  readonly #facts: StreamFacts;
  readonly #candidates = new Map<number, CandidateWriter>();
  /** Tokens of each candidate whose probabilities came without a part that could leave: some upstreams send them behind their text. */
  readonly #tokens = new Map<number, Fields[]>();
  #usage: Usage | undefined;
  #frames = 0;

  constructor(form: StreamForm, facts: StreamFacts) {
    this.#form = form;
    this.#facts = facts;
  }

  get contentType(): string {
    return this.#form.contentType;
  }

  /** Throws for calls that cannot be written. */
  chunk({ choices, usage }: ChatChunk): string {
    if (usage) this.#usage = usage;
    let bytes = '';
    for (const choice of choices) {
      const parts = this.#candidate(choice.index).write(choice);
      if (this.#facts.wantsLogprobs) this.#keepTokens(choice);
      if (parts.length > 0) bytes += this.#frame({ candidates: [this.#shown(choice, parts)] });
    }
    return bytes;
  }

  end(): string {
    if (this.#candidates.size === 0) this.#candidate(0);
    try {
      const candidates = [...this.#candidates]
        .toSorted(([a], [b]) => a - b)
        .map(([index, writer]) => ({ ...writer.end(index), ...this.#probabilities(index) }));
      return this.#frame({ candidates, usageMetadata: usageMetadata(this.#usage) }) + this.#form.end;
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return this.error(failureOf(error, error.message, this.#facts.requestId));
    }
  }

  keepAlive(): string {
    return this.#form.keepAlive;
  }

  error(failure: ClientFailure, isFirst = false): string {
    if (isFirst) this.#frames = 0;
    return this.#write(errorBody(failure)) + this.#form.end;
  }

  #candidate(index: number): CandidateWriter {
    const known = this.#candidates.get(index);
    if (known) return known;
    const made = new CandidateWriter(this.#facts);
    this.#candidates.set(index, made);
    return made;
  }

  #shown({ index }: ChunkChoice, parts: readonly Fields[]): Fields {
    return { content: { role: 'model', parts }, index, ...this.#probabilities(index) };
  }

  #keepTokens({ index, logprobs }: ChunkChoice): void {
    const waiting = this.#tokens.get(index) ?? [];
    for (const token of tokensOf(logprobs)) waiting.push(token);
    if (waiting.length > 0) this.#tokens.set(index, waiting);
  }

  /** Those that wait, once. */
  #probabilities(index: number): Fields {
    const tokens = this.#tokens.get(index) ?? [];
    this.#tokens.delete(index);
    return logprobsOf(tokens);
  }

  #frame(members: Fields): string {
    const { model: modelVersion, requestId: responseId } = this.#facts;
    return this.#write({ ...members, modelVersion, responseId });
  }

  #write(value: object): string {
    this.#frames += 1;
    return this.#form.frame(bytesOfText(JSON.stringify(value)), this.#frames === 1);
  }
}
