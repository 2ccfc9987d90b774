import { CODE, stringEnd } from '../../host/contract/json/json-shape.ts';
import { type JsonObject, parseJsonObject } from '../../host/http/body/json-body.ts';

/** The object that a body begins with; what follows it is ignored. Throws `invalid_request` for anything else. See docs/reference/admin.md#bodies. */
export function firstObject(bytes: Buffer): JsonObject {
  return parseJsonObject(bytes.subarray(0, endOfFirst(bytes)));
}

/** Where the first object ends; the end of the body where none does. Quotation marks and braces are the same byte in UTF-8. */
function endOfFirst(bytes: Buffer): number {
  const text = bytes.toString('latin1');
  if (!/^[ \t\n\r]*\{/.test(text)) return bytes.length;
  let depth = 0;
  for (let at = text.indexOf('{'); at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === CODE.quote) {
      at = stringEnd(text, at);
      if (at < 0) return bytes.length;
    } else if (code === (CODE.left | CODE.brace)) {
      depth += 1;
    } else if (code === (CODE.right | CODE.brace)) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return bytes.length;
}
