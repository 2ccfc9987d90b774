import { type Fields, type Surface, SURFACES } from '../contract/index.ts';

/** Whether a request wants its answer as a stream: by `stream`, of speech by `stream_format`. Forms hold texts. */
export function asksForStream(surface: Surface, { stream, stream_format: format }: Readonly<Fields>): boolean {
  const { isChat, canStream } = SURFACES[surface];
  if (surface === 'audio.speech') return format === 'sse';
  if (isChat) return stream === true;
  return canStream === true && (stream === true || stream === 'true');
}
