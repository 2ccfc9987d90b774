import { converse } from './converse.ts';
import { toFault } from './errors.ts';
import { toUpstream } from './request.ts';
import { fromUpstream } from './response.ts';
import { openStream } from './stream.ts';

/** The translation, which is loaded when it is first needed. */
export const chat = { toUpstream, fromUpstream, openStream };
export const calls = { converse, toFault };
export { images } from './images.ts';
