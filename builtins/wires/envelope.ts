import { type Fields, isFields, tryParseJson } from '../../host/contract/index.ts';

const MARK = 'gw1:';
/** Bytes of an envelope that is opened. */
const MAX_BYTES = 1024 * 1024;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Reasoning of another vendor, in the form of a signature of the client's own wire: clients return those unchanged. */
export function sealEnvelope(items: readonly Fields[]): string {
  return Buffer.from(`${MARK}${JSON.stringify(items)}`).toString('base64');
}

/** The items that were sealed; `undefined` for anything else, which is then an ordinary signature. Nothing says who wrote them. */
export function openEnvelope(text: string): readonly Fields[] | undefined {
  if (text.length > (MAX_BYTES / 3) * 4 + 4 || text.length % 4 !== 0 || !BASE64.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64').toString('utf8');
  const items = bytes.startsWith(MARK) ? tryParseJson(bytes.slice(MARK.length)) : undefined;
  return Array.isArray(items) && items.every(isFields) ? items : undefined;
}
