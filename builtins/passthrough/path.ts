import { GatewayError } from '../../host/contract/index.ts';
import { decoded, DECODES, MAX_PATH, readingsOf } from '../../host/http/paths/path-readings.ts';

/** How often a path may be percent-encoded: honest ones are once, and each time costs a look at all of it. */
const MAX_LEVELS = 16;

const BROKEN = /%(?![\da-f]{2})/i;
/** Dots and slashes as servers of Microsoft's take them beside the standard. They are not escapes of any address that is meant well. */
const MICROSOFT_FORMS = /%u(?:00(?:2e|2f|5c)|ff(?:0e|0f|3c)|20(?:24|44)|22(?:15|16))/i;
const CONTROL = /[\x00-\x1f\x7f]/;

/**
 * The path as upstreams may read it. Refuses one that some server may read as leading elsewhere: it is percent-decoded until nothing decodes any
 * more; at no level may a segment be `.` or `..`, with or without parameters behind it, nor may a broken escape stand beside one that decodes.
 * See docs/passthrough.md#refused-before-anything-is-sent.
 */
export function readablePaths(path: string): readonly string[] {
  if (path.length > MAX_PATH)
    throw new GatewayError('invalid_proxy_path', `the path has ${path.length} bytes, the limit is ${MAX_PATH}`);
  const readings = isAmbiguous(path) ? undefined : readingsOf(path);
  if (!readings)
    throw new GatewayError(
      'invalid_proxy_path',
      'the path holds a segment that leads elsewhere, or an escape that cannot be decoded',
    );
  return [...readings];
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
