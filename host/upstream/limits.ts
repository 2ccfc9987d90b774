/**
 * Largest answer of an upstream: the body of a whole one, and each event of a streamed one, which may hold as much (an
 * image, the result of a server's tool). See docs/resilience.md#bounds-of-a-call for bodies; docs/decisions/0013 for events.
 */
export const MAX_REPLY_BYTES = 50 * 1024 * 1024;
