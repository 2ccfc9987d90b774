import { toMessagesBody } from './request.ts';
import { readMessage } from './response.ts';
import { openMessagesStream } from './stream.ts';

/** The translation, which is loaded when it is first needed. */
export const messages = { toMessagesBody, readMessage, openMessagesStream };
