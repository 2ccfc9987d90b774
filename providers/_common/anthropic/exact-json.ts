import { parseExactJson } from 'gw/contract';

/** Parsed JSON whose numbers keep their digits where a JavaScript number would lose some; `undefined` for what is not JSON. */
export function exactJson(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}
