/** `data:<type>[;parameter…],<data>`. Source: RFC 2397. */
const DATA_ADDRESS = /^data:([^,;]*)((?:;[^,;]*)*),/i;
const MAX_HEAD = 1024;
const ELSEWHERE = /^[a-z][a-z\d+.-]*:\/\//i;
const MEDIA = /^\s*(?:image|audio|video)\//i;

/**
 * The text that a file holds: base64, or a data address, of a text. `undefined` for other files,
 * and for an address elsewhere. What does not say that it is text is one when its bytes are:
 * clients give any type, and providers hand a text on as what it is. Guardrails read files by it,
 * because a model does: a text that travels as a file would otherwise pass unseen.
 *
 * @param file base64, or a data address. It may be as long as a body; a file that is not text is
 * refused by its first kilobyte.
 * @param type the media type that stands beside base64; the one in a data address counts before it.
 * @returns the text; of UTF-16 by its mark of byte order.
 */
export function textOfFile(file: string, type?: string): string | undefined {
  if (ELSEWHERE.test(file.slice(0, MAX_HEAD))) return undefined;
  const [head, ownType = '', parameters = ''] = DATA_ADDRESS.exec(file.slice(0, MAX_HEAD)) ?? [];
  const given = head === undefined ? (type ?? '') : ownType;
  if (MEDIA.test(given)) return undefined;
  const data = head === undefined ? file : file.slice(head.length);
  if (head !== undefined && !/;\s*base64\s*$/i.test(parameters)) return percentDecoded(data);
  const isText = /^\s*text\//i.test(given);
  if (isText) return decoded(Buffer.from(data, 'base64'));
  return strictText(data.slice(0, MAX_HEAD)) === undefined ? undefined : strictText(data);
}

/**
 * The text that bytes in base64 are, which may be cut within its last character; `undefined` where
 * they are anything else.
 */
function strictText(base64: string): string | undefined {
  const bytes = Buffer.from(base64, 'base64');
  if (isUtf16(bytes)) return decoded(bytes);
  if (bytes.length === 0 || bytes.includes(0)) return undefined;
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });
  if (text.includes('\ufffd') && !isBeginningOf(bytes, text)) return undefined;
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

/**
 * Whether nothing was replaced in a text. A strict decoder takes far longer to fail, and a body may
 * hold hundreds of thousands of short files.
 */
function isBeginningOf(bytes: Buffer, text: string): boolean {
  const written = Buffer.from(text);
  return written.equals(bytes.subarray(0, written.length));
}

const LITTLE = 0xfffe;
const BIG = 0xfeff;
const markOf = (bytes: Buffer): number => (bytes.length < 2 ? 0 : bytes.readUInt16BE());
const isUtf16 = (bytes: Buffer): boolean => markOf(bytes) === LITTLE || markOf(bytes) === BIG;

/** UTF-16 by its mark, else UTF-8; of UTF-16 without a mark at least the Latin letters. */
function decoded(bytes: Buffer): string {
  const whole = bytes.subarray(2, bytes.length - (bytes.length % 2));
  if (markOf(bytes) === LITTLE) return whole.toString('utf16le');
  if (markOf(bytes) === BIG) return Buffer.from(whole).swap16().toString('utf16le');
  return bytes.toString('utf8').replaceAll('\0', '');
}

/** With escapes that are broken left as they stand, as the receiver may read them. */
function percentDecoded(data: string): string {
  return data.replaceAll(/(?:%[\da-f]{2})+/gi, (escapes) =>
    Buffer.from(escapes.replaceAll('%', ''), 'hex').toString('utf8'),
  );
}
