import { Buffer } from 'node:buffer';
import { type Fields, isFields, tryParseJson } from '../../host/contract/index.ts';

const MARK = 'gw1:';
/** The mark in base64: its first three characters fill four, and the fourth begins the next four. */
const MARK_BASE64 = 'Z3cxO';
const MAX_BYTES = 1024 * 1024;
const BASE64 = /^[A-Za-z\d+/]+={0,2}$/;

/** Items of `reasoning_details` as the text that a client of another wire keeps and returns. Source: ingress reference 3.8. */
export function sealEnvelope(items: readonly Fields[]): string {
  return Buffer.from(MARK + JSON.stringify(items), 'utf8').toString('base64');
}

/** The items that such a text holds; `undefined` for any other text, which is an ordinary signature. */
export function openEnvelope(text: unknown): readonly Fields[] | undefined {
  if (typeof text !== 'string' || !text.startsWith(MARK_BASE64) || text.length > (MAX_BYTES / 3) * 4 || text.length % 4 !== 0 || !BASE64.test(text)) return undefined;
  const content = Buffer.from(text, 'base64').toString('utf8');
  if (!content.startsWith(MARK)) return undefined;
  const items = tryParseJson(content.slice(MARK.length));
  return Array.isArray(items) && items.every(isFields) ? items : undefined;
}
