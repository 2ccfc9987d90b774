import { expect } from 'chai';
import { chatReply, replyJson, replyStream, type StubHandler, stubUpstream } from '../kit/index.ts';
import { forLogs, logger, read } from './logs-kit.ts';
import { type AdminHost, as } from './kit.ts';

const HELLO = [{ role: 'user', content: 'hi' }];
/** A path of each wire, and a body for it. */
const WIRES: Readonly<Record<string, readonly [path: string, body: object]>> = {
  chat: ['/v1/chat/completions', { messages: HELLO }],
  completions: ['/v1/completions', { prompt: 'hi' }],
  messages: ['/v1/messages', { messages: HELLO, max_tokens: 9 }],
};
const TEXT = 'the vendor said so';
const failing =
  (status: number): StubHandler =>
  (_seen, response) =>
    replyJson(response, status, { error: { message: TEXT, type: 'x' } });

type Start = Parameters<Parameters<typeof forLogs>[1]>[0];

async function scene(start: Start, handler: StubHandler, more: object = {}, variables = {}): Promise<AdminHost> {
  const upstream = await stubUpstream(handler);
  return start({ targets: [upstream.target('a')], plugins: logger(['after_request', 'on_error']), ...more }, variables);
}

const newest = async (t: AdminHost): Promise<Record<string, unknown>> => (await read(t, '/admin/logs?limit=1')).data[0];

forLogs('ends of requests in rows', (start) => {
  it('are what the client got and what the provider said, on every wire', async () => {
    let status = 500;
    const t = await scene(start, (seen, response) => failing(status)(seen, response));
    for (const [surface, [path, body]] of Object.entries(WIRES))
      for (const [upstream, outcome, reason] of [
        [400, 'client', 'upstream_refused'],
        [401, 'provider', 'upstream_credential'],
        [429, 'provider', 'upstream_rate'],
        [500, 'provider', 'upstream_down'],
      ] as const) {
        status = upstream;
        const what = `${surface} ${upstream}`;
        const answer = await t.post(path, { model: 'm', ...body }, { 'x-session-id': 's', 'user-agent': 'probe/1' });
        const { code = answer.json().error.code, ...row } = await newest(t);
        expect(row, what).to.include({
          trace_id: answer.headers.get('x-request-id'),
          status: answer.status,
          outcome,
          surface,
          session_id: 's',
          address: '127.0.0.1',
          user_agent: 'probe/1',
          streamed: false,
        });
        expect(code, what).to.be.a('string');
        if (row['upstream_status'] === undefined) continue; // its target rests after the failure before
        expect(row, what).to.include({ upstream_status: upstream, upstream_message: TEXT, reason });
      }
  });

  it('tell a provider that cannot be reached from one that broke off', async () => {
    const t = await scene(start, (_seen, response) => void response.socket?.destroy());
    expect((await t.post(...chat())).status).to.equal(502);
    const row = await newest(t);
    expect(row).to.include({ status: 502, outcome: 'provider', code: 'upstream_error' });
    expect(['upstream_down', 'retries_spent']).to.include(row['reason']);
    expect(row).to.not.have.any.keys('upstream_status', 'upstream_message');
  });

  it('are 200 of a stream that failed later, with its code', async () => {
    const t = await scene(start, (_seen, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify(chunk)}\n\n`, () => response.socket?.destroy());
    });
    const answer = await t.post(...chat({ stream: true }));
    expect(answer.status).to.equal(200);
    expect(await newest(t)).to.include({ status: 200, outcome: 'provider', code: 'upstream_error', streamed: true });
  });

  it('are ok of an answer and of a stream, without a reason', async () => {
    const t = await scene(start, (seen, response) =>
      seen.json().stream === true ? replyStream(response, ['a', 'b']) : replyJson(response, 200, chatReply('hello')),
    );
    for (const stream of [false, true]) {
      await t.post(...chat({ stream }));
      const row = await newest(t);
      expect(row).to.include({ status: 200, outcome: 'ok', streamed: stream, surface: 'chat', upstream_status: 200 });
      expect(row).to.not.have.any.keys('code', 'reason', 'upstream_message', 'method', 'path', 'user', 'metadata');
    }
  });

  it('name the plugin that refused, and the list of the key that hides a model', async () => {
    const filter = {
      name: 'word-filter',
      type: 'guardrail',
      stage: 'before_request',
      enabled: true,
      config: { blocked_words: ['forbidden'] },
    };
    const t = await scene(start, failing(500), {
      plugins: [filter, ...logger(['after_request', 'on_error'])],
    });
    await t.post(...chat({ messages: [{ role: 'user', content: 'forbidden' }] }));
    expect(await newest(t)).to.include({ status: 400, outcome: 'policy', reason: 'plugin:word-filter' });
    const { key, id } = await t.makeKey({ models: ['other'] });
    const hidden = await t.request('POST', PATH, ask({}), as(key));
    expect(hidden.json().error.code).to.equal('model_not_found');
    expect(await newest(t)).to.include({
      status: 404,
      outcome: 'policy',
      code: 'model_not_found',
      reason: 'key_models',
      api_key_id: id,
    });
    const elsewhere = await t.makeKey({ providers: ['other'] });
    await t.request('POST', PATH, ask({}), as(elsewhere.key));
    expect(await newest(t)).to.include({ outcome: 'policy', reason: 'key_providers' });
  });

  it('hold user and metadata as the body ends with, header first, bounded', async () => {
    const t = await scene(start, (_seen, response) => replyJson(response, 200, chatReply('hello')));
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`m${at}`, 'v']));
    await t.post(PATH, ask({ user: 'u-1', metadata: { team: 'body', long: 'x'.repeat(999), count: 3, ...many } }), {
      'x-gateway-metadata': '{"team":"search"}',
    });
    const { user, metadata } = (await newest(t)) as { user: string; metadata: Record<string, string> };
    expect(user).to.equal('u-1');
    expect(Object.keys(metadata)).to.have.length(16);
    expect(metadata).to.include({ team: 'search', long: `${'x'.repeat(255)}…`, m0: 'v' });
    expect(metadata).to.not.have.property('count');
  });

  it('never hold a credential', async () => {
    const secret = `sk-proj-${'a1B2'.repeat(12)}`;
    const t = await scene(start, (_seen, response) =>
      replyJson(response, 400, { error: { message: `bad ${secret}`, code: 'x' } }),
    );
    await t.post(PATH, ask({ user: secret, metadata: { token: secret } }), {
      'user-agent': `probe ${secret}`,
      'x-session-id': secret,
    });
    expect(JSON.stringify(await newest(t))).to.not.contain(secret.slice(8));
  });

  it('are without what REQUEST_LOG_OMIT names', async () => {
    const t = await scene(
      start,
      (_seen, response) => replyJson(response, 200, chatReply('hello')),
      {},
      { REQUEST_LOG_OMIT: 'address, user_agent,user,SESSION,metadata' },
    );
    await t.post(PATH, ask({ user: 'u', metadata: { a: 'b' } }), { 'x-session-id': 's' });
    const row = await newest(t);
    expect(row).to.include({ outcome: 'ok' });
    expect(row).to.not.have.any.keys('address', 'user_agent', 'user', 'session_id', 'metadata');
  });
});

const PATH = '/v1/chat/completions';
const ask = (more: object): object => ({ model: 'm', messages: HELLO, ...more });
const chat = (more: object = {}): [string, object] => [PATH, ask(more)];
const chunk = {
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: { role: 'assistant', content: 'a' }, finish_reason: null }],
};
