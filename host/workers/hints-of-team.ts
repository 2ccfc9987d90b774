import type { Clock } from '../common/clock.ts';
import type { HintKind, HintValue, TeamHints } from '../state/team-hints.ts';
import type { PrimaryTeam, Seat, Team, WorkerTeam } from './team.ts';

const TOPIC = { said: 'hint.said', kept: 'hint.kept' } as const;
/** Things of which the newest word is kept for workers that come later; of more, the oldest are forgotten. */
const MOST_KEPT = 20_000;

interface Hint {
  readonly kind: HintKind;
  readonly id: string;
  readonly value: HintValue;
}

interface Kept extends Hint {
  /** Monotonic milliseconds. */
  readonly at: number;
}

type Heard = (id: string, value: HintValue) => void;

/** Who listens, and what was said last. */
class HintTable {
  readonly #listeners = new Map<string, Set<Heard>>();
  readonly #kept = new Map<string, Kept>();
  readonly #clock: Pick<Clock, 'monotonic'>;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Those that still count, each for what is left of its time. */
  get kept(): readonly Hint[] {
    return this.#kept
      .values()
      .map((kept) => this.#now(kept))
      .filter(({ value }) => value.forMs > 0)
      .toArray();
  }

  keep(hint: Hint): void {
    const name = nameOf(hint.kind, hint.id);
    this.#kept.delete(name);
    if (hint.value.forMs > 0) this.#kept.set(name, { ...hint, at: this.#clock.monotonic() });
    if (this.#kept.size <= MOST_KEPT) return;
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined) this.#kept.delete(oldest);
  }

  tell(hint: Hint): void {
    this.keep(hint);
    for (const name of [nameOf(hint.kind, hint.id), hint.kind])
      for (const heard of this.#listeners.get(name) ?? []) heard(hint.id, hint.value);
  }

  on(kind: HintKind, id: string, heard: (value: HintValue) => void): () => void {
    const known = this.#kept.get(nameOf(kind, id));
    const now = known && this.#now(known);
    if (now && now.value.forMs > 0) heard(now.value);
    return this.#listen(nameOf(kind, id), (_id, value) => heard(value));
  }

  onAny(kind: HintKind, heard: Heard): () => void {
    for (const hint of this.kept) if (hint.kind === kind) heard(hint.id, hint.value);
    return this.#listen(kind, heard);
  }

  #now({ kind, id, value, at }: Kept): Hint {
    return { kind, id, value: { ...value, forMs: value.forMs - (this.#clock.monotonic() - at) } };
  }

  #listen(name: string, heard: Heard): () => void {
    const listeners = this.#listeners.get(name) ?? new Set<Heard>();
    this.#listeners.set(name, listeners);
    listeners.add(heard);
    return () => {
      listeners.delete(heard);
      if (listeners.size === 0) this.#listeners.delete(name);
    };
  }
}

const nameOf = (kind: HintKind, id: string): string => `${kind}\0${id}`;

/** `undefined` where this process is the only one. */
export function hintsOf(team: Team, clock: Pick<Clock, 'monotonic'>): TeamHints | undefined {
  if (!team) return undefined;
  const table = new HintTable(clock);
  return team.role === 'primary' ? primaryHints(team, table) : workerHints(team, table);
}

function primaryHints(team: PrimaryTeam, table: HintTable): TeamHints {
  const spread = (hint: Hint, from?: Seat): void => team.tellAll(TOPIC.said, hint, from);
  team.on(TOPIC.said, (value, seat) => {
    table.tell(value as Hint);
    spread(value as Hint, seat);
  });
  team.on(TOPIC.kept, () => table.kept);
  return {
    send: (kind, id, value) => {
      table.keep({ kind, id, value });
      spread({ kind, id, value });
    },
    on: (kind, id, heard) => table.on(kind, id, heard),
    onAny: (kind, heard) => table.onAny(kind, heard),
  };
}

function workerHints({ channel }: WorkerTeam, table: HintTable): TeamHints {
  channel.on(TOPIC.said, (hint) => table.tell(hint as Hint));
  channel
    .ask<readonly Hint[]>(TOPIC.kept)
    .then((kept) => {
      for (const hint of kept) table.tell(hint);
    })
    .catch(() => {}); // the primary has gone, which ends this process
  return {
    send: (kind, id, value) => channel.tell(TOPIC.said, { kind, id, value } satisfies Hint),
    on: (kind, id, heard) => table.on(kind, id, heard),
    onAny: (kind, heard) => table.onAny(kind, heard),
  };
}
