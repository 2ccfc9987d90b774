export type Verb = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** One method of one path, as the document shows it. */
export interface Operation {
  readonly method: Verb;
  /** Parameters as `{id}`. */
  readonly path: string;
  readonly summary: string;
  /** Without a credential, with any, or with one of this scope. */
  readonly scope: 'none' | 'any' | 'read_only' | 'admin';
  readonly status?: number;
  /** Name of the schema of the answer; `undefined` when its body is that of a provider, of another type, or there is none. */
  readonly answer?: string;
  readonly query?: readonly string[];
  readonly body?: 'json' | 'multipart' | 'optional json' | 'patch';
  /** Media type of an answer that has no schema here. */
  readonly type?: string;
  /** Below `/admin/`: statuses of errors beside those that every route and every body may have. */
  readonly errors?: readonly number[];
  /** Its answer carries the version of the configuration, and a write asks for one with `If-Match`. */
  readonly isTagged?: true;
  /** Its answer says where the configuration came from. */
  readonly saysSource?: true;
  /** A page of it says where the next one is. */
  readonly isPaged?: true;
  /** A page of it says how many entries there are. */
  readonly isCounted?: true;
  /** A success beside `status`, with the same answer. */
  readonly otherStatus?: number;
  /** It may also answer with a file of comma-separated values. */
  readonly hasFiles?: true;
  /** Its head says whether there is more than it gives. */
  readonly mayBeCut?: true;
}

type Rest = Omit<Operation, 'method' | 'path' | 'summary' | 'scope'>;

const probe = (path: string, summary: string, rest: Rest): Operation => ({
  method: 'get',
  path,
  summary,
  scope: 'none',
  ...rest,
});
const read = (
  path: string,
  summary: string,
  answer: string,
  query: readonly string[] = [],
  rest: Rest = {},
): Operation => ({ method: 'get', path, summary, scope: 'read_only', answer, query, ...rest });
const write = (method: Verb, path: string, summary: string, rest: Rest = {}): Operation => ({
  method,
  path,
  summary,
  scope: 'admin',
  ...rest,
});
const use = (
  method: Verb,
  path: string,
  summary: string,
  rest: Rest = { body: 'json', type: 'application/json' },
): Operation => ({ method, path, summary, scope: 'any', ...rest });

/** `GET`, `POST` and `DELETE` of a path that goes on to one target. */
function forwarded(path: string, summary: string): Operation[] {
  return [
    use('get', path, summary, { type: 'application/json' }),
    use('post', path, summary, { body: 'optional json', type: 'application/json' }),
    use('delete', path, summary, { type: 'application/json' }),
  ];
}

const PROBES: readonly Operation[] = [
  probe('/livez', 'Whether the process answers', { answer: 'Liveness' }),
  probe('/readyz', 'Whether a configured target can be routed to', { answer: 'Readiness', query: ['ignore'] }),
  probe('/health', 'Providers, their circuits and how many models they have', { answer: 'Health' }),
  probe('/openapi.json', 'This document', { type: 'application/json' }),
  {
    method: 'get',
    path: '/metrics',
    summary: 'Figures in the text exposition format',
    scope: 'read_only',
    type: 'text/plain',
  },
  { method: 'get', path: '/debug/vars', summary: 'Figures of the process', scope: 'admin', type: 'application/json' },
];

const debug = (name: string, summary: string, type: string, query: readonly string[] = []): Operation => ({
  method: 'get',
  path: `/debug/pprof/${name}`,
  summary,
  scope: 'admin',
  type,
  query,
});

/** Mounted with `ENABLE_PPROF`. */
const PROFILES: readonly Operation[] = [
  debug('', 'The profiles there are', 'text/html'),
  debug('cmdline', 'The command line of the process', 'text/plain'),
  debug('cpuprofile', 'Where the CPU time goes, for DevTools', 'application/octet-stream', ['seconds']),
  debug('eventloop', 'How busy and how late the event loop is', 'application/json'),
  debug('heap', 'What is on the heap, for go tool pprof', 'application/octet-stream'),
  debug('profile', 'Where the CPU time goes, for go tool pprof', 'application/octet-stream', ['seconds']),
  debug('symbol', 'Nothing: profiles hold the names of their functions', 'text/plain'),
  { method: 'post', path: '/debug/pprof/symbol', summary: 'Nothing, as for GET', scope: 'admin', type: 'text/plain' },
];

const INFERENCE: readonly Operation[] = [
  use('get', '/v1/models', 'Models that requests may name', { answer: 'Models' }),
  use('get', '/v1/models/{id}', 'One of them', { type: 'application/json' }),
  use('get', '/v1/key', 'What the key that asks may use, and what of its budgets is left', { answer: 'OwnKey' }),
  use('get', '/v1/capabilities', 'What each provider does with the parameters of chat', { answer: 'Capabilities' }),
  use('post', '/v1/chat/completions', 'Chat, whole or as a stream of events'),
  use('post', '/v1/messages', 'Anthropic Messages, whole or as a stream of events'),
  use('post', '/v1/messages/count_tokens', 'What an Anthropic message counts'),
  use('post', '/v1/completions', 'A completion of one prompt'),
  use('post', '/v1/embeddings', 'Embeddings'),
  use('post', '/v1/images/generations', 'Images of a prompt, whole or as a stream of events'),
  use('post', '/v1/images/edits', 'Images that are changed, whole or as a stream of events', {
    body: 'multipart',
    type: 'application/json',
  }),
  use('post', '/v1/audio/speech', 'Speech of a text', { body: 'json', type: 'application/octet-stream' }),
  use('post', '/v1/audio/transcriptions', 'Text of speech, whole or as a stream of events', {
    body: 'multipart',
    type: 'application/json',
  }),
  use('post', '/v1/audio/translations', 'English text of speech', { body: 'multipart', type: 'application/json' }),
  use('post', '/v1/rerank', 'Documents in the order of a query'),
  use('post', '/v1/moderations', 'Whether a text is harmful'),
  ...['/v1beta/models', '/v1/models'].flatMap((models) => [
    use('post', `${models}/{model}:generateContent`, 'Chat in the form of the Gemini API'),
    use(
      'post',
      `${models}/{model}:streamGenerateContent`,
      'The same as a stream: of events with alt=sse, else one list',
    ),
    use('post', `${models}/{model}:countTokens`, 'What a request counts, in the form of the Gemini API'),
    use('post', `${models}/{model}:embedContent`, 'The vector of a text in the form of the Gemini API'),
    use('post', `${models}/{model}:batchEmbedContents`, 'Vectors of several texts in the form of the Gemini API'),
  ]),
  use('get', '/v1beta/models', 'Models and aliases in the form of the Gemini API', {
    type: 'application/json',
    query: ['pageSize', 'pageToken'],
  }),
  use('get', '/v1beta/models/{id}', 'One of them', { type: 'application/json' }),
  use('post', '/mcp', 'A message of the Model Context Protocol: the tools of all tool servers'),
  use('post', '/v1/responses', 'A response, routed by its model'),
  use('post', '/v1/responses/compact', 'A conversation made shorter by its vendor'),
  use('post', '/v1/responses/input_tokens', 'What a response would count'),
  use('post', '/v1/images/variations', 'Images like another one, passed through'),
  use('post', '/v1/ocr', 'The text of a document, passed through'),
  use('get', '/v1/responses/{id}', 'A stored response', { type: 'application/json' }),
  use('delete', '/v1/responses/{id}', 'Deletes a stored response', { type: 'application/json' }),
  use('post', '/v1/responses/{id}/cancel', 'Cancels a response', { type: 'application/json' }),
  use('get', '/v1/responses/{id}/input_items', 'What a response was made from', { type: 'application/json' }),
  ...forwarded('/v1/files', 'Files of the batch target'),
  ...forwarded('/v1/files/{id}', 'A file of the batch target'),
  ...forwarded('/v1/files/{id}/content', 'The content of a file of the batch target'),
  ...forwarded('/v1/batches', 'Batches of the batch target'),
  ...forwarded('/v1/batches/{id}', 'A batch of the batch target'),
  ...forwarded('/v1/batches/{id}/cancel', 'Cancels a batch of the batch target'),
];

const CREDENTIALS: readonly Operation[] = [
  {
    method: 'post',
    path: '/admin/session',
    summary: 'Exchanges a key for a session',
    scope: 'any',
    status: 201,
    answer: 'Session',
    errors: [403, 501],
  },
  { method: 'get', path: '/identity', summary: 'Issuers that people sign in with', scope: 'none', answer: 'Issuers' },
  {
    method: 'post',
    path: '/identity/{name}/start',
    summary: 'Begins to sign in with an issuer',
    scope: 'none',
    body: 'optional json',
    answer: 'BegunSignIn',
    errors: [400, 404, 413, 429, 503],
  },
  {
    method: 'post',
    path: '/identity/{name}/finish',
    summary: 'Makes a session of what the issuer answered',
    scope: 'none',
    body: 'json',
    status: 201,
    answer: 'Session',
    errors: [400, 401, 403, 404, 413, 429, 503],
  },
  read('/admin/identities', 'People and programs of issuers, the last to sign in first', 'Identities', [
    'issuer',
    'blocked',
    'q',
    'limit',
    'offset',
  ]),
  read('/admin/identities/{id}', 'One of them', 'IdentityRecord', [], { errors: [404] }),
  write('post', '/admin/identities/{id}/block', 'Keeps it out', { answer: 'IdentityRecord', errors: [404, 409] }),
  write('post', '/admin/identities/{id}/unblock', 'Lets it in again', { answer: 'IdentityRecord', errors: [404, 409] }),
  {
    method: 'delete',
    path: '/admin/session',
    summary: 'Ends the session that asks',
    scope: 'read_only',
    status: 204,
    errors: [501],
  },
  read('/admin/sessions', 'Sessions, the newest first', 'Sessions', ['limit', 'after'], {
    errors: [501],
    isPaged: true,
  }),
  write('delete', '/admin/sessions', 'Ends all sessions', { answer: 'Revoked', errors: [501] }),
  write('delete', '/admin/sessions/{id}', 'Ends a session', { status: 204, errors: [501] }),
  read('/admin/accounts', 'Accounts and tags, by path', 'Accounts', [
    'path',
    'under',
    'depth',
    'q',
    'origin',
    'limit',
    'offset',
  ]),
  write('post', '/admin/accounts', 'Makes an account or a tag', {
    status: 201,
    answer: 'Account',
    body: 'json',
    errors: [409],
    isTagged: true,
  }),
  read('/admin/accounts/{id}', 'An account or a tag', 'Account', [], { errors: [404], isTagged: true }),
  write('put', '/admin/accounts/{id}', 'Changes an account or a tag', {
    answer: 'Account',
    body: 'json',
    errors: [404, 409, 412],
    isTagged: true,
  }),
  write('delete', '/admin/accounts/{id}', 'Deletes an account or a tag', {
    status: 204,
    errors: [404, 409, 412],
    isTagged: true,
  }),
  ...['accounts', 'keys'].flatMap((what) => [
    write('post', `/admin/${what}/{id}/raises`, 'Gives budgets more room for a time', {
      status: 201,
      answer: 'Raise',
      body: 'json',
      errors: [404],
    }),
    write('delete', `/admin/${what}/{id}/raises/{raise}`, 'Ends a raise', { status: 204, errors: [404] }),
  ]),
  read('/admin/keys', 'Keys, the newest first', 'Keys', ['limit', 'after', 'q', 'ids', 'account'], {
    isPaged: true,
    isCounted: true,
  }),
  write('post', '/admin/keys', 'Makes a key', { status: 201, answer: 'Key', body: 'json' }),
  read(
    '/admin/keys/usage',
    'How much keys were used',
    'KeyUsage',
    ['limit', 'offset', 'sort', 'active', 'since', 'access'],
    {
      errors: [501],
    },
  ),
  read('/admin/keys/{id}', 'A key', 'Key', [], { errors: [404] }),
  write('put', '/admin/keys/{id}', 'Changes a key', { answer: 'Key', body: 'json', errors: [404, 409] }),
  write('delete', '/admin/keys/{id}', 'Deletes a key', { status: 204, errors: [404, 409] }),
  write('post', '/admin/keys/{id}/revoke', 'Ends a key and keeps its record', { answer: 'Status', errors: [404, 409] }),
  write('post', '/admin/keys/adopt', 'Brings keys of another gateway, or compares them', {
    answer: 'Adoption',
    body: 'json',
  }),
  write('post', '/admin/imports', 'Begins an import from another gateway', {
    status: 201,
    answer: 'Import',
    body: 'json',
  }),
  write('delete', '/admin/imports/{id}', 'Takes back what an import brought', {
    answer: 'ImportUndone',
    query: ['force'],
    errors: [404],
  }),
  write('post', '/admin/keys/{id}/end-grace', 'Ends the grace of the value before the last rotation', {
    answer: 'Key',
    errors: [404],
  }),
  write('post', '/admin/keys/{id}/rotate', 'Gives a key a new value', {
    answer: 'Key',
    body: 'optional json',
    errors: [404],
  }),
];

const CONFIGURATION: readonly Operation[] = [
  read('/admin/config', 'The configuration that serves, without its secrets', 'Configuration', [], {
    isTagged: true,
    saysSource: true,
    errors: [501],
  }),
  write('put', '/admin/config', 'Replaces the configuration', {
    answer: 'Status',
    body: 'json',
    isTagged: true,
    errors: [409, 412, 501],
  }),
  write('post', '/admin/config', 'Replaces the configuration', {
    status: 201,
    answer: 'Status',
    body: 'json',
    isTagged: true,
    errors: [409, 412, 501],
  }),
  write('patch', '/admin/config', 'Changes parts of the configuration', {
    answer: 'Patched',
    body: 'patch',
    isTagged: true,
    errors: [409, 412, 501],
  }),
  write('post', '/admin/config/patch', 'Changes parts of the configuration, for browsers', {
    answer: 'Patched',
    body: 'patch',
    isTagged: true,
    errors: [409, 412, 501],
  }),
  write('delete', '/admin/config', 'Goes back to the configuration of the start', {
    answer: 'Status',
    isTagged: true,
    errors: [409, 412, 501],
  }),
  read(
    '/admin/config/source',
    'Where the configuration came from, and what the next start begins with',
    'ConfigurationSource',
    [],
    {
      errors: [501],
    },
  ),
  read('/admin/config/schema', 'The JSON Schema of a configuration', 'JsonSchema', [], { errors: [501] }),
  read(
    '/admin/config/history',
    'Versions of the configuration, the oldest first',
    'ConfigurationHistory',
    ['limit', 'before', 'documents'],
    { errors: [501] },
  ),
  read('/admin/config/history/{version}', 'A version of the configuration', 'ConfigurationVersion', [], {
    errors: [404, 501],
  }),
  write('post', '/admin/config/rollback/{version}', 'Goes back to a version', {
    answer: 'RolledBack',
    isTagged: true,
    errors: [404, 409, 412, 501],
  }),
  write('post', '/admin/config/validate', 'Checks a configuration', { answer: 'Valid', body: 'json', errors: [501] }),
  write('post', '/admin/config/diff', 'What a configuration would change', {
    answer: 'Changes',
    body: 'json',
    errors: [501],
  }),
];

/** Filters of rows of the request log that sums have too. */
const ROW_FILTERS = [
  'status',
  'code',
  'outcome',
  'reason',
  'target',
  'surface',
  'user',
  'address',
  'cache',
  'session_id',
  'price_line',
  'over_from',
  'account',
  'tag',
  'min_duration_ms',
  'min_cost_usd',
] as const;

const OVERVIEW: readonly Operation[] = [
  read(
    '/admin/logs',
    'Rows of the request log, the newest first',
    'Logs',
    [
      'limit',
      'offset',
      'stage',
      'model',
      'provider',
      'api_key_id',
      'credential',
      'group',
      'affinity',
      'since',
      'until',
      'trace_id',
      ...ROW_FILTERS,
      'text',
      'sort',
      'cursor',
    ],
    { errors: [501] },
  ),
  {
    method: 'get',
    path: '/admin/logs/export',
    summary: 'Rows of the request log as a file: CSV, or lines of JSON',
    scope: 'read_only',
    type: 'application/x-ndjson',
    hasFiles: true,
    mayBeCut: true,
    query: [
      'format',
      'max_rows',
      'columns',
      'stage',
      'model',
      'provider',
      'api_key_id',
      'credential',
      'group',
      'affinity',
      'since',
      'until',
      'trace_id',
      ...ROW_FILTERS,
      'text',
    ],
    errors: [501],
  },
  read(
    '/admin/logs/values',
    'What stands in a column of the request log, the most frequent first',
    'LogValues',
    ['field', 'q', 'since', 'until', 'limit'],
    { errors: [501] },
  ),
  read('/admin/logs/denied', 'Addresses whose requests came without a credential that is known', 'DeniedAddresses', [
    'limit',
    'offset',
  ]),
  read('/admin/logs/{trace_id}', 'One request, with all of its rows, and how it was routed', 'LoggedRequest', [], {
    errors: [404, 501],
  }),
  read(
    '/admin/spend',
    'What was spent, by whom and on what: as JSON, CSV or FOCUS',
    'Spend',
    [
      'from',
      'to',
      'by',
      'depth',
      'bucket',
      'timezone',
      'account',
      'key',
      'tag',
      'model',
      'provider',
      'target',
      'credential',
      'surface',
      'line',
      'sort',
      'limit',
      'offset',
      'format',
    ],
    { errors: [501], hasFiles: true },
  ),
  write('post', '/admin/spend', 'Books what was measured elsewhere, or a correction', {
    status: 201,
    otherStatus: 200,
    answer: 'SpendEntered',
    body: 'json',
    errors: [409, 501],
  }),
  write('delete', '/admin/logs', 'Deletes rows of the request log', {
    answer: 'PurgedLogs',
    query: ['before', 'stage', 'model', 'provider'],
    errors: [501],
  }),
  read(
    '/admin/logs/stats',
    'Sums, percentiles and a series of the request log',
    'LogStatistics',
    [
      'limit',
      'buckets',
      'bucket',
      'timezone',
      'stage',
      'model',
      'provider',
      'api_key_id',
      'credential',
      'group',
      'affinity',
      'include',
      'since',
      'until',
      ...ROW_FILTERS,
    ],
    { errors: [501] },
  ),
  read(
    '/admin/audit',
    'The audit trail, the newest first',
    'Audit',
    ['limit', 'offset', 'action', 'actor_id', 'target_id', 'outcome', 'since', 'until', 'include'],
    { errors: [501] },
  ),
  read('/admin/dashboard', 'The gateway in figures', 'Dashboard'),
  read('/admin/health', 'Providers, stores and tool servers', 'DeepHealth'),
  read('/admin/identity', 'Whose tokens count, by the configuration file', 'Identity'),
  read('/admin/plugins', 'Plugins of the configuration', 'Plugins'),
  read('/admin/plugins/catalog', 'Plugins that there are', 'PluginCatalog'),
  read('/admin/plugins/schema', 'What a form of each plugin needs', 'PluginSchemas'),
  read('/admin/plugins/coverage', 'Which plugins read which bodies', 'Coverage'),
  read('/admin/providers', 'Registered providers and their models', 'Providers'),
  read('/admin/providers/catalog', 'Providers that there are', 'ProviderCatalog', ['include'], { errors: [400] }),
  write('post', '/admin/providers/{name}/credentials/{credential}/reset', 'Lets a credential be called again', {
    status: 204,
    errors: [404],
  }),
  {
    method: 'post',
    path: '/admin/explain',
    summary: 'Where a request would go and why',
    scope: 'read_only',
    answer: 'Explanation',
    body: 'json',
  },
  read('/admin/rules', 'What is known of a model, and which rule says it', 'ModelFacts', ['provider', 'model'], {
    errors: [400],
  }),
  read('/admin/explain/{id}', 'How a logged request was routed', 'Explanation', [], { errors: [404, 501] }),
];

/** Every route of the gateway. What is forwarded below `/v1/` without a route of its own is described in `info`. */
export const OPERATIONS: readonly Operation[] = [
  ...PROBES,
  ...PROFILES,
  ...INFERENCE,
  ...CREDENTIALS,
  ...CONFIGURATION,
  ...OVERVIEW,
];
