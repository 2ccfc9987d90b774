import type { StreamEvent } from 'gw/contract';
import { relayStream as relay, type RelayedStream as Relayed } from '../../host/testing/relay-stream.ts';
import { isSoak } from './random.ts';

export { callFor, translateReply, unaryReply } from '../../host/testing/relay-stream.ts';

/** The kit's, with chunks that tests look into freely. */
export interface RelayedStream extends Omit<Relayed, 'chunks'> {
  readonly chunks: readonly any[];
}

/** Runs the bytes of an upstream's stream through a provider's decoder and the host's relay, in the given pieces. */
export function relayStream(...asked: Parameters<typeof relay>): RelayedStream {
  return relay(...asked);
}

/** An event stream of these events. */
export function sseBytes(events: readonly (Partial<StreamEvent> | object)[]): Buffer {
  return Buffer.from(
    events
      .map((event) => {
        const { type, data } =
          'data' in event && typeof event.data === 'string'
            ? (event as StreamEvent)
            : { type: '', data: JSON.stringify(event) };
        return `${type ? `event: ${type}\n` : ''}data: ${data}\n\n`;
      })
      .join(''),
  );
}

/** The bytes in two pieces, for every place to cut in the soak, and otherwise for every fifth, counted from the end: where that begins is another place for each text. */
export function* everyCut(bytes: Buffer): Generator<[Buffer, Buffer]> {
  const step = isSoak() ? 1 : 5;
  for (let cut = bytes.length % step; cut <= bytes.length; cut += step)
    yield [bytes.subarray(0, cut), bytes.subarray(cut)];
}
