import type { ChatChunk } from '../contract/index.ts';
import { isFields } from '../contract/json/fields.ts';

/** Whether a decoded frame is a chunk at all; upstreams also send pings and the like. */
export function isChunk(frame: unknown): frame is ChatChunk {
  return isFields(frame) && ('choices' in frame || 'usage' in frame);
}
