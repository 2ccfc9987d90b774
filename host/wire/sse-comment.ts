/** A line of an event stream that is not an event: clients skip it. The text is printable ASCII. */
export const sseComment = (text: string): string => `: ${text}\n\n`;

/** Says that an answer goes on, on wires whose clients skip comments. See docs/proxies.md#keep-alives. */
export const KEEP_ALIVE = sseComment('keep-alive');
