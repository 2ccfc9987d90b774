import type { PlaceAsk, PlacesHeld, PlacesTaken, Resource, SharedPlaces } from '../state/shared-places.ts';
import type { Channel } from './channel.ts';
import { OwnPlaces, PlaceBook } from './place-book.ts';
import type { PrimaryTeam, Seat } from './team.ts';

const TOPIC = { take: 'places.take', back: 'places.back', freed: 'places.freed' } as const;

/** Places of all processes, kept by the primary; those that it takes for itself are in the same book. */
export function localPlaces(team: PrimaryTeam, monotonic: () => number): SharedPlaces {
  const own = new OwnPlaces();
  const book = new PlaceBook({
    monotonic,
    freed: (holder, of) => {
      const seat = team.seats.find((each) => each === holder);
      if (seat) seat.channel.tell(TOPIC.freed, of);
      else own.freed(of);
    },
  });
  servePlaces(team, {
    take: async (seat, ask) => book.take(seat, ask),
    giveBack: (seat, place) => book.giveBack(seat, place),
  });
  team.onGone((seat) => book.gone(seat));
  return {
    take: async (ask) => {
      const taken = book.take(own, ask);
      for (const place of taken.held) own.note(place);
      return taken;
    },
    hold: (of) => own.made(of),
    giveBack: (place) => {
      own.forget(place);
      book.giveBack(own, place);
    },
    heldOf: (resource) => own.heldOf(resource),
    onFree: own.onFree,
  };
}

/** Places that replicas hold together on a server: the primary takes them for its workers, and gives back what one held that has ended. */
export function relayPlaces(team: PrimaryTeam, places: SharedPlaces): void {
  const held = new Map<Seat, Map<string, PlacesHeld>>();
  servePlaces(team, {
    take: async (seat, ask) => {
      const taken = await places.take(ask);
      const ofSeat = held.get(seat) ?? new Map<string, PlacesHeld>();
      held.set(seat, ofSeat);
      for (const place of taken?.held ?? [])
        if (team.seats.includes(seat)) ofSeat.set(place.id, place);
        else places.giveBack(place);
      return taken;
    },
    giveBack: (seat, { id }) => {
      const place = held.get(seat)?.get(id);
      held.get(seat)?.delete(id);
      if (place) places.giveBack(place);
    },
  });
  team.onGone((seat) => {
    for (const place of held.get(seat)?.values() ?? []) places.giveBack(place);
    held.delete(seat);
  });
}

interface Serving {
  readonly take: (seat: Seat, ask: PlaceAsk) => Promise<PlacesTaken | undefined>;
  readonly giveBack: (seat: Seat, place: PlacesHeld) => void;
}

function servePlaces(team: PrimaryTeam, { take, giveBack }: Serving): void {
  team.on(TOPIC.take, (ask, seat) => take(seat, ask as PlaceAsk));
  team.on(TOPIC.back, (place, seat) => giveBack(seat, place as PlacesHeld));
}

/** Those of a worker, which asks the primary. */
export function remotePlaces(channel: Channel): SharedPlaces {
  const own = new OwnPlaces();
  channel.on(TOPIC.freed, (of) => own.freed(of as Pick<Resource, 'group' | 'key'>));
  return {
    take: async (ask) => {
      const taken = await channel.ask<PlacesTaken | undefined>(TOPIC.take, ask);
      for (const place of taken?.held ?? []) own.note(place);
      return taken;
    },
    hold: (of) => own.made(of),
    giveBack: (place) => {
      own.forget(place);
      channel.tell(TOPIC.back, place);
    },
    heldOf: (resource) => own.heldOf(resource),
    onFree: own.onFree,
  };
}
