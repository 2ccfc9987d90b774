/** The translation, which is loaded when it is first needed. */
export { toMessagesBody } from './request.ts';
export { readMessage } from './response.ts';
export { openMessagesStream } from './stream.ts';
