import type { Ledger, LedgerBounds, Reservation } from '../../contract/index.ts';
import { WINDOWS } from '../../common/budgets/counted-sum.ts';
import type { CarryoverStore } from '../../generation/carryover.ts';
import type { Ledgers } from '../../stores/ledgers/ledgers.ts';
import {
  LEDGER_TOPIC,
  type RemoteBooking,
  type RemoteGrant,
  type RemoteMove,
  type RemoteOrder,
  type RemoteSettlement,
} from './remote-ledgers.ts';
import type { PrimaryTeam, Seat } from '../team.ts';

/** Sums of which it is remembered which worker booked last; of more, the oldest are forgotten. */
const MOST_BOOKERS = 20_000;

interface LedgerHost {
  readonly carryover: CarryoverStore;
  readonly stores: { readonly ledgers: { readonly value: Ledgers } };
}

/**
 * Reserves and books for workers, in the one ledger there is. What a worker holds when it ends is free again: its calls broke off with it, and what they
 * would have cost is not known.
 */
class ServedLedgers {
  readonly #held = new Map<Seat, Map<number, Reservation>>();
  readonly #bookers = new Map<string, Seat>();
  readonly #host: LedgerHost;
  #number = 0;

  constructor(host: LedgerHost) {
    this.#host = host;
  }

  serve(team: PrimaryTeam): void {
    const { stores } = this.#host;
    stores.ledgers.value.hear?.(WINDOWS, (move) => this.#moved({ ...move, ledger: WINDOWS }));
    team.on(LEDGER_TOPIC.reserve, (value, seat) => this.#reserve(value as RemoteOrder, seat));
    team.on(LEDGER_TOPIC.settle, (value, seat) => this.#settle(value as RemoteSettlement, seat));
    team.on(LEDGER_TOPIC.commit, (value, seat) => {
      const { ledger, bounds, key, amount } = value as RemoteBooking;
      this.#books(ledger, key, seat);
      void this.#use(ledger, bounds, (of) => of.commit(key, amount));
    });
    team.on(LEDGER_TOPIC.correct, (value, seat) => {
      const { ledger, bounds, key, amount } = value as RemoteBooking;
      this.#books(ledger, key, seat);
      void this.#use(ledger, bounds, (of) => of.correct?.(key, amount));
    });
    team.onGone((seat) => {
      for (const reservation of this.#held.get(seat)?.values() ?? []) reservation.release();
      this.#held.delete(seat);
    });
  }

  /** Tells the worker that booked last: it knows what the sum is held against. */
  #moved(move: RemoteMove): void {
    this.#bookers.get(nameOf(move.ledger, move.key))?.channel.tell(LEDGER_TOPIC.moved, move);
  }

  async #reserve({ ledger, bounds, key, order }: RemoteOrder, seat: Seat): Promise<RemoteGrant> {
    const answer = await this.#use(ledger, bounds, (of) => of.reserve(key, order));
    if (!answer.isGranted) return answer;
    const number = (this.#number += 1);
    const held = this.#held.get(seat) ?? new Map<number, Reservation>();
    this.#held.set(seat, held);
    held.set(number, answer);
    this.#books(ledger, key, seat);
    return { isGranted: true, number };
  }

  #settle({ number, amount }: RemoteSettlement, seat: Seat): void {
    const held = this.#held.get(seat);
    const reservation = held?.get(number);
    held?.delete(number);
    if (amount === undefined) reservation?.release();
    else void reservation?.settle(amount);
  }

  /** The ledger of a name is the one that the configuration in force uses, and is forgotten with the last that names it, as in one process. */
  #use<T>(name: string, bounds: LedgerBounds, use: (ledger: Ledger) => T): T {
    const { carryover, stores } = this.#host;
    const view = carryover.open();
    try {
      return use(view.lease<Ledger>(`ledger ${name}`, () => stores.ledgers.value.open(name, bounds)));
    } finally {
      void view.release(); // a ledger has nothing to dispose
    }
  }

  #books(ledger: string, key: string, seat: Seat): void {
    const name = nameOf(ledger, key);
    this.#bookers.delete(name);
    this.#bookers.set(name, seat);
    if (this.#bookers.size <= MOST_BOOKERS) return;
    const [oldest] = this.#bookers.keys();
    if (oldest !== undefined) this.#bookers.delete(oldest);
  }
}

const nameOf = (ledger: string, key: string): string => `${ledger}\0${key}`;

/** Answers what workers ask of the ledgers. */
export const serveLedgers = (host: LedgerHost, team: PrimaryTeam): void => new ServedLedgers(host).serve(team);
