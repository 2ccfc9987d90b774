export const FACTS = { model: 'routed', created: 1_700_000_123 };

export interface Outcome {
  readonly events: readonly unknown[];
  readonly choices: readonly unknown[];
  readonly usage: unknown;
  readonly failed: boolean;
}

export type Fields = Record<string, any>;

export const FINISH: Record<string, string> = {
  stop: 'stop',
  END_TURN: 'stop',
  max_tokens: 'length',
  tool_use: 'tool_calls',
  SAFETY: 'content_filter',
  pause_turn: 'pause_turn',
};

/** What a relay does, the plain way: every line parsed, corrected and written again, by the rules of docs/reference/data-plane.md#answers. */
export function plainRelay(body: string, stripUsage: boolean): Outcome {
  const plain = new PlainStream(stripUsage);
  for (const line of body.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)) if (!plain.takeLine(line)) break;
  return plain.outcome();
}

class PlainStream {
  readonly #events: Fields[] = [];
  readonly #choices = new Map<number, Fields>();
  readonly #seen = new Set<number>();
  readonly #calls = new Map<number, Fields[]>();
  readonly #stripUsage: boolean;
  #id = '';
  #usage: unknown;
  /** Usage that stood beside text, and in no later chunk. */
  #held: unknown;
  readonly #ended = new Set<number>();
  #isDone = false;
  #isFinished = false;
  #isBroken = false;

  constructor(stripUsage: boolean) {
    this.#stripUsage = stripUsage;
  }

  takeLine(line: string): boolean {
    if (!line.startsWith('data:')) return true;
    const data = line.slice(5).replace(/^ /, '');
    if (data === '[DONE]') {
      this.#isDone = true;
      return false;
    }
    let frame: any;
    try {
      frame = JSON.parse(data);
    } catch {
      return true;
    }
    if (typeof frame !== 'object' || frame === null || Array.isArray(frame)) return true;
    if (
      (typeof frame.error === 'string' && frame.error !== '') ||
      (typeof frame.error?.message === 'string' && frame.error.message !== '')
    ) {
      this.#isBroken = true;
      return false;
    }
    if ('choices' in frame || 'usage' in frame) this.#chunk(frame as Fields);
    return true;
  }

  #chunk({ error: _error, usage, ...frame }: Fields): void {
    this.#id = frame['id'] || this.#id;
    const counted = usage && {
      ...usage,
      total_tokens: usage.total_tokens || usage.prompt_tokens + usage.completion_tokens,
    };
    if (counted && (counted.total_tokens > 0 || counted.prompt_tokens > 0)) this.#usage = counted;
    const choices = (frame['choices'] ?? []) as Fields[];
    const isUsageAlone =
      usage && this.#isFinished && choices.every(({ index, delta }) => this.#ended.has(index) && delta.content === '');
    const isEarly = choices.length > 0 && !this.#isFinished && !choices.some(({ finish_reason: reason }) => reason);
    if (counted) this.#held = isEarly ? counted : undefined;
    this.#events.push({
      ...frame,
      id: this.#id,
      object: frame['object'] || 'chat.completion.chunk',
      created: frame['created'] || FACTS.created,
      model: FACTS.model,
      choices: isUsageAlone ? [] : choices.map((choice) => this.#choice(choice)),
      ...(usage !== undefined && !this.#stripUsage && !isEarly && { usage: counted }),
    });
  }

  #choice(choice: Fields): Fields {
    const { role: _role, reasoning, ...delta } = choice['delta'] as Fields;
    if (typeof reasoning === 'string') delta['reasoning_content'] = reasoning;
    if (Array.isArray(delta['content'])) separate(delta, delta['content']);
    if (delta['tool_calls'])
      delta['tool_calls'] = delta['tool_calls'].map((call: Fields) => this.#numbered(call, choice['index']));
    const finish = choice['finish_reason'] ? (FINISH[choice['finish_reason']] ?? choice['finish_reason']) : null;
    if (finish) {
      this.#isFinished = true;
      this.#ended.add(choice['index']);
    }
    this.#collect(choice['index'], delta, finish);
    if (!this.#seen.has(choice['index'])) delta['role'] = 'assistant';
    this.#seen.add(choice['index']);
    return { ...choice, delta, finish_reason: finish };
  }

  /** Calls by their number: what the upstream said of the call when it began. */
  #numbered({ index, id, type, function: target, ...call }: Fields, choice: number): Fields {
    const calls = this.#calls.get(choice) ?? [];
    this.#calls.set(choice, calls);
    const byId = calls.findIndex((known) => id && known.id === id);
    const byIndex = calls.findLastIndex((known) => index !== undefined && known.index === index);
    const opens =
      byId < 0 &&
      (id ? target.name || byIndex < 0 : index === undefined ? target.name || calls.length === 0 : byIndex < 0);
    if (opens) calls.push({ id, index, name: target.name });
    const number = opens
      ? calls.length - 1
      : [byId, id || index !== undefined ? byIndex : -1, calls.length - 1].find((at) => at >= 0);
    const { name, ...rest } = target;
    const isNew = name && (opens || name !== calls[number as number]?.['name']);
    return {
      ...call,
      index: number,
      ...(id && opens && { id }),
      ...(opens && { type: type ?? 'function' }),
      function: { ...rest, ...(isNew && { name }) },
    };
  }

  #collect(index: number, delta: Fields, finish: string | null): void {
    const all = this.#choices.get(index) ?? { content: null, reasoning: '', calls: new Map(), finish: null };
    this.#choices.set(index, all);
    if (typeof delta['content'] === 'string') all['content'] = (all['content'] ?? '') + delta['content'];
    all['reasoning'] += delta['reasoning_content'] ?? '';
    all['finish'] = finish ?? all['finish'];
    for (const { index: at, function: target, ...call } of delta['tool_calls'] ?? []) {
      const known = all['calls'].get(at) ?? { type: 'function', function: { arguments: '' } };
      const text = known.function.arguments + (target?.arguments ?? '');
      all['calls'].set(at, { ...known, ...call, function: { ...known.function, ...target, arguments: text } });
    }
  }

  outcome(): Outcome {
    const choices = [...this.#choices]
      .toSorted(([a], [b]) => a - b)
      .map(([index, all]) => {
        const calls = [...all['calls'].values()];
        const content = calls.length > 0 && !all['content'] ? null : all['content'];
        return {
          index,
          finish_reason: all['finish'],
          message: {
            role: 'assistant',
            content,
            ...(all['reasoning'] && { reasoning_content: all['reasoning'] }),
            ...(calls.length > 0 && { tool_calls: calls }),
          },
        };
      });
    const failed = this.#isBroken || !(this.#isDone || this.#isFinished);
    const last = { id: this.#id, object: 'chat.completion.chunk', ...FACTS, choices: [], usage: this.#held };
    return {
      events: this.#held && !this.#stripUsage && !failed ? [...this.#events, last] : this.#events,
      choices,
      usage: this.#usage,
      failed,
    };
  }
}

/** Parts of the content: thoughts apart from the text. */
function separate(delta: Fields, parts: readonly Fields[]): void {
  const thoughts = parts
    .flatMap(({ type, thinking }) => (type === 'thinking' ? thinking : []))
    .map(({ text }) => text)
    .join('');
  delta['content'] = parts.map(({ type, text }) => (type === 'text' ? text : '')).join('');
  if (thoughts !== '') delta['reasoning_content'] = (delta['reasoning_content'] ?? '') + thoughts;
}
