import type { ChatChunk, ChatReply, ToolCall, ToolCallDelta, Usage } from '../contract/index.ts';

interface AssembledChoice {
  content: string | undefined;
  reasoning: string | undefined;
  details: unknown[];
  toolCalls: Map<number | string, ToolCall & { function: { name?: string; arguments?: string } }>;
  logprobs: unknown;
  finish: string | null;
}

/** Which text of a delta a piece belongs to. */
export type TextKind = 'content' | 'reasoning_content' | 'arguments';

/** Puts a stream together again, for plugins, cost and the log: what was delivered, as one reply. */
export class Assembly {
  readonly #choices = new Map<number, AssembledChoice>();
  #unindexed = 0;

  add(chunk: ChatChunk): void {
    for (const choice of chunk.choices) {
      const { delta, finish_reason: finish, logprobs } = choice;
      const into = this.#choice(choice.index);
      if (typeof delta.content === 'string') into.content = (into.content ?? '') + delta.content;
      if (typeof delta.reasoning_content === 'string') into.reasoning = (into.reasoning ?? '') + delta.reasoning_content;
      if (Array.isArray(delta.reasoning_details)) mergeDetails(into.details, delta.reasoning_details);
      for (const call of delta.tool_calls ?? []) this.#addCall(into, call);
      if (logprobs !== undefined && logprobs !== null) into.logprobs = mergeLogprobs(into.logprobs, logprobs);
      if (finish !== null && finish !== undefined) into.finish = finish;
    }
  }

  /** Adds a piece of text without its chunk. */
  addText(choice: number, kind: TextKind, tool: number, text: string): void {
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

  #choice(index: number): AssembledChoice {
    let choice = this.#choices.get(index);
    if (!choice) {
      choice = { content: undefined, reasoning: undefined, details: [], toolCalls: new Map(), logprobs: undefined, finish: null };
      this.#choices.set(index, choice);
    }
    return choice;
  }

  /** Fragments merge by index; one without an index is a call of its own. */
  #addCall(into: AssembledChoice, delta: ToolCallDelta): void {
    const key = typeof delta.index === 'number' ? delta.index : `call ${this.#unindexed++}`;
    const known = into.toolCalls.get(key) ?? { function: { arguments: '' } };
    into.toolCalls.set(key, {
      ...known,
      ...(delta.id && { id: delta.id }),
      ...(delta.type && { type: delta.type }),
      function: {
        ...known.function,
        ...(delta.function?.name && { name: delta.function.name }),
        arguments: (known.function.arguments ?? '') + (delta.function?.arguments ?? ''),
      },
    });
  }
}

function assembledChoice(index: number, choice: AssembledChoice): ChatReply['choices'][number] {
  const toolCalls = [...choice.toolCalls.values()];
  const isCallsOnly = !choice.content && toolCalls.length > 0;
  return {
    index,
    message: {
      role: 'assistant',
      content: isCallsOnly ? null : (choice.content ?? null),
      ...(choice.reasoning && { reasoning_content: choice.reasoning }),
      ...(choice.details.length > 0 && { reasoning_details: choice.details }),
      ...(toolCalls.length > 0 && { tool_calls: toolCalls.map((call) => ({ type: 'function', ...call })) }),
    },
    ...(choice.logprobs !== undefined && { logprobs: choice.logprobs }),
    finish_reason: choice.finish,
  };
}

/** Items of a stream's `reasoning_details` merge by `index`: strings are concatenated, other members replaced. */
function mergeDetails(into: unknown[], items: readonly unknown[]): void {
  for (const item of items) {
    if (typeof item !== 'object' || item === null) continue;
    const fields = item as Readonly<Record<string, unknown>>;
    const known = into.find((other) => fields['index'] !== undefined && (other as Record<string, unknown>)['index'] === fields['index']) as Record<string, unknown> | undefined;
    if (!known) {
      into.push({ ...fields });
      continue;
    }
    for (const [name, value] of Object.entries(fields)) {
      const isText = name !== 'type' && name !== 'id' && name !== 'format' && typeof value === 'string' && typeof known[name] === 'string';
      known[name] = isText ? `${known[name] as string}${value}` : value;
    }
  }
}

function mergeLogprobs(into: unknown, delta: unknown): unknown {
  const merged: Record<string, unknown> = { ...(into as Record<string, unknown> | undefined) };
  for (const [name, value] of Object.entries(delta as Record<string, unknown>)) {
    const known = merged[name];
    merged[name] = Array.isArray(value) && Array.isArray(known) ? [...(known as unknown[]), ...(value as unknown[])] : (value ?? known);
  }
  return merged;
}
