import type { ChatChunk } from '../contract/index.ts';
import { isFields } from '../contract/json/fields.ts';

/** The message of an error frame, or of a choice that failed; `undefined` for anything healthy, `error: null` and `error: {}` included. */
export function errorFrameMessage(frame: unknown): string | undefined {
  if (!isFields(frame)) return undefined;
  const { error, choices } = frame;
  if (typeof error === 'string' && error !== '') return error;
  const [first]: readonly unknown[] = Array.isArray(choices) ? choices : [];
  return messageOf(error) ?? (isFields(first) ? messageOf(first['error']) : undefined); // OpenRouter says there what broke an answer off
}

const messageOf = (error: unknown): string | undefined =>
  isFields(error) && typeof error['message'] === 'string' && error['message'] !== '' ? error['message'] : undefined;

/** Whether a decoded frame is a chunk at all; upstreams also send pings and the like. */
export function isChunk(frame: unknown): frame is ChatChunk {
  return isFields(frame) && ('choices' in frame || 'usage' in frame);
}
