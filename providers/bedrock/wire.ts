/** The translation, which is loaded when it is first needed. */
export { chat } from './chat.ts';
export { embeddings } from './embeddings.ts';
export { images } from './images.ts';
export { rerank } from './rerank.ts';
export { converse } from './round-trips.ts';
export { sameWire } from './same-wire.ts';
