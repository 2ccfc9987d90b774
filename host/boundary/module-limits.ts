/** Longest time that a handler of a plugin may take where nothing shorter bounds the request: as long as clients wait by default. */
export const HANDLER_LIMIT_MS = 600_000;

/** `on_error`, and what follows a stream, run apart from the client; so does what a `finished` leaves pending. See docs/reference/governance.md#order-of-plugins. */
export const DETACHED_LIMIT_MS = 10_000;
