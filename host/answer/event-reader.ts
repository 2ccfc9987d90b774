import type { ProviderModule } from '../contract/index.ts';
import { FrameReader } from '../upstream/eventstream.ts';
import { RawEventReader } from '../upstream/raw-events.ts';
import { EventReader } from '../upstream/sse.ts';
import type { SameWireStream } from '../wire/client-wire.ts';
import type { ChunkFilter } from './chunk-filter.ts';

/** What decides how a native wire is cut. */
interface Framed {
  readonly framing: NonNullable<ProviderModule['framing']>;
  readonly verbatim?: SameWireStream | undefined;
  readonly filter?: ChunkFilter | undefined;
}

export type StreamReader = EventReader | FrameReader | RawEventReader;

/** Cuts a native wire into events; `undefined` for one of lines, which the relay cuts itself. Guards see every piece of a text by itself. */
export function eventReader({ framing, verbatim, filter }: Framed): StreamReader | undefined {
  if (framing === 'eventstream') return new FrameReader();
  if (framing !== 'sse') return undefined;
  return verbatim ? new RawEventReader(filter ? undefined : verbatim.piece) : new EventReader();
}
