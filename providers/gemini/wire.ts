import { toUpstream } from './request.ts';
import { fromUpstream } from './response.ts';
import { openStream } from './stream.ts';

/** The translation, which is loaded when it is first needed. */
export const chat = { toUpstream, fromUpstream, openStream };
export { embeddings } from './embeddings.ts';
export { images } from './images.ts';
export { sameWire } from './same-wire.ts';
