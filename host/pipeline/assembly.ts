import type { ChatChunk, ChatReply, ChunkDelta, ToolCall, ToolCallDelta, Usage } from '../contract/index.ts';
import { type Fields, isFields } from '../fields.ts';
import { unusableReply } from '../upstream/fault.ts';

interface AssembledChoice {
  content: string | undefined;
  reasoning: string | undefined;
  details: DetailList;
  toolCalls: Map<number | string, ToolCall & { function: { name?: string; arguments?: string } }>;
  logprobs: Fields | undefined;
  /** Members of deltas that are none of the above: a refusal, an audio transcript. */
  others: Fields;
  finish: string | null;
}

/** Which text of a delta a piece belongs to. */
export type TextKind = 'content' | 'reasoning_content' | 'arguments';

/** Characters of one answer that are kept for plugins. Longer than any model's, and short of what hurts. */
const MAX_CHARACTERS = 50 * 1024 * 1024;

const OWN_MEMBERS = new Set(['role', 'content', 'reasoning_content', 'reasoning_details', 'tool_calls']);

/** Puts a stream together again, for plugins: what was delivered, as one reply. Throws when it grows beyond all measure. */
export class Assembly {
  readonly #choices = new Map<number, AssembledChoice>();
  #unindexed = 0;
  #characters = 0;

  add(chunk: ChatChunk): void {
    for (const choice of chunk.choices) {
      const { delta, finish_reason: finish, logprobs } = choice;
      const into = this.#choice(choice.index);
      if (typeof delta.content === 'string') this.addText(choice.index, 'content', -1, delta.content);
      if (typeof delta.reasoning_content === 'string') this.addText(choice.index, 'reasoning_content', -1, delta.reasoning_content);
      if (Array.isArray(delta.reasoning_details)) into.details.add(delta.reasoning_details);
      for (const call of delta.tool_calls ?? []) this.#addCall(into, call);
      if (typeof logprobs === 'object' && logprobs !== null) merge(into.logprobs ??= {}, logprobs as Fields);
      this.#addOthers(into, delta);
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
      pieces.push(content ?? '', reasoning ?? '', ...toolCalls.values().map((call) => call.function.arguments ?? ''));
    }
    return pieces.join('');
  }

  reply(facts: { readonly id: string; readonly created: number; readonly model: string; readonly provider: string; readonly usage: Usage | undefined }): ChatReply {
    const { usage, ...head } = facts;
    const choices = [...this.#choices].toSorted(([a], [b]) => a - b).map(([index, choice]) => assembledChoice(index, choice));
    return { ...head, object: 'chat.completion', choices, ...(usage && { usage }) };
  }

  #count(characters: number): void {
    this.#characters += characters;
    if (this.#characters > MAX_CHARACTERS) throw unusableReply(`the answer exceeds the limit of ${MAX_CHARACTERS} characters`);
  }

  #choice(index: number): AssembledChoice {
    let choice = this.#choices.get(index);
    if (!choice) {
      this.#count(64); // what an empty choice takes, so that inventing choices is bounded too
      choice = { content: undefined, reasoning: undefined, details: new DetailList(), toolCalls: new Map(), logprobs: undefined, others: {}, finish: null };
      this.#choices.set(index, choice);
    }
    return choice;
  }

  #addOthers(into: AssembledChoice, delta: ChunkDelta): void {
    for (const name of Object.keys(delta)) if (!OWN_MEMBERS.has(name)) merge(into.others, { [name]: delta[name] });
  }

  /** Fragments merge by index; one without an index is a call of its own. */
  #addCall(into: AssembledChoice, delta: ToolCallDelta): void {
    const piece = delta.function?.arguments ?? '';
    this.#count(piece.length + 16);
    const key = typeof delta.index === 'number' ? delta.index : `call ${this.#unindexed++}`;
    const known = into.toolCalls.get(key) ?? { function: { arguments: '' } };
    const { index: _index, id, type, function: _called, ...others } = delta;
    into.toolCalls.set(key, {
      ...known,
      ...others, // whole with the piece that brings them: what a vendor wants to see again
      ...(id && { id }),
      ...(type && { type }),
      function: { ...known.function, ...(delta.function?.name && { name: delta.function.name }), arguments: (known.function.arguments ?? '') + piece },
    });
  }
}

function assembledChoice(index: number, choice: AssembledChoice): ChatReply['choices'][number] {
  const toolCalls = [...choice.toolCalls.values()];
  const isCallsOnly = !choice.content && toolCalls.length > 0;
  return {
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

/** `reasoning_details` of a stream: items merge by `index`, strings are concatenated, other members replaced. */
class DetailList {
  readonly items: Fields[] = [];
  readonly #byIndex = new Map<unknown, Fields>();

  add(items: readonly unknown[]): void {
    for (const item of items) {
      if (typeof item !== 'object' || item === null) continue;
      const fields = item as Readonly<Fields>;
      const { index } = fields;
      const known = index === undefined ? undefined : this.#byIndex.get(index);
      if (known) this.#extend(known, fields);
      else this.#append(fields);
    }
  }

  #append(fields: Readonly<Fields>): void {
    const own = { ...fields };
    this.items.push(own);
    if (own['index'] !== undefined) this.#byIndex.set(own['index'], own);
  }

  #extend(known: Fields, fields: Readonly<Fields>): void {
    for (const [name, value] of Object.entries(fields)) {
      const isName = name === 'type' || name === 'id' || name === 'format';
      known[name] = !isName && typeof value === 'string' && typeof known[name] === 'string' ? `${known[name]}${value}` : value;
    }
  }
}

/** Adds a delta's member to what came before: strings and lists grow, objects merge, the rest is replaced. */
function merge(into: Fields, delta: Readonly<Fields>): void {
  for (const [name, value] of Object.entries(delta)) {
    const known = into[name];
    if (typeof value === 'string' && typeof known === 'string') into[name] = known + value;
    else if (Array.isArray(value) && Array.isArray(known)) for (const item of value) known.push(item);
    else if (isFields(value) && isFields(known)) merge(known, value);
    else if (value !== null || known === undefined) into[name] = isFields(value) || Array.isArray(value) ? structuredClone(value) : value;
  }
}
