import { GatewayError } from '../../host/contract/index.ts';

/** How often a path may be percent-encoded: honest ones are once, and each time costs a look at all of it. */
const MAX_LEVELS = 16;

const ESCAPE = /%([\da-f]{2})/gi;
const DECODES = /%[\da-f]{2}/i;
const BROKEN = /%(?![\da-f]{2})/i;
/** Dots and slashes in more bytes than UTF-8 allows: lenient decoders read them as such. */
const LONG_FORMS = /(?:\xc0|\xe0\x80|\xf0\x80\x80)([\xae\xaf])/g;
/** Characters that servers which normalise Unicode, or narrow it to one byte, read as dots and slashes: U+FF0E, U+2024, U+FF0F, U+2044, U+2215, U+FF3C, U+2216. */
const WIDE_DOTS = /\xef\xbc\x8e|\xe2\x80\xa4/g;
const WIDE_SLASHES = /\xef\xbc[\x8f\xbc]|\xe2\x81\x84|\xe2\x88[\x95\x96]/g;
/** The same, and plain ones, as servers of Microsoft's take them beside the standard. They are not escapes of any address that is meant well. */
const MICROSOFT_FORMS = /%u(?:00(?:2e|2f|5c)|ff(?:0e|0f|3c)|20(?:24|44)|22(?:15|16))/i;
const CONTROL = /[\x00-\x1f\x7f]/;

/**
 * Refuses a path that some server may read as another one. It is percent-decoded until nothing decodes any more; at no level
 * may a segment be `.` or `..`, with or without parameters behind it, nor may a broken escape stand beside one that decodes.
 * Source: data-plane reference 8.1.
 */
export function checkPath(path: string): void {
  if (isAmbiguous(path)) throw new GatewayError('invalid_proxy_path', 'the path holds a segment that leads elsewhere, or an escape that cannot be decoded');
}

function isAmbiguous(path: string): boolean {
  let level = path;
  for (let levels = 0; levels <= MAX_LEVELS; levels += 1) {
    if (CONTROL.test(level) || MICROSOFT_FORMS.test(level) || level.split(/[/\\]/).some(isDots)) return true;
    if (!DECODES.test(level)) return false;
    if (BROKEN.test(level)) return true;
    level = decoded(level);
  }
  return true;
}

function isDots(segment: string): boolean {
  const name = (/^[^;?#]*/.exec(segment)?.[0] ?? '').trim();
  return name === '.' || name === '..';
}

function decoded(path: string): string {
  const bytes = path.replace(ESCAPE, (_escape, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return bytes.replace(LONG_FORMS, (_long, last: string) => (last === '\xae' ? '.' : '/')).replace(WIDE_DOTS, '.').replace(WIDE_SLASHES, '/');
}

/** The path as an upstream may read it: decoded, with plain slashes, and without parameters and empty segments. Which routes it belongs to is decided by this. */
export function readablePath(path: string): string {
  let level = path;
  for (let levels = 0; levels < MAX_LEVELS && DECODES.test(level); levels += 1) level = decoded(level);
  return level.replace(/[;?#][^/\\]*/g, '').replace(/[/\\]+/g, '/').trimEnd();
}
