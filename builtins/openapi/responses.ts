import type { Operation } from './operations.ts';

const text = (description: string): object => ({ description, schema: { type: 'string' } });
const header = (name: string): object => ({ $ref: `#/components/headers/${name}` });
const described = (name: string): object => ({ $ref: `#/components/responses/${name}` });

/** Headers that answers may have beside those of every HTTP answer, by the names under which responses refer to them. */
export const HEADERS: Readonly<Record<string, object>> = {
  RequestId: text('Id of the request, as it stands in the log'),
  CacheControl: { ...text('No answer may be kept'), schema: { const: 'no-store' } },
  ETag: text('Version, for If-Match'),
  ConfigSource: { ...text('Where it came from'), schema: { enum: ['store', 'file', 'defaults'] } },
  RetryAfter: { description: 'Seconds after which it may be tried again', schema: { type: 'integer', minimum: 1 } },
  Challenge: { ...text('Which credential is wanted'), schema: { const: 'Bearer' } },
  Allow: text('Methods of the path'),
  Disposition: text('The name to keep a file under; absent from JSON'),
  Truncated: { description: 'Whether there are more rows than were asked for', schema: { enum: ['true', 'false'] } },
  Link: text('Where the next page is, with rel="next"; absent on the last one, and where the answer is the whole list'),
  TotalCount: {
    description: 'Entries that the filters leave, whatever the page; absent where the answer is the whole list',
    schema: { type: 'integer', minimum: 0 },
  },
};

const ALWAYS = { 'X-Request-ID': header('RequestId') };
const UNKEPT = { ...ALWAYS, 'Cache-Control': header('CacheControl') };

const error = (description: string, headers: object = {}): object => ({
  description,
  headers: { ...ALWAYS, ...headers },
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
});
const unkept = (description: string, headers: object = {}): object =>
  error(description, { 'Cache-Control': header('CacheControl'), ...headers });
const AGAIN = { 'Retry-After': header('RetryAfter') };

/** What an error of the operations with a credential says, by status; of those below `/admin/` no answer may be kept. */
const ERRORS: Readonly<Record<number, readonly [what: string, headers?: object]>> = {
  400: ['A parameter or the body is wrong: the message says which, and what to write'],
  401: ['No credential, or one that is unknown, revoked or expired', { 'WWW-Authenticate': header('Challenge') }],
  402: ['What the key may spend is spent'],
  403: ['The credential lacks the scope'],
  404: ['There is nothing of this name'],
  405: ['The path has other methods', { Allow: header('Allow') }],
  409: ['It would lock its caller, or everybody, out, or replace the configuration of a newer program'],
  412: ['The configuration is no longer the version that If-Match names'],
  413: ['The body is too large'],
  429: ['Too many requests, or the target is saturated', AGAIN],
  500: ['The gateway, or a plugin, failed'],
  501: ['This deployment does not have what is asked for'],
  502: ['The provider failed, refused the credential of the gateway, or its answer was refused by a plugin', AGAIN],
  503: ['A store or the target does not answer; try again, or look first where the message says so', AGAIN],
  504: ['It took too long', AGAIN],
};

/** Every error there is, once, for operations to refer to: `Error404`, and `AdminError404` below `/admin/`. */
export const RESPONSES: Readonly<Record<string, object>> = Object.fromEntries([
  ...Object.entries(ERRORS).map(([status, [what, headers]]) => [`Error${status}`, error(what, headers)]),
  ...Object.entries(ERRORS).map(([status, [what, headers]]) => [`AdminError${status}`, unkept(what, headers)]),
  ['Error', error('What is wrong, and what to do')],
]);

/** Statuses of every operation with a credential; 400 is also what HTTP itself does not allow, in the path or a header. */
const COMMON = [400, 401, 405, 429, 500, 503];
/** Statuses of operations that a provider answers, and plugins look at. */
const ROUTED = [402, 404, 413, 501, 502, 504];

/** Statuses of the errors of an operation. */
function errorsOf({ path, scope, body, errors = [] }: Operation): readonly number[] {
  if (scope === 'none') return [];
  if (!path.startsWith('/admin/')) return [...COMMON, ...(scope === 'any' ? ROUTED : [403])];
  return [...COMMON, ...(scope === 'any' ? [] : [403]), ...(body ? [413] : []), ...errors];
}

const PROBES: ReadonlySet<string> = new Set(['/health', '/livez', '/readyz']);

/** Every answer of an operation, by status. */
export function responsesOf(operation: Operation): object {
  const {
    status = 200,
    answer,
    type = 'application/json',
    path,
    scope,
    isTagged,
    saysSource,
    isPaged,
    isCounted,
    hasFiles,
    mayBeCut,
    otherStatus,
  } = operation;
  const isAdmin = path.startsWith('/admin/');
  const headers = {
    ...(isAdmin || PROBES.has(path) ? UNKEPT : ALWAYS),
    ...(isTagged && { ETag: header('ETag') }),
    ...(saysSource && { 'X-Gateway-Config-Source': header('ConfigSource') }),
    ...(isPaged && { Link: header('Link') }),
    ...(isCounted && { 'X-Total-Count': header('TotalCount') }),
    ...(hasFiles && { 'Content-Disposition': header('Disposition') }),
    ...(mayBeCut && { 'X-Gateway-Export-Truncated': header('Truncated') }),
  };
  const content = {
    [type]: { schema: answer === undefined ? {} : { $ref: `#/components/schemas/${answer}` } },
    ...(hasFiles && { 'text/csv': { schema: { type: 'string' } } }),
  };
  const probed =
    path === '/readyz' || path === '/health' ? { 503: { description: 'Not ready', headers, content } } : {};
  const errors = [...new Set(errorsOf(operation))].toSorted((a, b) => a - b);
  return {
    [status]: { description: status === 204 ? 'Done' : 'The answer', headers, ...(status !== 204 && { content }) },
    ...(otherStatus !== undefined && { [otherStatus]: { description: 'It was done before', headers, content } }),
    ...probed,
    ...Object.fromEntries(errors.map((error) => [error, described(`${isAdmin ? 'Admin' : ''}Error${error}`)])),
    ...(scope !== 'none' && { default: described('Error') }),
  };
}
