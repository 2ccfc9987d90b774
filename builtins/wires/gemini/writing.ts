import { writeAnswer } from './answer.ts';
import { SameStream } from './same-stream.ts';
import { GeminiStream, type StreamFacts } from './stream.ts';
import type { StreamForm } from './stream-form.ts';

/** How answers are written. */
export const writing = {
  writeAnswer,
  openStream: (form: StreamForm, facts: StreamFacts) => new GeminiStream(form, facts),
  openSameWire: (form: StreamForm) => new SameStream(form),
};
