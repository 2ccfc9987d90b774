import type { Leaving, PlaceAsk, SharedPlaces } from '../state/shared-places.ts';
import type { Channel } from './channel.ts';
import { PlaceBook } from './place-book.ts';
import type { PrimaryTeam, Team } from './team.ts';

const TOPIC = { tryAll: 'places.try', wait: 'places.wait', leave: 'places.leave', back: 'places.back' } as const;

type WaitAsk = PlaceAsk & { readonly queueSize: number };
type NumberedAsk = WaitAsk & { readonly number: number };

/** `undefined` where this process is the only one. */
export function placesOf(team: Team): SharedPlaces | undefined {
  if (!team) return undefined;
  return team.role === 'primary' ? new OwnPlaces(team) : new RemotePlaces(team.channel);
}

/** Those of the primary, which keeps the book for all. */
class OwnPlaces implements SharedPlaces {
  readonly #book = new PlaceBook();
  #number = 0;

  constructor(team: PrimaryTeam) {
    const book = this.#book;
    team.on(TOPIC.tryAll, (asks, seat) => book.tryAll(seat, asks as readonly PlaceAsk[]));
    team.on(TOPIC.wait, (ask, seat) => book.wait(seat, ask as NumberedAsk));
    team.on(TOPIC.leave, (value, seat) => {
      const { key, number } = value as { readonly key: string; readonly number: number };
      book.leave(seat, key, number);
    });
    team.on(TOPIC.back, (keys, seat) => book.giveBack(seat, keys as readonly string[]));
    team.onGone((seat) => book.gone(seat));
  }

  async tryAll(asks: readonly PlaceAsk[]): Promise<number | undefined> {
    return this.#book.tryAll(this, asks);
  }

  async wait(ask: WaitAsk, caller: Leaving): Promise<boolean> {
    const number = (this.#number += 1);
    const answer = this.#book.wait(this, { ...ask, number });
    const stop = caller.onCancel(() => this.#book.leave(this, ask.key, number));
    const isHeld = await answer;
    stop();
    return isHeld;
  }

  giveBack(keys: readonly string[]): void {
    this.#book.giveBack(this, keys);
  }
}

/** Those of a worker, which asks the primary. Once that has gone, this process ends what runs, and nothing keeps it from that. */
class RemotePlaces implements SharedPlaces {
  readonly #channel: Channel;
  #number = 0;

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  tryAll(asks: readonly PlaceAsk[]): Promise<number | undefined> {
    return this.#channel.ask<number | undefined>(TOPIC.tryAll, asks).catch(() => undefined);
  }

  async wait(ask: WaitAsk, caller: Leaving): Promise<boolean> {
    const number = (this.#number += 1);
    const left = Promise.withResolvers<'left'>();
    const stop = caller.onCancel(() => {
      this.#channel.tell(TOPIC.leave, { key: ask.key, number });
      left.resolve('left');
    });
    const asked = this.#channel.ask<boolean>(TOPIC.wait, { ...ask, number }).catch(() => true);
    const answer = await Promise.race([asked, left.promise]);
    stop();
    if (answer !== 'left') return answer;
    void asked.then((isHeld) => isHeld && this.giveBack([ask.key])); // it was given while the caller left
    return false;
  }

  giveBack(keys: readonly string[]): void {
    this.#channel.tell(TOPIC.back, keys);
  }
}
