import { type GatewayError, parseJson } from '../contract/index.ts';
import { ANSWER_BOUNDS, isNestedTooDeep, TOO_DEEP } from '../contract/json/json-shape.ts';
import { unusableReply } from '../upstream/fault.ts';
import { MAX_REPLY_BYTES } from '../upstream/limits.ts';
import { textOfBytes } from '../upstream/sse.ts';

export function eventTooLong(): GatewayError {
  return unusableReply(`an event of the stream exceeds the limit of ${MAX_REPLY_BYTES} bytes`);
}

/** Decoders parse what they are given, and skip what they cannot parse. Not every wire's events are JSON: those that are, are objects. */
export function refuseDeep(data: string): void {
  if (/^\s*\{/.test(data) && isNestedTooDeep(data)) throw unusableReply(`an event of the stream is ${TOO_DEEP}`);
}

/** A frame of the common wire; `undefined` for what is not JSON: such frames are skipped. Throws for JSON that is too deep or too large. */
export function parsedFrame(data: string): unknown {
  try {
    return parseJson(textOfBytes(data), ANSWER_BOUNDS);
  } catch (error) {
    if (error instanceof RangeError) throw unusableReply(`a frame of the stream is ${error.message}`, error);
    return undefined;
  }
}
