/**
 * Brings what an upstream answers into the shape the common wire promises (docs/reference/data-plane.md#answers). Upstreams
 * are read leniently: what has the wrong type is repaired or left out, never passed on unread.
 */
import {
  type ChatChunk,
  type ChatReply,
  type ChunkChoice,
  type ChunkDelta,
  finishReason,
  readUsage,
  type ReplyMessage,
  type Usage,
} from '../contract/index.ts';
import { type Fields, isFields, isIndex } from '../contract/json/fields.ts';
import { unusableReply } from '../upstream/fault.ts';
import { CallNumbers } from './call-numbers.ts';
import { ChunkUsage } from './chunk-usage.ts';
import { completeCalls, normalizeToolCalls } from './tool-calls.ts';

export interface ReplyFacts {
  /** The model the client asked for, after aliases. */
  readonly model: string;
  /** Key of the target that answered. */
  readonly provider: string;
  /** Unix seconds, for replies without a time. */
  readonly created: number;
  /** What tells this answer from all others: ids of calls are made of it where the upstream gave none. */
  readonly answer?: string | undefined;
}

/** More than any provider makes of one request. An answer beyond it is unusable: each choice costs far more than its bytes. */
export const MAX_CHOICES = 1024;

const isTime = (value: unknown): value is number => Number.isSafeInteger(value) && value !== 0; // clients read whole seconds

/** Fills and corrects a unary reply in place; it was parsed for this one exchange. Names of sums of its usage that cannot be believed are added to `doubts`. */
export function normalizeReply(reply: ChatReply, facts: ReplyFacts, doubts?: string[]): void {
  if (typeof reply.object !== 'string' || reply.object === '') reply.object = 'chat.completion';
  if (typeof reply.id !== 'string') delete reply.id;
  if (!isTime(reply.created)) reply.created = facts.created;
  reply.model = facts.model;
  reply.provider = facts.provider;
  const choices: unknown = reply.choices;
  reply.choices = (Array.isArray(choices) ? choices : []).filter(isFields).map((choice, index) => {
    if (!isIndex(choice['index'])) choice['index'] = index;
    choice['message'] = normalizeMessage(choice['message']);
    completeCalls(choice['message'] as ReplyMessage, facts.answer, index);
    choice['finish_reason'] =
      typeof choice['finish_reason'] === 'string' ? finishReason(choice['finish_reason']) : null;
    return choice as unknown as ChatReply['choices'][number];
  });
  const usage = readUsage(reply.usage, doubts);
  if (usage) reply.usage = usage;
  else delete reply.usage;
}

/** Members of a message that are a list or absent: Mistral sends `tool_calls: null`. */
const LISTS = ['tool_calls', 'reasoning_details'] as const;

function normalizeMessage(value: unknown): ReplyMessage {
  const message: Fields = isFields(value) ? value : {};
  if (typeof message['role'] !== 'string') message['role'] = 'assistant';
  const { content } = message;
  takeReasoning(message);
  if (Array.isArray(content)) takeThoughts(message, content);
  const text = contentText(content);
  normalizeToolCalls(message);
  for (const name of LISTS) if (name in message && !Array.isArray(message[name])) delete message[name];
  const callsOnly = text === '' && Array.isArray(message['tool_calls']) && message['tool_calls'].length > 0;
  message['content'] = callsOnly ? null : (text ?? null);
  return message as unknown as ReplyMessage;
}

/** Text of a string or of a list of parts; `undefined` when there is none. Thoughts among the parts are not its text. */
function contentText(content: unknown): string | undefined {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return undefined;
  return content
    .map((part: unknown) =>
      isFields(part) && typeof part['text'] === 'string' && !isThought(part) ? part['text'] : '',
    )
    .join('');
}

const isThought = ({ type }: Fields): boolean => type === 'thinking' || type === 'reasoning';

/**
 * Thoughts among the parts of the content are `reasoning_content`. Sources: Mistral documentation, "Reasoning", parts of
 * the type `thinking`; Databricks documentation, "Query reasoning models", parts of the type `reasoning`; 2026-11-22.
 */
function takeThoughts(message: Fields, parts: readonly unknown[]): void {
  const thoughts = parts
    .filter(isFields)
    .filter(isThought)
    .map(({ thinking, summary, text }) => contentText(thinking ?? summary ?? text) ?? '')
    .join('');
  if (thoughts === '') return;
  const { reasoning_content: known } = message;
  message['reasoning_content'] = typeof known === 'string' ? known + thoughts : thoughts;
}

/** `reasoning` is accepted as another name of `reasoning_content`; only the latter goes on, as text. True on any change. */
function takeReasoning(message: Fields): boolean {
  const { reasoning, reasoning_content: given } = message;
  let isChanged = false;
  if (given !== undefined && given !== null && typeof given !== 'string') {
    const text = contentText(given);
    if (text === undefined) delete message['reasoning_content'];
    else message['reasoning_content'] = text;
    isChanged = true;
  }
  if (!('reasoning' in message)) return isChanged;
  delete message['reasoning'];
  const text = contentText(reasoning);
  if (text !== undefined && !message['reasoning_content']) message['reasoning_content'] = text;
  return true;
}

export interface ChunkFacts {
  readonly model: string;
  /** Unix seconds at which the stream began, one value for all its chunks. */
  readonly created: number;
  /** The client opted out of usage: it is metered, and removed from what goes on. */
  readonly stripUsage: boolean;
  /** A plugin guards the stream: members that it cannot hold back are left out. */
  readonly isGuarded?: boolean;
  /** As in a whole reply. */
  readonly answer?: string | undefined;
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

/** The message of an error frame, or of a choice that failed; `undefined` for anything healthy, `error: null` and `error: {}` included. */
export function errorFrameMessage(frame: unknown): string | undefined {
  if (!isFields(frame)) return undefined;
  const { error, choices } = frame;
  if (typeof error === 'string' && error !== '') return error;
  const [first]: readonly unknown[] = Array.isArray(choices) ? choices : [];
  return messageOf(error) ?? (isFields(first) ? messageOf(first['error']) : undefined); // OpenRouter says there what broke an answer off
}

const messageOf = (error: unknown): string | undefined =>
  isFields(error) && typeof error['message'] === 'string' && error['message'] !== '' ? error['message'] : undefined;

/** Whether a decoded frame is a chunk at all; upstreams also send pings and the like. */
export function isChunk(frame: unknown): frame is ChatChunk {
  return isFields(frame) && ('choices' in frame || 'usage' in frame);
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
  readonly #usage: ChunkUsage;
  readonly #roles = new Set<number>();
  /** Why each choice ended. */
  readonly #ends = new Map<number, string>();
  readonly #calls: CallNumbers;
  #id: string | undefined;

  constructor(facts: ChunkFacts) {
    this.#facts = facts;
    this.#usage = new ChunkUsage(facts.stripUsage);
    this.#calls = new CallNumbers(() => {
      this.version += 1;
    }, facts.answer);
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
    if (this.#facts.isGuarded) keepOnly(chunk, GUARDED_CHUNK);
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
    if (this.#facts.isGuarded) {
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
    if (finish !== null) this.#ends.set(choice.index, finish);
    return this.#delta(choice.delta, choice.index) || isChanged;
  }

  /** `role` exactly once per choice, on its first chunk; text as text. */
  #delta(delta: ChunkDelta, index: number): boolean {
    let isChanged = takeReasoning(delta);
    if (normalizeToolCalls(delta)) isChanged = true;
    if (delta.tool_calls && this.#calls.number(delta.tool_calls, index)) isChanged = true;
    const { reasoning_details: details } = delta as Fields;
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
}
