/** The Messages wire, for the two providers that speak it: requests, whole answers, streams and errors. */
export { messagesFault, streamError } from './errors.ts';
export { claudeTraits, type ClaudeTraits } from './models.ts';
export { toMessagesBody, type MessagesBody } from './request.ts';
export { readMessage } from './response.ts';
export { openMessagesStream } from './stream.ts';
export { BEDROCK, DIRECT, type MessagesVariant } from './variant.ts';
