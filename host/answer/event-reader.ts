import { FrameReader } from '../upstream/eventstream.ts';
import { RawEventReader } from '../upstream/raw-events.ts';
import { EventReader } from '../upstream/sse.ts';
import type { RelaySource } from './relay-source.ts';

export type StreamReader = EventReader | FrameReader | RawEventReader;

/** Cuts a wire into events; `undefined` for one of lines, which the relay cuts itself. Guards see every piece of a text by itself. */
export function eventReader(source: RelaySource, isGuarded: boolean): StreamReader | undefined {
  if (source.speaks === 'common') return undefined;
  if (source.framing === 'eventstream') return new FrameReader();
  if (source.framing !== 'sse') return undefined;
  if (source.speaks === 'native') return new EventReader();
  return new RawEventReader(isGuarded ? undefined : source.stream.piece);
}
