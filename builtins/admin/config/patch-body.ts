import { invalidRequest } from '../../../host/common/invalid-request.ts';
import { parseJsonBody } from '../../../host/http/body/json-body.ts';
import type { JsonCall } from '../../../host/http/json-route.ts';
import type { Problem } from '../../../host/config/problems.ts';
import { RefusedConfiguration } from './body.ts';
import type { Operation } from '../../../host/config/patch/json-patch.ts';
import { readPointer } from '../../../host/config/patch/json-pointer.ts';
import { isFields, quoted } from '../../../host/contract/index.ts';

const MOST_OPERATIONS = 1000;
/** The members of each operation; what else is written would be ignored, and is refused. */
const MEMBERS = {
  add: ['op', 'path', 'value'],
  replace: ['op', 'path', 'value'],
  test: ['op', 'path', 'value'],
  remove: ['op', 'path'],
  move: ['op', 'from', 'path'],
  copy: ['op', 'from', 'path'],
} as const;
type Name = keyof typeof MEMBERS;

export interface PatchBody {
  readonly operations: readonly Operation[];
}

const JSON_PATCH = 'application/json-patch+json';
const typeOf = ({ request: { headers } }: Pick<JsonCall, 'request'>): string =>
  (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

export const isPatch = (call: Pick<JsonCall, 'request'>): boolean => typeOf(call) === JSON_PATCH;

/** Throws where a patch is sent in the place of a configuration. */
export function refusePatch(call: Pick<JsonCall, 'request'>): void {
  if (isPatch(call)) throw invalidRequest('this is a JSON Patch; send it to /admin/config/patch');
}

/** Throws a 400 that names the operation, and one of its own for what was shown without its secrets. */
export function readPatchOf(call: Pick<JsonCall, 'request' | 'bytes'>): PatchBody {
  if (!isPatch(call) && typeOf(call) !== 'application/json')
    throw invalidRequest(`the content type is ${quoted(typeOf(call))}; use ${JSON_PATCH}`);
  return readPatch(call.bytes);
}

function readPatch(bytes: Buffer): PatchBody {
  const written = listIn(bytes);
  if (written.length === 0 || written.length > MOST_OPERATIONS)
    throw invalidRequest(`a patch has 1 to ${MOST_OPERATIONS} operations, this one has ${written.length}`);
  const operations = written.map((each, at) => readOperation(each, `patch[${at}]`));
  const marked = written.flatMap((each, at) =>
    isFields(each)
      ? Object.keys(each).flatMap((name) => (holdsMarker(each[name]) ? [`patch[${at}].${name}`] : []))
      : [],
  );
  if (marked[0] !== undefined) throw new RefusedConfiguration('redacted_secret', [markerAt(marked[0])]);
  return { operations };
}

function listIn(bytes: Buffer): readonly unknown[] {
  const patch = parseJsonBody(bytes);
  if (Array.isArray(patch)) return patch;
  throw invalidRequest('the body must be a JSON Patch: a list of operations');
}

function readOperation(written: unknown, at: string): Operation {
  if (!isFields(written))
    throw invalidRequest(`${at} must be an operation such as {"op": "remove", "path": "/aliases/fast"}`);
  const op = Object.keys(MEMBERS).find((name): name is Name => name === written['op']);
  if (!op) throw invalidRequest(`${at}.op is ${quoted(written['op'])}; use ${Object.keys(MEMBERS).join(', ')}`);
  const members: readonly string[] = MEMBERS[op];
  const other = Object.keys(written).find((name) => !members.includes(name));
  if (other !== undefined) throw invalidRequest(`${at} has a member ${quoted(other)}, which ${op} does not have`);
  const missing = members.find((name) => !Object.hasOwn(written, name));
  if (missing !== undefined) throw invalidRequest(`${at}.${missing} is missing`);
  const path = pointerIn(written['path'], `${at}.path`);
  if (op === 'move' || op === 'copy') return { op, from: pointerIn(written['from'], `${at}.from`), path };
  return op === 'remove' ? { op, path } : { op, path, value: written['value'] };
}

function pointerIn(value: unknown, at: string): readonly string[] {
  if (typeof value !== 'string') throw invalidRequest(`${at} must be a JSON Pointer such as /plugins/0/config`);
  const names = readPointer(value);
  if (typeof names === 'string') throw invalidRequest(`${at} ${names}`);
  return names;
}

const markerAt = (path: string): Problem => ({
  rule: 'DC06',
  path,
  message: 'it holds a value that was withheld',
  fix: 'leave it where it was, or write the value or ${VAR}',
});

/** How everything begins that takes a secret's place. */
const MARKER = '[REDACTED';

export function holdsMarker(value: unknown): boolean {
  if (typeof value === 'string') return value.includes(MARKER);
  if (Array.isArray(value)) return value.some(holdsMarker);
  return (
    isFields(value) && Object.entries(value).some(([name, member]) => name.includes(MARKER) || holdsMarker(member))
  );
}
