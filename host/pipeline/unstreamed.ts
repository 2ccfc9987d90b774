import { type StreamedSurface, SURFACES } from '../contract/index.ts';
import type { LiveExchange } from './live-exchange.ts';
import type { RunningGeneration } from './running-generation.ts';
import { isServed } from './serving.ts';
import type { Target } from './target.ts';

/** What a request asks to be streamed, in the words of its refusal. */
const WORDS: Readonly<Record<StreamedSurface, string>> = {
  images: 'images',
  'images.edits': 'edits of images',
  'audio.transcriptions': 'transcriptions',
  'audio.speech': 'speech',
};

/** Why no target serves a request for events beside chat, where some would serve it whole. `isFit` leaves out those that the caller may not use. */
export function whyUnstreamed(
  { surface, model, streaming, routing: { pinned } }: LiveExchange,
  known: Pick<RunningGeneration, 'models' | 'groups' | 'targets'>,
  isFit: (target: Target) => boolean = () => true,
): string | undefined {
  if (!streaming || !SURFACES[surface].canStream) return undefined;
  const isServedWhole = isServed({ surface, model, streaming: false }, known, isFit, pinned);
  return isServedWhole ? `no target can stream ${WORDS[surface as StreamedSurface]} of this model` : undefined;
}
