/** What a request takes that is sent on: loaded for the first of them. */
export { forwardRequest } from './forward.ts';
export { responseOn } from './tunnel.ts';
