import type { ChatChunk, ChunkChoice, ChunkDelta, ToolCallDelta, Usage } from '../../../host/contract/index.ts';
import type { ClientStream } from '../../../host/wire/client-wire.ts';
import type { LoopStream } from './loop-stream.ts';
import type { OwnedTools } from '../tool-calls.ts';

/**
 * Writes the chunks of one turn: text leaves as it comes until the turn calls a tool. What follows is held until it is known
 * whether the loop goes on, and so is how the turn finished: only the last turn's finish leaves.
 */
export class TurnWriter implements ClientStream {
  readonly contentType: string;
  readonly frames = undefined;
  readonly #stream: LoopStream;
  readonly #held: ChatChunk[] = [];
  readonly #finishes = new Map<number, Pick<ChunkChoice, 'finish_reason'>>();

  constructor(stream: LoopStream) {
    this.#stream = stream;
    this.contentType = stream.encoder.contentType;
  }

  chunk(chunk: ChatChunk): string {
    this.#stream.learn(chunk);
    const { usage: _usage, ...own } = chunk; // the sum of the turns follows the last one
    const choices = own.choices.map((choice) => this.#withoutFinish(choice));
    if (this.#held.length > 0 || choices.some(({ delta }) => delta.tool_calls !== undefined)) {
      this.#held.push({ ...own, choices });
      return '';
    }
    return this.#written({ ...own, choices });
  }

  keepAlive(): string {
    return '';
  }

  end(): string {
    return '';
  }

  error(): string {
    return '';
  }

  /** What is left of the last turn. Where the loop may not go on, calls that the servers would run are taken out: `cut`. */
  rest(cut: OwnedTools | undefined, usage: Usage | undefined): string {
    const isCut = new Set<number>();
    const held = cut ? withoutCalls(this.#held, cut, isCut) : this.#held;
    const text = held.map((chunk) => this.#written(chunk)).join('');
    const finishes = this.#finishes.entries().map(([index, finish]): ChunkChoice => ({
      index,
      delta: {},
      ...finish,
      ...(isCut.has(index) && { finish_reason: 'length' }),
    }));
    const last = [...finishes].map((choice) => this.#stream.encode({ choices: [this.#withRole(choice)] }));
    const sum = usage && this.#stream.encode({ choices: [], usage });
    return `${text}${last.join('')}${sum ?? ''}`;
  }

  #withoutFinish({ finish_reason: finish, ...choice }: ChunkChoice): ChunkChoice {
    if (finish !== undefined && finish !== null) this.#finishes.set(choice.index, { finish_reason: finish });
    return { ...choice, finish_reason: null };
  }

  /** A chunk that says nothing, as the first and the last of a turn do, is left out. */
  #written({ choices, ...chunk }: ChatChunk): string {
    const said = choices.filter(({ delta }) => saysSomething(delta));
    return said.length === 0
      ? ''
      : this.#stream.encode({ ...chunk, choices: said.map((choice) => this.#withRole(choice)) });
  }

  /** Once per choice, whatever turns say it. */
  #withRole({ delta: { role: _role, ...delta }, ...choice }: ChunkChoice): ChunkChoice {
    const isFirst = !this.#stream.roles.has(choice.index);
    this.#stream.roles.add(choice.index);
    return { ...choice, delta: isFirst ? { role: 'assistant', ...delta } : delta };
  }
}

function saysSomething({ role: _role, ...delta }: ChunkDelta): boolean {
  return Object.values(delta).some(
    (value) => value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0),
  );
}

/** Takes the deltas of calls that servers own out of chunks, and notes the choices that had one. Those that stay are numbered anew. */
function withoutCalls(chunks: readonly ChatChunk[], cut: OwnedTools, isCut: Set<number>): ChatChunk[] {
  /** Number of each call that stays, by its choice and its number before; -1 of one that goes. */
  const places = new Map<string, number>();
  const next = new Map<number, number>();
  const placeOf = (choice: number, { index = 0, function: named }: ToolCallDelta): number => {
    const key = `${choice} ${index}`;
    const known = places.get(key);
    if (known !== undefined) return known;
    const isOwned = cut.has(named?.name ?? '');
    const place = isOwned ? -1 : (next.get(choice) ?? 0);
    if (isOwned) isCut.add(choice);
    else next.set(choice, place + 1);
    places.set(key, place);
    return place;
  };
  return chunks.map((chunk) => ({
    ...chunk,
    choices: chunk.choices.map((choice) => {
      const { tool_calls: calls, ...delta } = choice.delta;
      if (!calls) return choice;
      const kept = calls
        .map((call) => ({ ...call, index: placeOf(choice.index, call) }))
        .filter(({ index }) => index >= 0);
      return { ...choice, delta: { ...delta, ...(kept.length > 0 && { tool_calls: kept }) } };
    }),
  }));
}
