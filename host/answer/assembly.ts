import { isDeepStrictEqual } from 'node:util';
import {
  type ChatChunk,
  type ChatReply,
  type ChunkDelta,
  memberOf,
  setMember,
  type ToolCall,
  type ToolCallDelta,
  type Usage,
} from '../contract/index.ts';
import { type Fields, isFields } from '../contract/json/fields.ts';
import { unusableReply } from '../upstream/fault.ts';
import type { TextKind } from '../wire/known-frames.ts';

/** A call of a function, or of a custom tool, whose input is a text. */
type AssembledCall = ToolCall & { function: { name?: string; arguments?: string }; custom?: Readonly<Fields> };

/** What stands beside the pieces of an answer, put together, and each member as it came last. */
interface Beside {
  readonly members: Fields;
  readonly last: Fields;
}

interface AssembledChoice {
  content: string | undefined;
  reasoning: string | undefined;
  details: DetailList;
  toolCalls: Map<number | string, AssembledCall>;
  logprobs: Fields | undefined;
  /** Members of deltas that are none of the above: a refusal, an audio transcript. */
  others: Fields;
  /** Members of choices beside their deltas. */
  beside: Beside;
  finish: string | null;
}

/** Characters of one answer that are kept for plugins. Longer than any model's, and short of what hurts. */
const MAX_CHARACTERS = 50 * 1024 * 1024;
/** What a value without characters, such as a number, and what a whole choice count as. */
const VALUE_CHARACTERS = 8;
const CHOICE_CHARACTERS = 64;

/** Members of chunks and of choices that say nothing by themselves; `obfuscation` is filling (OpenAI API reference, "Chat streaming", 2026-11-23). */
const CHUNK_MEMBERS = new Set([
  'id',
  'object',
  'created',
  'model',
  'choices',
  'usage',
  'system_fingerprint',
  'service_tier',
  'obfuscation',
]);
const CHOICE_MEMBERS = new Set(['index', 'delta', 'finish_reason', 'logprobs']);
const OWN_MEMBERS = new Set(['role', 'content', 'reasoning_content', 'reasoning_details', 'tool_calls']);

/** Puts a stream together again, for plugins: what was delivered, as one reply. Throws when it grows beyond all measure. */
export class Assembly {
  readonly #choices = new Map<number, AssembledChoice>();
  readonly #beside: Beside = { members: {}, last: {} };
  #unindexed = 0;
  #characters = 0;

  add(chunk: ChatChunk): void {
    this.#addBeside(this.#beside, chunk, CHUNK_MEMBERS);
    for (const choice of chunk.choices) {
      const { delta, finish_reason: finish, logprobs } = choice;
      const into = this.#choice(choice.index);
      if (typeof delta.content === 'string') this.addText(choice.index, 'content', -1, delta.content);
      if (typeof delta.reasoning_content === 'string')
        this.addText(choice.index, 'reasoning_content', -1, delta.reasoning_content);
      if (Array.isArray(delta.reasoning_details)) this.#addDetails(into, delta.reasoning_details);
      for (const call of delta.tool_calls ?? []) this.#addCall(into, call);
      if (isFields(logprobs)) this.#merge((into.logprobs ??= {}), logprobs);
      this.#addOthers(into, delta);
      this.#addBeside(into.beside, choice, CHOICE_MEMBERS);
      if (finish !== null && finish !== undefined) into.finish = finish;
    }
  }

  /** Adds a piece of text without its chunk. */
  addText(choice: number, kind: TextKind, tool: number, text: string): void {
    this.#count(text.length);
    const into = this.#choice(choice);
    if (kind === 'content') into.content = (into.content ?? '') + text;
    else if (kind === 'reasoning_content') into.reasoning = (into.reasoning ?? '') + text;
    else this.#addCall(into, { index: tool, function: { arguments: text } });
  }

  /** Text of all choices so far: content, reasoning and arguments. */
  text(): string {
    const pieces: string[] = [];
    for (const { content, reasoning, toolCalls } of this.#choices.values()) {
      pieces.push(content ?? '', reasoning ?? '');
      for (const call of toolCalls.values()) pieces.push(call.function.arguments ?? '', textIn(call.custom, 'input'));
    }
    return pieces.join('');
  }

  reply(facts: {
    readonly id: string;
    readonly created: number;
    readonly model: string;
    readonly provider: string;
    readonly usage: Usage | undefined;
  }): ChatReply {
    const { usage, ...head } = facts;
    const choices = [...this.#choices]
      .toSorted(([a], [b]) => a - b)
      .map(([index, choice]) => assembledChoice(index, choice));
    return { ...this.#beside.members, ...head, object: 'chat.completion', choices, ...(usage && { usage }) };
  }

  #count(characters: number): void {
    this.#characters += characters;
    if (this.#characters > MAX_CHARACTERS)
      throw unusableReply(`the answer exceeds the limit of ${MAX_CHARACTERS} characters`);
  }

  #choice(index: number): AssembledChoice {
    let choice = this.#choices.get(index);
    if (!choice) {
      this.#count(CHOICE_CHARACTERS); // so that inventing choices is bounded too
      choice = {
        content: undefined,
        reasoning: undefined,
        details: new DetailList(),
        toolCalls: new Map(),
        logprobs: undefined,
        others: {},
        beside: { members: {}, last: {} },
        finish: null,
      };
      this.#choices.set(index, choice);
    }
    return choice;
  }

  #addOthers(into: AssembledChoice, delta: ChunkDelta): void {
    for (const name of Object.keys(delta))
      if (!OWN_MEMBERS.has(name)) this.#merge(into.others, { [name]: delta[name] });
  }

  /** Many vendors repeat there on every chunk what they found. */
  #addBeside({ members, last }: Beside, fields: Readonly<Fields>, known: ReadonlySet<string>): void {
    for (const name in fields) {
      if (known.has(name)) continue;
      const value = fields[name];
      if (isDeepStrictEqual(memberOf(last, name), value)) continue;
      setMember(last, name, value);
      this.#merge(members, { [name]: value });
    }
  }

  #addDetails(into: AssembledChoice, items: readonly unknown[]): void {
    this.#count(charactersOf(items));
    into.details.add(items);
  }

  #merge(into: Fields, delta: Readonly<Fields>): void {
    this.#count(charactersOf(delta));
    merge(into, delta);
  }

  /** Fragments merge by index; one without an index is a call of its own. */
  #addCall(into: AssembledChoice, delta: ToolCallDelta): void {
    const piece = delta.function?.arguments ?? '';
    this.#count(piece.length + charactersOf(delta.id) + charactersOf(delta.type) + charactersOf(delta.function?.name));
    const key = typeof delta.index === 'number' ? delta.index : `call ${this.#unindexed++}`;
    const known = into.toolCalls.get(key) ?? { function: { arguments: '' } };
    const { index: _index, id, type, function: _called, custom, ...others } = delta;
    if (isFields(custom)) this.#count(charactersOf(custom));
    into.toolCalls.set(key, {
      ...known,
      ...others, // whole with the piece that brings them: what a vendor wants to see again
      ...(isFields(custom) && {
        custom: { ...known.custom, ...custom, input: textIn(known.custom, 'input') + textIn(custom, 'input') },
      }),
      ...(id && { id }),
      ...(type && { type }),
      function: {
        ...known.function,
        ...(delta.function?.name && { name: delta.function.name }),
        arguments: (known.function.arguments ?? '') + piece,
      },
    });
  }
}

const textIn = (fields: Readonly<Fields> | undefined, name: string): string =>
  fields && typeof fields[name] === 'string' ? fields[name] : '';

function assembledChoice(index: number, choice: AssembledChoice): ChatReply['choices'][number] {
  const toolCalls = [...choice.toolCalls.values()];
  const isCallsOnly = !choice.content && toolCalls.length > 0;
  return {
    ...choice.beside.members,
    index,
    message: {
      ...choice.others,
      role: 'assistant',
      content: isCallsOnly ? null : (choice.content ?? null),
      ...(choice.reasoning && { reasoning_content: choice.reasoning }),
      ...(choice.details.items.length > 0 && { reasoning_details: choice.details.items }),
      ...(toolCalls.length > 0 && { tool_calls: toolCalls.map((call) => ({ type: 'function', ...call })) }),
    },
    ...(choice.logprobs && { logprobs: choice.logprobs }),
    finish_reason: choice.finish,
  };
}

/** How much a value counts: the characters of its strings and names, and a few for every value. Frames bound how deep it is. */
function charactersOf(value: unknown): number {
  if (typeof value === 'string') return VALUE_CHARACTERS + value.length;
  let characters = VALUE_CHARACTERS;
  if (Array.isArray(value)) for (const item of value) characters += charactersOf(item);
  else if (isFields(value))
    for (const name of Object.keys(value)) characters += name.length + charactersOf(value[name]);
  return characters;
}

/** Members of an item of `reasoning_details` that say which one it is: a later piece replaces them. */
const IDENTITY = new Set(['index', 'type', 'id', 'format']);

/** The items of one index: several where their kinds differ, as a text and the seal that OpenRouter sends behind it. */
interface SameIndex {
  last: Fields;
  readonly byType: Map<unknown, Fields>;
}

/** `reasoning_details` of a stream: items of a kind merge by `index`, strings are concatenated, other members replaced. */
class DetailList {
  readonly items: Fields[] = [];
  readonly #byIndex = new Map<unknown, SameIndex>();

  add(items: readonly unknown[]): void {
    for (const item of items) {
      if (!isFields(item)) continue;
      const { index, type } = item;
      const same = index === undefined ? undefined : this.#byIndex.get(index);
      const known = same && (type === undefined || same.last['type'] === undefined ? same.last : same.byType.get(type));
      if (known) this.#extend(known, item);
      const own = known ?? this.#append(item);
      if (same) same.byType.set(own['type'], (same.last = own));
      else if (index !== undefined) this.#byIndex.set(index, { last: own, byType: new Map([[type, own]]) });
    }
  }

  #append(fields: Readonly<Fields>): Fields {
    const own = { ...fields };
    this.items.push(own);
    return own;
  }

  #extend(known: Fields, fields: Readonly<Fields>): void {
    for (const [name, value] of Object.entries(fields)) {
      const before = memberOf(known, name);
      setMember(
        known,
        name,
        !IDENTITY.has(name) && typeof value === 'string' && typeof before === 'string' ? before + value : value,
      );
    }
  }
}

/** Adds a delta's member to what came before: strings and lists grow, objects merge, the rest is replaced. */
function merge(into: Fields, delta: Readonly<Fields>): void {
  for (const [name, value] of Object.entries(delta)) {
    const known = memberOf(into, name);
    if (typeof value === 'string' && typeof known === 'string') setMember(into, name, known + value);
    else if (Array.isArray(value) && Array.isArray(known)) for (const item of value) known.push(item);
    else if (isFields(value) && isFields(known)) merge(known, value);
    else if (value !== null || known === undefined)
      setMember(into, name, isFields(value) || Array.isArray(value) ? structuredClone(value) : value);
  }
}
