import { toUpstream } from './request.ts';
import { fromUpstream } from './response.ts';
import { openStream } from './stream.ts';

/** The translation, which is loaded when it is first needed. */
export const chat = { toUpstream, fromUpstream, openStream };
export { converse } from './converse.ts';
export { toFault } from './errors.ts';
export { images } from './images.ts';
