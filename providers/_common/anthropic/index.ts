/** The Messages wire, for the providers that speak it: requests, whole answers, streams and errors. */
export { claudeParams, isClaude, withClaude } from './beside.ts';
export { BETA_HEADER } from './betas.ts';
export { chatTraitsBeside, CLAUDE_CHATS } from './chat-traits.ts';
export { messagesFault, streamError } from './errors.ts';
export { withLateInTurns } from './late-system.ts';
export { claudeTraits, type ClaudeTraits } from './models.ts';
export { MESSAGES_PARAMS } from './params.ts';
export type { MessagesBody } from './request.ts';
export { clientBetas, messagesSameWire, VERSION_HEADER } from './same-wire.ts';
export { inTags } from './system-tags.ts';
export { openMessagesStream, readMessage, toMessagesBody } from './translation.ts';
export { BEDROCK, DIRECT, FOUNDRY, type MessagesVariant, VERTEX } from './variant.ts';
