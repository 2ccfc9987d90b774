import { plugin, provider, strategy } from './bad-module.ts';

/** A module that fails while it serves: who reaches it, what the client gets, and the log line that must name it. */
export interface BadCall {
  readonly file: string;
  readonly does: string;
  readonly source: string;
  /** What the one request that reaches the fault asks. */
  readonly ask: { readonly model?: string; readonly stream?: boolean };
  /** Status, and the code of the error or the target that answers. */
  readonly gets: readonly [status: number, codeOrTarget: string];
  /** Members of the line, and what its `error` must hold. `function` names the module's; without any, no line may name the module. */
  readonly line?: { readonly msg: string; readonly function: string; readonly error: string; readonly at?: false };
}

const BEFORE = 'before_request';
const nameOf = (file: string): string => /\/([\w-]+)(\/index)?\.ts$/.exec(file)?.[1] ?? '';

/** A plugin whose handler does this for the requests of one user, and nothing for others. */
function handler(
  does: string,
  body: string,
  {
    stage = BEFORE,
    line,
    gets = [500, 'plugin_error'],
    ask = {},
    name = does.replaceAll(/[^a-z]+/gi, '-').toLowerCase(),
  }: Partial<Omit<BadCall, 'line'>> & {
    stage?: string;
    name?: string;
    line?: Partial<NonNullable<BadCall['line']>>;
  } = {},
): BadCall {
  const source = plugin(
    name,
    `stages: ['${stage}'], create: (_settings, deps) => ({ async_: undefined, ${stage}(e) { if (e.request.user !== '${name}') return; ${body} } })`.replace(
      'async_: undefined, ',
      '',
    ),
    "import { answer, ERRORS, GatewayError, reject, rewrite, SURFACE_NAMES, SURFACES, STAGES } from 'gw/contract';\n",
  );
  return {
    file: `plugins/${name}.ts`,
    does,
    source,
    ask,
    gets,
    ...(line && { line: { msg: 'plugin failed', function: stage, error: '', ...line } }),
  };
}

/** A plugin with a guard for the streams of one user. */
function guard(
  does: string,
  made: string,
  error: string,
  functionName = 'its stream guard',
  msg = 'plugin failed on a stream',
): BadCall {
  const name = does.replaceAll(/[^a-z]+/gi, '-').toLowerCase();
  const source = plugin(
    name,
    `stages: ['after_request'], create: () => ({ after_request() {}, stream(e) { if (e.request.user !== '${name}') return undefined; return ${made}; } })`,
  );
  return {
    file: `plugins/${name}.ts`,
    does,
    source,
    ask: { stream: true },
    gets: [500, 'plugin_error'],
    line: { msg, function: functionName, error, ...(/returned/.test(error) && { at: false as const }) },
  };
}

const none = { at: false } as const;

const PLUGINS: readonly BadCall[] = [
  handler('throws an error', "throw new Error('boom');", { line: { error: 'boom' } }),
  handler('throws undefined', 'throw undefined;', { line: { error: 'undefined was thrown', ...none } }),
  handler('throws null', 'throw null;', { line: { error: 'null was thrown', ...none } }),
  handler('throws an object without a prototype', 'throw Object.create(null);', {
    line: { error: 'something without a text was thrown', ...none },
  }),
  handler(
    'throws an error that cannot be read',
    "const error = new Error('x'); for (const name of ['message', 'stack', 'name']) Object.defineProperty(error, name, { get() { throw new Error('odd'); } }); throw error;",
    { line: { error: 'an error without a text', ...none } },
  ),
  handler('throws a frozen error', "throw Object.freeze(new TypeError('cold'));", { line: { error: 'cold' } }),
  handler(
    'throws a proxy that throws',
    "throw new Proxy({}, { getPrototypeOf() { throw new Error('odd'); }, get() { throw new Error('odd'); } });",
    { line: { error: 'something without a text was thrown', ...none } },
  ),
  handler('rejects with a thenable', 'return Promise.reject({ then() {} });', {
    line: { error: '[object Object]', ...none },
  }),
  handler('returns null', 'return null;', { line: { error: 'not a verdict', ...none } }),
  handler('returns a promise of false', 'return Promise.resolve(false);', {
    line: { error: 'not a verdict', ...none },
  }),
  handler('returns a then that throws', "return { get then() { throw new Error('never'); } };", {
    line: { error: 'never' },
  }),
  handler('answers with nothing', 'return answer(undefined);', { line: { error: 'an answer that is none', ...none } }),
  handler('answers with choices that are none', 'return answer({ choices: [{}] });', {
    line: { error: 'an item of choices has no message', ...none },
  }),
  handler('rewrites a request to a text', "return rewrite('x');", {
    line: { error: 'the body is not an object', ...none },
  }),
  handler('rewrites a request to an empty object', 'return rewrite({});', {
    line: { error: 'the body has no model', ...none },
  }),
  handler('rewrites messages to a text', "return rewrite({ ...e.request, messages: 'hi' });", {
    line: { error: 'no messages', ...none },
  }),
  handler(
    'rewrites a request to one that holds itself',
    'const body = { ...e.request }; body.self = body; return rewrite(body);',
    { line: { error: 'self.self', ...none } },
  ),
  handler('rewrites a request to one with a big integer', 'return rewrite({ ...e.request, deep: [{ seed: 10n }] });', {
    line: { error: 'deep[0].seed is a BigInt', ...none },
  }),
  handler(
    'rewrites a request to one with a getter that throws',
    "return rewrite({ ...e.request, get seed() { throw new Error('not yet'); } });",
    { line: { error: 'not yet' } },
  ),
  handler('rewrites a request to one that writes itself', "return rewrite({ ...e.request, toJSON: () => 'mine' });", {
    line: { error: 'toJSON', ...none },
  }),
  handler(
    'rewrites a request to one too deep',
    'let deep = {}; for (let at = 0; at < 1e5; at += 1) deep = { deep }; return rewrite({ ...e.request, deep });',
    { line: { error: 'deeper than 256', ...none } },
  ),
  handler(
    'rewrites an answer to one that holds itself',
    'const body = { ...e.reply }; body.self = body; return rewrite(body);',
    { stage: 'after_request', line: { error: 'deeper than 256', ...none } },
  ),
  handler(
    'answers with a big integer',
    "return answer({ choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }], n: 1n });",
    { line: { error: 'n is a BigInt', ...none } },
  ),
  handler('rewrites an answer to a text', "return rewrite('x');", {
    stage: 'after_request',
    line: { error: 'the body is not an object', ...none },
  }),
  handler('rewrites an answer to an empty object', 'return rewrite({});', {
    stage: 'after_request',
    line: { error: 'no list of choices', ...none },
  }),
  handler('answers with nothing after the request', 'return answer(undefined);', {
    stage: 'after_request',
    line: { error: 'an answer that is none', ...none },
  }),
  handler('writes to the exchange', "e.model = 'other';", { line: { error: 'only a getter' } }),
  handler('changes the request in place', "e.request.messages[0].content = 'other';", { line: { error: 'read only' } }),
  handler('changes the answer in place', "e.reply.choices[0].message.content = 'other';", {
    stage: 'after_request',
    line: { error: 'read only' },
  }),
  handler('sets the length of the answer', "e.setHeader('Content-Length', '1');", {
    line: { error: 'the header "content-length" belongs to the connection' },
  }),
  handler('sets a header of the gateway', "e.setHeader('X-Gateway-Target', 'mine');", {
    line: { error: 'belongs to the gateway' },
  }),
  handler('sets a header name that is not legal', "e.setHeader('a b', '1');", { line: { error: 'is not legal' } }),
  handler('sets a header to a number', "e.setHeader('x-count', 1);", { line: { error: 'is not a text' } }),
  handler('changes the table of errors', 'ERRORS.plugin_error.status = 200;', { line: { error: 'read only' } }),
  handler('changes the surfaces', 'SURFACES.chat.isChat = false;', { line: { error: 'read only' } }),
  handler('adds to the list of surfaces', "SURFACE_NAMES.push('mine');", { line: { error: 'not extensible' } }),
  handler('adds to the list of stages', "STAGES.push('mine');", { line: { error: 'not extensible' } }),
  handler('replaces a method of errors', 'GatewayError.prototype.toEnvelope = () => ({});', {
    line: { error: 'read only' },
  }),
  handler('ends the process', 'process.exit(0);', { line: { error: 'process.exit(0) was called' } }),
  handler(
    'looks for the credential of the client',
    "if ('clientHeaders' in e || e.request.authorization) throw new Error('found');",
    { gets: [200, 'echo'] },
  ),
  handler('rejects with an object for a reason', 'return reject({ why: 1 });', { gets: [400, 'request_rejected'] }),
  handler('fails at on error', "throw new Error('second');", {
    stage: 'on_error',
    ask: { model: 'not-served' },
    gets: [404, 'model_not_found'],
    line: { msg: 'plugin failed, the request goes on', error: 'second' },
  }),
  guard('makes a text for a guard', "'guard'", 'not a guard', 'stream', 'plugin failed to guard a stream'),
  guard(
    'makes a promise of a guard',
    'Promise.resolve({})',
    'it is synchronous',
    'stream',
    'plugin failed to guard a stream',
  ),
  guard('lets nothing through by returning nothing', '{ push() {}, end: () => [] }', 'push returned neither'),
  guard('lets a text through', "{ push: () => 'text', end: () => [] }", 'push returned neither'),
  guard('lets through what is not a chunk', '{ push: () => [{}], end: () => [] }', 'push returned neither'),
  guard(
    'lets a big integer through',
    '{ push: (chunk) => [{ ...chunk, n: 1n }], end: () => [] }',
    'push returned a chunk that cannot be written as JSON: n is a BigInt',
  ),
  guard('throws in push', "{ push() { throw new Error('pushed'); }, end: () => [] }", 'pushed'),
].map((row) =>
  row.line?.msg === 'plugin failed to guard a stream' ? { ...row, line: { ...row.line, at: false as const } } : row,
);

const FINISHED: readonly BadCall[] = [
  ['throws at the end of a request', "throw new Error('finished');"],
  ['rejects at the end of a request', "return Promise.reject(new Error('finished late'));"],
].map(([does = '', body = '']) => {
  const name = does.replaceAll(' ', '-');
  const source = plugin(
    name,
    `create: () => ({ before_request() {}, finished(e) { if (e.request.user === '${name}') { ${body} } } })`,
  );
  return {
    file: `plugins/${name}.ts`,
    does,
    source,
    ask: {},
    gets: [200, 'echo'] as const,
    line: { msg: 'plugin failed at the end of a request', function: 'finished', error: 'finished' },
  };
});

/** A provider that is sound but for calls of its own model; `echo` stands behind it. */
function call(
  does: string,
  chat: string,
  functionName: string,
  error: string,
  {
    fields = '',
    connection = '',
    ask = {},
    ...more
  }: { fields?: string; connection?: string; ask?: BadCall['ask']; at?: false } = {},
): BadCall {
  const name = does.replaceAll(/[^a-z]+/gi, '-').toLowerCase();
  const replaced = (text: string): string => text.replaceAll('MINE', `'${name}'`);
  const source = provider(
    name,
    replaced(`translators: { chat: { ...base, ${chat} } }, ${fields}`),
    replaced(`baseUrlEnv: 'BAD_BASE_URL', ${connection}`),
  ).replace('export default', "const base = commonTranslators(['chat'], {}).chat!;\nexport default");
  return {
    file: `providers/${name}/index.ts`,
    does,
    source,
    ask: { model: name, ...ask },
    gets: [200, 'echo'],
    line: { msg: 'provider failed by a fault of its own', function: functionName, error, ...more },
  };
}

const mine = (body: string): string =>
  `toUpstream(r, c) { if (r.model !== MINE) return base.toUpstream(r, c); ${body} }`;
const stream = { ask: { stream: true } } as const;

const PROVIDERS: readonly BadCall[] = [
  call('throws while it translates a request', mine('return { path: r.tools[0].name };'), 'toUpstream', 'undefined'),
  call(
    'translates a request into a promise',
    mine("return Promise.resolve({ path: '/' });"),
    'toUpstream',
    'it is synchronous',
    none,
  ),
  call('names no path', mine('return { body: {} };'), 'toUpstream', 'it returned no path', none),
  call('names a path with blanks', mine("return { path: 'a b' };"), 'toUpstream', 'its path "a b" is not one', none),
  call(
    'sets the length of the request',
    mine("return { path: '/', headers: { 'content-length': '1' } };"),
    'toUpstream',
    'belongs to the connection',
    none,
  ),
  call(
    'makes a body that holds itself',
    mine("const body = {}; body.self = body; return { path: '/', body };"),
    'toUpstream',
    'circular',
    none,
  ),
  call(
    'changes the request of the next target',
    mine("r.messages[0].content = 'changed'; return base.toUpstream(r, c);"),
    'toUpstream',
    'read only',
  ),
  call(
    'throws while it translates an answer',
    'fromUpstream: (reply) => { reply.nothing.here; }',
    'fromUpstream',
    'undefined',
  ),
  call(
    'translates an answer into a promise',
    'fromUpstream: async () => ({})',
    'fromUpstream',
    'it is synchronous',
    none,
  ),
  call('translates an answer into a list', 'fromUpstream: () => []', 'fromUpstream', 'it returned no answer', none),
  call(
    'translates an answer into one with a big integer',
    'fromUpstream: () => ({ choices: [], usage: { n: 1n } })',
    'fromUpstream',
    'usage.n is a BigInt',
    none,
  ),
  call(
    'decodes an event into a chunk that holds itself',
    'openStream: () => () => { const chunk = { choices: [] }; chunk.self = chunk; return [chunk]; }',
    'the decoder of openStream',
    'deeper than 256',
    { ...stream, ...none },
  ),
  call(
    'decodes an event into nothing',
    'openStream: () => () => undefined',
    'the decoder of openStream',
    'no list of chunks',
    { ...stream, ...none },
  ),
  call(
    'throws in its decoder',
    'openStream: () => () => { throw undefined; }',
    'the decoder of openStream',
    'undefined was thrown',
    { ...stream, ...none },
  ),
  call('opens a stream with a text', "openStream: () => 'decoder'", 'openStream', 'it returned no function', {
    ...stream,
    ...none,
  }),
  call(
    'throws while it edits a chunk',
    "editStream: () => () => { throw new TypeError('edited'); }",
    'the function of editStream',
    'edited',
    stream,
  ),
  call('converses by throwing', '', 'converse', 'not a function', {
    fields: 'async converse() { (undefined as any)(); }',
  }),
  call('converses about nothing', '', 'converse', 'it returned no reply', { fields: 'async converse() {}', ...none }),
  call('cannot read its own errors', mine("return { path: '/fails', body: {} };"), 'toFault', 'undefined', {
    fields: 'toFault: (reply) => reply.nothing.here',
  }),
  call('authorises by throwing nothing', '', 'authorize', 'undefined was thrown', {
    connection: 'authorize: (request) => { if (String(request.body).includes(MINE)) throw undefined; return {}; }',
    ...none,
  }),
  call('authorises with a text', '', 'authorize', 'it returned no headers', {
    connection: "authorize: (request) => (String(request.body).includes(MINE) ? 'Bearer x' : {})",
    ...none,
  }),
  call('authorises with a line break', '', 'authorize', 'holds characters', {
    connection: "authorize: async (request) => (String(request.body).includes(MINE) ? { authorization: 'a\\nb' } : {})",
    ...none,
  }),
  call('asks for treatments and throws', '', 'paramsFor', 'undefined', {
    fields: 'paramsFor: (model) => (model === MINE ? model.nothing.here : {})',
  }),
];

const RANKS: readonly (readonly [user: string, does: string, body: string, gets: BadCall['gets'], error?: string])[] = [
  ['rank-throws', 'throws', "throw new Error('unranked')", [500, 'routing_error'], 'unranked'],
  ['rank-nothing', 'returns nothing', 'return undefined', [500, 'routing_error'], 'it returned no list of targets'],
  ['rank-later', 'returns a promise', 'return Promise.resolve(targets)', [500, 'routing_error'], 'it is synchronous'],
  ['rank-in-place', 'sorts the list that it is given', 'return targets.reverse()', [500, 'routing_error'], 'read only'],
  ['rank-copies', 'returns copies', 'return targets.map((target) => ({ ...target, serves: true }))', [200, 'echo']],
  [
    'rank-strangers',
    'invents and repeats targets',
    "return [null, { virtualKey: 'x' }, ...targets, ...targets]",
    [200, 'echo'],
  ],
];

/** One strategy, which fails by the request's user. */
export const STRATEGY = strategy(
  'own',
  `advances: true, create: () => (targets, { user }) => { ${RANKS.map(([user, , body]) => `if (user === '${user}') ${body};`).join(' ')} return targets; }`,
);

const STRATEGIES: readonly BadCall[] = RANKS.map(([user, does, , gets, error]) => ({
  file: 'strategies/own.ts',
  does: `ranks: ${does}`,
  source: STRATEGY,
  ask: { user } as object,
  gets,
  ...(error !== undefined && {
    line: { msg: 'strategy failed', function: 'rank', error, ...(/returned|synchronous/.test(error) && none) },
  }),
}));

/** Each fails for one request; the line names kind, module, function and place, and every other request is served. */
export const WHILE_SERVING: readonly BadCall[] = [...PLUGINS, ...FINISHED, ...PROVIDERS, ...STRATEGIES];

export const moduleOf = ({ file }: BadCall): string => nameOf(file);
