import type { Ledger, LedgerBounds, Refusal, Reservation, ReservationOrder } from '../../contract/index.ts';
import { GatewayError } from '../../contract/index.ts';
import { type Ledgers, NOTHING_SPENT, type Spent } from '../../stores/ledgers/ledgers.ts';
import { type HearSums, type SumMove } from '../../stores/ledgers/sum-hearing.ts';
import { type Clock, within } from '../../common/clock.ts';
import type { Channel } from '../channel.ts';

/** What a worker asks a ledger of the primary for. */
export interface RemoteOrder {
  readonly ledger: string;
  readonly bounds: LedgerBounds;
  readonly key: string;
  readonly order: ReservationOrder;
}

/** What is held under a number, until it is settled or released. */
export type RemoteGrant = { readonly isGranted: true; readonly number: number } | Refusal;

export interface RemoteSettlement {
  readonly number: number;
  /** `undefined` gives everything back. */
  readonly amount: number | undefined;
}

export interface RemoteBooking {
  readonly ledger: string;
  readonly bounds: LedgerBounds;
  readonly key: string;
  readonly amount: number;
}

export interface RemoteMove extends SumMove {
  readonly ledger: string;
}

/** Milliseconds that a request waits for what is left of a budget. */
const RESERVE_MS = 2000;

export const LEDGER_TOPIC = {
  reserve: 'ledger.reserve',
  settle: 'ledger.settle',
  commit: 'ledger.commit',
  correct: 'ledger.correct',
  moved: 'ledger.moved',
} as const;

/** The ledgers of the primary: each reservation asks it, so that no two processes can grant the same money. */
export class RemoteLedgers implements Ledgers {
  readonly #channel: Channel;
  readonly #clock: Clock;
  readonly #hearing = new Map<string, HearSums>();

  constructor(channel: Channel, clock: Clock) {
    this.#channel = channel;
    this.#clock = clock;
    channel.on(LEDGER_TOPIC.moved, (value) => {
      const { ledger, ...move } = value as RemoteMove;
      this.#hearing.get(ledger)?.(move);
    });
  }

  open(name: string, bounds: LedgerBounds): Ledger {
    return new RemoteLedger({ channel: this.#channel, clock: this.#clock }, name, bounds);
  }

  /** Who shows what was spent asks the primary, which shows it itself. */
  peek(): Spent {
    return NOTHING_SPENT;
  }

  hear(name: string, hear: HearSums): void {
    this.#hearing.set(name, hear);
  }
}

class RemoteLedger implements Ledger {
  readonly name: string;
  readonly #channel: Channel;
  readonly #clock: Clock;
  readonly #bounds: LedgerBounds;

  constructor(
    { channel, clock }: { readonly channel: Channel; readonly clock: Clock },
    name: string,
    bounds: LedgerBounds,
  ) {
    this.#channel = channel;
    this.#clock = clock;
    this.name = name;
    this.#bounds = bounds;
  }

  async reserve(key: string, order: ReservationOrder): Promise<Reservation | Refusal> {
    const asked: RemoteOrder = { ledger: this.name, bounds: this.#bounds, key, order };
    const asking = this.#channel.ask<RemoteGrant>(LEDGER_TOPIC.reserve, asked);
    let isLate = false;
    void asking.then(
      (late) => isLate && late.isGranted && new RemoteReservation(this.#channel, late.number).release(),
      () => {},
    );
    const answer = await within(asking, RESERVE_MS, this.#clock, 'the primary').catch((cause: unknown) => {
      isLate = true;
      return refuse(cause);
    });
    return answer.isGranted ? new RemoteReservation(this.#channel, answer.number) : answer;
  }

  commit(key: string, amount: number): void {
    this.#channel.tell(LEDGER_TOPIC.commit, this.#booking(key, amount));
  }

  correct(key: string, amount: number): void {
    this.#channel.tell(LEDGER_TOPIC.correct, this.#booking(key, amount));
  }

  #booking(key: string, amount: number): RemoteBooking {
    return { ledger: this.name, bounds: this.#bounds, key, amount };
  }
}

class RemoteReservation implements Reservation {
  readonly isGranted = true;
  readonly #channel: Channel;
  readonly #number: number;
  #isOver = false;

  constructor(channel: Channel, number: number) {
    this.#channel = channel;
    this.#number = number;
  }

  settle(amount: number): void {
    this.#end(amount);
  }

  release(): void {
    this.#end(undefined);
  }

  #end(amount: number | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#channel.tell(LEDGER_TOPIC.settle, { number: this.#number, amount } satisfies RemoteSettlement);
  }
}

function refuse(cause: unknown): never {
  if (cause instanceof GatewayError) throw cause;
  throw new GatewayError('store_unavailable', 'what is left of a budget is not known at the moment', { cause });
}
