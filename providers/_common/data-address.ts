import { Buffer } from 'node:buffer';

/** A `data:` address, taken apart. */
export interface DataAddress {
  /** As it is written; empty when none is. */
  readonly mediaType: string;
  readonly isBase64: boolean;
  /** What follows the comma, as it is written. */
  readonly data: string;
}

/** Longest head, up to the comma: a media type and a few parameters. */
const MAX_HEAD = 1024;

export const isDataAddress = (url: string): boolean => /^data:/i.test(url.slice(0, 5));

/** `data:<type>[;parameter…][;base64],<data>`; `undefined` for another address. Source: RFC 2397. */
export function readDataAddress(url: string): DataAddress | undefined {
  const comma = url.slice(0, MAX_HEAD).indexOf(',');
  if (comma < 0 || !isDataAddress(url)) return undefined;
  const [mediaType = '', ...parameters] = url
    .slice('data:'.length, comma)
    .split(';')
    .map((piece) => piece.trim());
  return {
    mediaType,
    isBase64: parameters.some((parameter) => parameter.toLowerCase() === 'base64'),
    data: url.slice(comma + 1),
  };
}

const PERCENT = 0x25;

/** The bytes of a percent-encoded text; as it is where an escape is broken. A plus stays a plus. */
export function percentDecoded(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  if (!bytes.includes(PERCENT)) return bytes;
  const decoded = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes.readUInt8(at);
    if (byte !== PERCENT) {
      length = decoded.writeUInt8(byte, length);
      continue;
    }
    const value = hexByte(bytes, at + 1);
    if (value === undefined) return bytes;
    length = decoded.writeUInt8(value, length);
    at += 2;
  }
  return decoded.subarray(0, length);
}

function hexByte(bytes: Buffer, at: number): number | undefined {
  const [high, low] = [hexDigit(bytes[at]), hexDigit(bytes[at + 1])];
  return high === undefined || low === undefined ? undefined : high * 16 + low;
}

function hexDigit(code: number | undefined): number | undefined {
  if (code === undefined) return undefined;
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined;
}
