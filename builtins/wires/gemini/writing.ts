import { SameStream } from './answer/same-stream.ts';
import { GeminiStream, type StreamFacts } from './answer/stream.ts';
import type { StreamForm } from './stream-form.ts';

/** How answers are written: loaded for the first of them. */
export { writeAnswer } from './answer/answer.ts';

export const openStream = (form: StreamForm, facts: StreamFacts): GeminiStream => new GeminiStream(form, facts);

export const openSameWire = (form: StreamForm): SameStream => new SameStream(form);
