import {
  type ChatChunk,
  type ChunkChoice,
  type ChunkDelta,
  finishReason,
  type ToolCallDelta,
  type Usage,
} from '../contract/index.ts';
import { type Fields, isFields, isIndex } from '../contract/json/fields.ts';
import { unusableReply } from '../upstream/fault.ts';
import { CallNumbers } from './call-numbers.ts';
import { ChunkUsage } from './chunk-usage.ts';
import { contentText, takeReasoning, takeThoughts } from './message-parts.ts';
import { isTime } from './normalize-reply.ts';
import { normalizeToolCalls } from './tool-calls.ts';
import { brokenEnd, isSpoken } from './usable-answer.ts';

/** More than any provider makes of one request. An answer beyond it is unusable: each choice costs far more than its bytes. */
export const MAX_CHOICES = 1024;

export interface ChunkFacts {
  readonly model: string;
  /** Unix seconds at which the stream began, one value for all its chunks. */
  readonly created: number;
  /** The client opted out of usage: it is metered, and removed from what goes on. */
  readonly stripUsage: boolean;
  /** What tells this answer from all others: ids of calls are made of it where the upstream gave none. */
  readonly answer?: string | undefined;
  /** The client's wire has no calls of custom tools: they count as calls without a name. */
  readonly functionsOnly?: boolean;
}

/** What a guard sees of a stream, and so all that may go on under one. */
const GUARDED_CHUNK = new Set([
  'id',
  'object',
  'created',
  'model',
  'choices',
  'usage',
  'system_fingerprint',
  'service_tier',
]);
const GUARDED_CHOICE = new Set(['index', 'delta', 'finish_reason']);
const GUARDED_DELTA = new Set(['role', 'content', 'refusal', 'reasoning_content', 'reasoning_details', 'tool_calls']);

function keepOnly(fields: Fields, names: ReadonlySet<string>): void {
  for (const name of Object.keys(fields)) if (!names.has(name)) delete fields[name];
}

/** Whether a delta says nothing. */
const isBare = (delta: unknown): boolean =>
  !isFields(delta) ||
  Object.entries(delta).every(
    ([name, value]) =>
      name === 'role' || value === null || value === '' || (Array.isArray(value) && value.length === 0),
  );

function tooManyChoices(): Error {
  return unusableReply(`the answer has more than ${MAX_CHOICES} choices`);
}

/** Carries what one stream needs to know from chunk to chunk. */
export class ChunkNormalizer {
  /** What the upstream calls the model, from its first chunk. */
  reportedModel: string | undefined;
  /** Changes whenever a chunk altered what later chunks inherit; shortcuts learned before are then void. */
  version = 0;
  readonly #facts: ChunkFacts;
  readonly #isGuarded: boolean;
  readonly #usage: ChunkUsage;
  readonly #roles = new Set<number>();
  /** Why each choice ended. */
  readonly #ends = new Map<number, string>();
  readonly #calls: CallNumbers;
  /** Texts, sounds and images have come, calls aside. */
  #isSpoken = false;
  #broken: string | undefined;
  #id: string | undefined;

  /** `isGuarded` says that plugins hold the stream back: members that they cannot hold back are left out. */
  constructor(facts: ChunkFacts, isGuarded = false) {
    this.#facts = facts;
    this.#isGuarded = isGuarded;
    this.#usage = new ChunkUsage(facts.stripUsage);
    this.#calls = new CallNumbers(() => {
      this.version += 1;
    }, facts);
  }

  /** The last usage that counted something. */
  get usage(): Usage | undefined {
    return this.#usage.last;
  }

  /** Names of sums of the usage that cannot be believed. */
  get doubts(): readonly string[] {
    return this.#usage.doubts;
  }

  /** True once some choice has finished. */
  get isFinished(): boolean {
    return this.#ends.size > 0;
  }

  get id(): string {
    return this.#id ?? '';
  }

  /** Why the answer says nothing although it has ended, as far as the chunks say that were read here. */
  get silence(): string | undefined {
    return this.#isSpoken ? undefined : this.#broken;
  }

  /** Corrects a chunk in place. True when it now differs from what arrived. */
  normalize(chunk: ChatChunk): boolean {
    this.#usage.look(chunk, this.isFinished);
    let isChanged = this.#frame(chunk);
    if (this.#isRepeatedEnd(chunk)) {
      chunk.choices = [];
      isChanged = true;
    }
    for (const choice of chunk.choices) if (this.#choice(choice)) isChanged = true;
    return this.#usage.read(chunk, this.isFinished) || isChanged;
  }

  /** Corrects a chunk with a text that did not come: later ones are corrected alike. True when it was changed. */
  rehearse(chunk: ChatChunk): boolean {
    const isSpoken = this.#isSpoken;
    const isChanged = this.normalize(chunk);
    this.#isSpoken = isSpoken;
    return isChanged;
  }

  /** A chunk for what the whole stream leaves to be said, once it is complete. */
  rest(): ChatChunk | undefined {
    const { model, created } = this.#facts;
    return this.#usage.rest({ id: this.id, object: 'chat.completion.chunk', created, model });
  }

  /** Some vendors repeat the end of each choice, most beside the usage of all: the chunk that ends a choice is the last that has it. */
  #isRepeatedEnd({ usage, choices }: ChatChunk): boolean {
    if (!this.isFinished || choices.length === 0) return false;
    return choices.every(({ index, delta, logprobs, finish_reason: reason }) => {
      const end = this.#ends.get(isIndex(index) ? index : 0);
      const isRepeated = reason ? finishReason(reason) === end : end !== undefined;
      return isRepeated && isBare(delta) && (isFields(usage) || (reason && !logprobs));
    });
  }

  #frame(chunk: ChatChunk): boolean {
    let isChanged = this.#head(chunk);
    if ('error' in chunk) {
      delete chunk['error']; // a healthy chunk never carries the key
      isChanged = true;
    }
    const choices: unknown = chunk.choices;
    const usable = Array.isArray(choices) ? choices.filter(isFields) : [];
    if (usable.length > MAX_CHOICES) throw tooManyChoices();
    if (!Array.isArray(choices) || usable.length !== choices.length) {
      chunk.choices = usable as unknown as ChunkChoice[];
      isChanged = true;
    }
    return isChanged;
  }

  /** What a chunk tells beside its choices. */
  #head(chunk: ChatChunk): boolean {
    const { object, created, id, model } = chunk;
    if (this.#isGuarded) keepOnly(chunk, GUARDED_CHUNK);
    if (typeof object !== 'string' || object === '') chunk.object = 'chat.completion.chunk';
    if (!isTime(created)) chunk.created = this.#facts.created;
    if (typeof id === 'string' && id !== '' && id !== this.#id) {
      this.#id = id;
      this.version += 1;
    }
    chunk.id = this.id;
    if (typeof model === 'string' && model !== '') this.reportedModel ??= model; // a first chunk may leave it empty
    chunk.model = this.#facts.model;
    return chunk.object !== object || chunk.created !== created || chunk.id !== id || chunk.model !== model;
  }

  #choice(choice: ChunkChoice): boolean {
    let isChanged = false;
    if (!isIndex(choice.index)) {
      choice.index = 0;
      isChanged = true;
    }
    if (!isFields(choice.delta)) {
      const { message } = choice; // some servers stream a whole answer, as one event
      choice.delta = isFields(message) && !this.#roles.has(choice.index) ? message : {};
      isChanged = true;
    }
    if ('message' in choice) {
      delete choice['message']; // the answer so far: clients that keep members they do not know would add the piece to it
      isChanged = true;
    }
    if (this.#isGuarded) {
      keepOnly(choice, GUARDED_CHOICE);
      keepOnly(choice.delta, GUARDED_DELTA);
    }
    const finish =
      typeof choice.finish_reason === 'string' && choice.finish_reason !== ''
        ? finishReason(choice.finish_reason)
        : null;
    if (finish !== choice.finish_reason) {
      choice.finish_reason = finish;
      isChanged = true;
    }
    if (this.#delta(choice.delta, choice.index)) isChanged = true;
    return finish === null ? isChanged : this.#end(choice, finish) || isChanged;
  }

  /** Calls that never got a name are left out. */
  #end(choice: ChunkChoice, finish: string): boolean {
    const { index } = choice;
    this.#ends.set(index, finish);
    const { areAny, areNameless } = this.#calls.endOf(index);
    if (areAny || this.#roles.size > 1) return false;
    this.#broken = brokenEnd(finish, areNameless);
    if (!areNameless || finish !== 'tool_calls') return false;
    choice.finish_reason = 'stop';
    return true;
  }

  /** `role` exactly once per choice, on its first chunk; text as text. */
  #delta(delta: ChunkDelta, index: number): boolean {
    let isChanged = takeReasoning(delta);
    if (normalizeToolCalls(delta)) isChanged = true;
    if (delta.tool_calls && this.#numberCalls(delta, delta.tool_calls, index)) isChanged = true;
    const { reasoning_details: details }: Fields = delta;
    if (details !== undefined && details !== null && !Array.isArray(details)) {
      delete delta.reasoning_details;
      isChanged = true;
    }
    const content: unknown = delta.content;
    if (content !== undefined && content !== null && typeof content !== 'string') {
      if (Array.isArray(content)) takeThoughts(delta, content);
      delta.content = contentText(content) ?? null;
      isChanged = true;
    }
    this.#isSpoken ||= isSpoken(delta);
    if (!this.#roles.has(index)) {
      if (this.#roles.size === MAX_CHOICES) throw tooManyChoices();
      this.#roles.add(index);
      this.version += 1;
      if (delta.role === 'assistant') return isChanged;
      delta.role = 'assistant';
      return true;
    }
    if (!('role' in delta)) return isChanged;
    delete delta.role;
    return true;
  }

  #numberCalls(delta: ChunkDelta, calls: ToolCallDelta[], choice: number): boolean {
    const corrected = this.#calls.number(calls, choice);
    if (!corrected) return false;
    if (corrected.length > 0) delta.tool_calls = corrected;
    else delete delta.tool_calls;
    return true;
  }
}
