import { isUtf8 } from 'node:buffer';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import { type OpaqueRequest, parseJson, quoted } from '../../../host/contract/index.ts';
import { memberCount } from '../../../host/wire/repeated-names.ts';
import type { MemberScanner } from './member-scanner.ts';
import type { HeldBody } from '../read-ahead.ts';

/** Largest body that plugins read. See docs/passthrough.md#what-is-changed-on-the-way. */
export const MAX_READABLE = 1024 * 1024;

/** What is known of a body that goes on as it is. */
export interface OpaqueBody {
  readonly request: OpaqueRequest;
  readonly model: string | undefined;
  readonly isUnreadable: boolean;
}

/** Reads what was held of a body. Throws for a model that stands there twice. */
export function readOpaque({ held, rest }: HeldBody, scanner: MemberScanner | undefined): OpaqueBody {
  if (held.length === 0 && !rest) return { request: {}, model: undefined, isUnreadable: false };
  if (!scanner) return { request: {}, model: undefined, isUnreadable: true };
  const parsed = rest || held.length > MAX_READABLE ? undefined : parsedBody(held);
  const found = scanner.isMalformed || parsed === 'malformed' ? undefined : scanner.found.get('model')?.value;
  const model = typeof found === 'string' && found !== '' ? found : undefined;
  // Fewer than were written when a name stands in one object twice, and then the upstream may read the other one.
  if (typeof parsed !== 'object' || memberCount(parsed.json) !== scanner.members)
    return { request: { ...(model !== undefined && { model }) }, model, isUnreadable: true };
  return { request: { ...(model !== undefined && { model }), json: parsed.json }, model, isUnreadable: false };
}

/** Throws for a second member of one of these names: gateway and upstream might read different ones. */
export function refuseRepeated({ repeated }: MemberScanner, names: readonly string[]): void {
  const name = names.find((each) => repeated.has(each));
  if (name !== undefined) throw invalidRequest(`the body holds ${quoted(name)} twice`);
}

/** What else of a body of `/v1/responses` plugins see. */
export function responseFields({ found, misspelt, isMalformed }: MemberScanner): Partial<OpaqueRequest> {
  if (isMalformed) return {};
  if (misspelt !== undefined) throw invalidRequest(`${quoted(misspelt)} is written ${quoted(misspelt.toLowerCase())}`);
  const ceiling = found.get('max_output_tokens');
  const user = found.get('user')?.value;
  if (ceiling && ceiling.value !== null && !Number.isInteger(ceiling.value))
    throw invalidRequest('max_output_tokens must be an integer');
  return {
    ...(typeof ceiling?.value === 'number' && { max_tokens: ceiling.value }),
    ...(typeof user === 'string' && { user }),
  };
}

/** `malformed` for what is not JSON; `undefined` for JSON that is too much to be parsed. */
function parsedBody(bytes: Buffer): { readonly json: unknown } | 'malformed' | undefined {
  if (!isUtf8(bytes)) return 'malformed';
  try {
    return { json: parseJson(bytes.toString('utf8')) };
  } catch (error) {
    return error instanceof RangeError ? undefined : 'malformed';
  }
}
