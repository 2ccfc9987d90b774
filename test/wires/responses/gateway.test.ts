import { expect } from 'chai';
import { sealEnvelope } from '../../../builtins/wires/envelope.ts';
import {
  type Answer,
  chatReply,
  MASTER_KEY,
  rawClient,
  replyJson,
  replyStream,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../../kit/index.ts';
import { eventsOf, type Json } from './support.ts';

const PATH = '/v1/responses';
const ASK = { model: 'm', input: 'hi' };
const NATIVE = { passthrough: true, responses: 'native' as const };
const FORWARDED = { passthrough: true, responses: true };

/** An upstream that has both APIs, and says which one was asked. */
async function speaking(): Promise<StubUpstream> {
  return stubUpstream((request, response) => {
    if (request.url.endsWith('/responses'))
      replyJson(response, 200, {
        id: 'resp_own',
        object: 'response',
        usage: {
          input_tokens: 10,
          input_tokens_details: { cache_write_tokens: 3, cached_tokens: 1 },
          output_tokens: 5,
          total_tokens: 15,
        },
      });
    else if (request.json()['stream'] === true) replyStream(response, ['he', 'llo']);
    else replyJson(response, 200, chatReply('hello'));
  });
}

async function start(
  config: object,
  module: object = {},
  more: object = {},
): Promise<{ readonly t: TestHost; readonly upstream: StubUpstream }> {
  const upstream = await speaking();
  return {
    upstream,
    t: await startHost({ strategy: { mode: 'single' }, targets: [upstream.target('a', more, module)], ...config }),
  };
}

const AUTO = { responses: { translate: 'auto' } };
const askedPaths = ({ seen }: StubUpstream): readonly string[] => seen.map(({ url }) => url);
const codeOf = (answer: Answer): readonly unknown[] => [answer.status, answer.json().error.code];

describe('where a request of the Responses API goes', () => {
  for (const [what, config, module, more, path] of [
    ['is sent on while nothing is translated', {}, FORWARDED, {}, '/responses'],
    ['is sent on while nothing is translated, also to a vendor of it', {}, NATIVE, {}, '/responses'],
    ['is sent on to its own vendor', AUTO, NATIVE, {}, '/responses'],
    ['is translated for any other', AUTO, FORWARDED, {}, '/chat/completions'],
    ['is translated for a provider that takes no requests of others', AUTO, {}, {}, '/chat/completions'],
    ['is translated where its target says so', {}, NATIVE, { responses: 'translate' }, '/chat/completions'],
    ['is sent on where its target says so', AUTO, FORWARDED, { responses: 'native' }, '/responses'],
  ] as const)
    it(what, async () => {
      const { t, upstream } = await start(config, module, more);
      const answer = await t.post(PATH, ASK);
      expect(answer.status, answer.text).to.equal(200);
      expect(askedPaths(upstream)).to.deep.equal([path]);
      expect(answer.json().id).to.equal(
        path === '/responses' ? 'resp_own' : `resp_${answer.headers.get('x-request-id')}`,
      );
    });

  it('is 501 for a provider of another wire while nothing is translated, and for a target that shall have it as it is', async () => {
    for (const [config, more] of [
      [{}, {}],
      [AUTO, { responses: 'native' }],
    ] as const) {
      const { t, upstream } = await start(config, { wire: 'native' }, more);
      const answer = await t.post(PATH, ASK);
      expect(codeOf(answer)).to.deep.equal([501, 'proxy_not_supported']);
      expect(answer.headers.get('x-should-retry')).to.equal('false');
      expect(upstream.seen).to.have.length(0);
    }
  });

  it('has the errors of the common wire while nothing is translated, and those of its own otherwise', async () => {
    for (const [config, members] of [
      [{}, {}],
      [AUTO, { param: null }],
    ] as const) {
      const { t } = await start(config, FORWARDED);
      for (const answer of [
        await t.post(PATH, { input: 'hi' }),
        await t.request('GET', PATH),
        await t.request('POST', PATH, JSON.stringify(ASK), { authorization: 'Bearer x' }),
      ]) {
        const { message, type, code, ...rest } = answer.json().error as Json;
        expect([typeof message, typeof type, typeof code]).to.deep.equal(['string', 'string', 'string']);
        expect(rest).to.deep.equal(members);
      }
    }
  });

  it('is found by the owner of its model, aliases resolved, and by X-Provider before that', async () => {
    const [native, other] = [await speaking(), await speaking()];
    const t = await startHost({
      strategy: { mode: 'fallback' },
      aliases: { quick: 'n' },
      ...AUTO,
      targets: [native.target('a', {}, NATIVE), other.target('b', { models: ['n'], model_map: { n: 'n-1' } })],
    });
    expect((await t.post(PATH, ASK)).json().id).to.equal('resp_own');
    const translated = await t.post(PATH, { ...ASK, model: 'quick' });
    expect(translated.json()).to.deep.include({ model: 'n' });
    expect(Object.fromEntries(translated.headers)).to.include({
      'x-gateway-provider': 'b',
      'x-gateway-target': 'b',
      'x-gateway-model': 'n-1',
      'x-gateway-attempts': '1',
    });
    expect((await t.post(PATH, { ...ASK, model: 'n' }, { 'x-provider': 'a' })).json().id).to.equal('resp_own');
    const named = await t.post(PATH, ASK, { 'x-provider': 'b' });
    expect([named.status, named.headers.get('x-gateway-target')]).to.deep.equal([200, 'b']);
    expect(other.seen.at(-1)?.json()).to.deep.include({ model: 'm' });
    expect(codeOf(await t.post(PATH, { ...ASK, model: 'unheard' }))).to.deep.equal([404, 'model_not_found']);
    expect(codeOf(await t.post(PATH, ASK, { 'x-provider': 'unheard' }))).to.deep.equal([404, 'provider_not_found']);
    expect(codeOf(await t.post(PATH, { input: 'hi' }))).to.deep.equal([400, 'invalid_request']);
    expect(codeOf(await t.post(PATH, { input: 'hi' }, { 'x-provider': 'b' }))).to.deep.equal([400, 'invalid_request']);
  });

  it('keeps every byte of what goes on as it is', async () => {
    const { t, upstream } = await start(AUTO, NATIVE);
    const body = `{ "input": [{"type":"reasoning","encrypted_content":"gAAAA","summary":[ ]}],\n "x":12345678901234567890, "model" : "\\u006d", "store":true}`;
    expect((await t.request('POST', PATH, body)).status).to.equal(200);
    expect(upstream.seen[0]?.text).to.equal(body);
  });

  it('cuts reasoning that only this gateway can read out of what goes on as it is', async () => {
    const { t, upstream } = await start({ ...AUTO, aliases: { quick: 'm' } }, NATIVE);
    const item = (text: string): string =>
      `{"type":"reasoning", "summary":[],"encrypted_content":${JSON.stringify(text)}}`;
    const body = (items: readonly string[], model: string): string =>
      `{ "input": [${items.join(',')}],\n "x":1e400,"model":"${model}"}`;
    const answer = await t.request(
      'POST',
      PATH,
      body([item(sealEnvelope([])), item('gAAAA'), item(sealEnvelope([{ a: 1 }]))], 'quick'),
    );
    expect(answer.status, answer.text).to.equal(200);
    expect(upstream.seen[0]?.text).to.equal(body([item('gAAAA')], 'm'));
    expect(upstream.seen[0]?.headers['content-length']).to.equal(String(upstream.seen[0]?.text.length));
  });

  it('is 501 over WebSocket where it would have to be translated', async () => {
    const { t, upstream } = await start(AUTO, FORWARDED);
    const client = await rawClient(t.url);
    client.send(
      `GET ${PATH}?model=m HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${MASTER_KEY}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    );
    const answer = await client.closed();
    expect(answer)
      .to.match(/^HTTP\/1\.1 501 /)
      .and.include('"code":"proxy_not_supported"');
    expect(upstream.seen).to.have.length(0);
  });

  it('counts cache writes of a native answer apart from its input', async () => {
    const { t } = await start(AUTO, NATIVE);
    await t.post(PATH, ASK);
    expect(t.lines.find(({ msg }) => msg === 'pass-through request completed')).to.include({
      tokens_in: 7,
      tokens_out: 5,
    });
  });

  for (const [what, body, headers, status] of [
    ['a body that is not JSON', '{"model":"m",', { 'x-provider': 'a' }, 400],
    ['a second model', '{"model":"m","input":"hi","model":"m"}', {}, 400],
    ['two documents', `${JSON.stringify(ASK)}{}`, {}, 400],
    ['a compressed body', JSON.stringify(ASK), { 'content-encoding': 'gzip' }, 400],
    ['a large body', JSON.stringify({ ...ASK, input: 'x'.repeat(3000) }), {}, 413],
    ['bad metadata', JSON.stringify(ASK), { 'x-gateway-metadata': '[]' }, 400],
  ] as const)
    it(`is ${status} with ${what}, and nothing is sent`, async () => {
      const { t, upstream } = await start({ ...AUTO, max_request_bytes: 2000 });
      const answer = await t.request('POST', PATH, body, headers);
      expect(answer.status, answer.text).to.equal(status);
      expect(upstream.seen).to.have.length(0);
    });
});

describe('a translated request of the Responses API', () => {
  it("names what could not be carried, by the client's paths, in the order of the body", async () => {
    const { t } = await start(AUTO, { params: { seed: 'unsupported', temperature: 'unsupported' } });
    const ask = {
      tools: [{ type: 'web_search' }, { type: 'function', name: 'f', parameters: {} }],
      ...ASK,
      store: true,
      reasoning: { effort: 'high' },
      text: { verbosity: 'low' },
      temperature: 1,
      prompt_cache_key: 'k',
    };
    const answer = await t.post(PATH, ask);
    expect(answer.headers.get('x-gateway-ignored-params')).to.equal(
      'tools[0], store, reasoning.effort, text.verbosity, temperature',
    );
    expect(answer.json().store).to.equal(false);
    expect((await t.post(PATH, { ...ask, stream: true })).headers.get('x-gateway-ignored-params')).to.equal(
      'tools[0], store, reasoning.effort, text.verbosity, temperature',
    );
  });

  it('is served without a word, or refused, as the configuration wants it', async () => {
    const dropping = await start({ ...AUTO, compatibility: { on_unsupported_param: 'drop' } });
    expect((await dropping.t.post(PATH, { ...ASK, store: true })).headers.get('x-gateway-ignored-params')).to.equal(
      null,
    );
    const rejecting = await start({ ...AUTO, compatibility: { on_unsupported_param: 'reject' } });
    const answer = await rejecting.t.post(PATH, { ...ASK, store: true });
    expect(codeOf(answer)).to.deep.equal([400, 'unsupported_parameter']);
    expect(answer.json().error.message).to.include('store');
    expect(rejecting.upstream.seen).to.have.length(0);
  });

  it('has media of results behind them where results hold text alone', async () => {
    const { t, upstream } = await start(AUTO);
    const image = { type: 'input_image', image_url: 'https://h/a.png' };
    await t.post(PATH, {
      model: 'm',
      input: [
        { role: 'user', content: 'look' },
        { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
        { type: 'function_call', call_id: 'b', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_text', text: 'seen' }, image] },
        { type: 'function_call_output', call_id: 'b', output: 'ok' },
      ],
    });
    const [seen] = upstream.seen;
    const messages = seen ? (seen.json()['messages'] as Json[]) : [];
    expect(messages.slice(2)).to.deep.equal([
      { role: 'tool', tool_call_id: 'a', content: 'seen' },
      { role: 'tool', tool_call_id: 'b', content: 'ok' },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://h/a.png' } }] },
    ]);
  });

  it('is refused with a file that its provider would have to fetch', async () => {
    const { t, upstream } = await start(AUTO);
    const answer = await t.post(PATH, {
      model: 'm',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'read' },
            { type: 'input_file', file_url: 'https://h/a.pdf' },
          ],
        },
      ],
    });
    expect(codeOf(answer)).to.deep.equal([400, 'unsupported_parameter']);
    expect(answer.json().error.message).to.match(/^input\[0\]\.content\[1\]\.file_url /);
    expect(upstream.seen).to.have.length(0);
  });

  it('fails over like a chat, and tells how', async () => {
    const [broken, healthy] = [
      await stubUpstream((_request, response) => {
        response.writeHead(500).end();
      }),
      await speaking(),
    ];
    const t = await startHost({
      strategy: { mode: 'fallback' },
      targets: [broken.target('a'), healthy.target('b')],
      ...AUTO,
    });
    for (const stream of [false, true]) {
      const answer = await t.post(PATH, { ...ASK, stream });
      expect(Object.fromEntries(answer.headers)).to.include({ 'x-gateway-target': 'b', 'x-gateway-attempts': '2' });
    }
    expect(codeOf(await t.post(PATH, ASK, { 'x-provider': 'a' }))).to.deep.equal([502, 'upstream_error']);
    expect(healthy.seen).to.have.length(2);
  });

  it("keeps the status of an upstream's refusal, its message and when to come again", async () => {
    const upstream = await stubUpstream((_request, response) => {
      replyJson(response, 429, { error: { message: 'slow down' } }, { 'retry-after': '7' });
    });
    const t = await startHost({ strategy: { mode: 'single' }, targets: [upstream.target('a')], ...AUTO });
    const answer = await t.post(PATH, { ...ASK, stream: true });
    expect(codeOf(answer)).to.deep.equal([429, 'rate_limit_exceeded']);
    expect(answer.json().error.param).to.equal(null);
    expect(answer.headers.get('retry-after')).to.equal('7');
  });

  it('leaves a row and figures of its surface', async () => {
    const { t } = await start(AUTO);
    const answer = await t.post(PATH, { ...ASK, stream: true });
    expect(answer.headers.get('content-type')).to.equal('text/event-stream; charset=utf-8');
    const line = t.lines.find(({ msg }) => msg === 'request completed');
    expect(line).to.include({ tokens_in: 11, tokens_out: 7 });
    expect(t.samples.find(({ name }) => name === 'gateway_tokens_input_total')?.value).to.equal(11);
  });
});

describe('guardrails of a translated request of the Responses API', () => {
  const guard = (stage: string, config: object, name = 'regex-guard'): object => ({
    name,
    stage,
    enabled: true,
    config,
  });

  it('read every text of the request, and refuse it by an error of the wire', async () => {
    const { t, upstream } = await start({ ...AUTO, plugins: [guard('before_request', { patterns: ['canary'] })] });
    const texts: readonly object[] = [
      { instructions: 'canary' },
      { input: 'canary' },
      {
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_text', text: 'can' },
              { type: 'input_text', text: 'ary' },
            ],
          },
        ],
      },
      { metadata: { k: 'canary' } },
      { something_new: { deep: ['canary'] } },
      {
        input: [
          { role: 'user', content: 'x' },
          { type: 'function_call', call_id: 'a', name: 'f', arguments: '{"a":"can\\u0061ry"}' },
          { type: 'function_call_output', call_id: 'a', output: 'ok' },
        ],
      },
      {
        input: [
          { role: 'user', content: 'x' },
          { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
          { type: 'function_call_output', call_id: 'a', output: 'canary' },
        ],
      },
      {
        input: [
          { type: 'reasoning', summary: [{ type: 'summary_text', text: 'canary' }] },
          { role: 'user', content: 'x' },
        ],
      },
      { tools: [{ type: 'function', name: 'f', description: 'canary', parameters: {} }] },
      { tools: [{ type: 'custom', name: 'f', format: { type: 'grammar', syntax: 'lark', definition: 'canary' } }] },
      { text: { format: { type: 'json_schema', name: 'n', schema: { description: 'canary' } } } },
      {
        input: [
          {
            type: 'reasoning',
            summary: [],
            encrypted_content: sealEnvelope([{ type: 'reasoning.text', text: 'the canary' }]),
          },
          { role: 'user', content: 'x' },
        ],
      },
    ];
    for (const more of texts) {
      const answer = await t.post(PATH, { ...ASK, ...more });
      expect(codeOf(answer), JSON.stringify(more)).to.deep.equal([400, 'request_rejected']);
      expect(answer.headers.get('x-should-retry')).to.equal('false');
    }
    expect(upstream.seen).to.have.length(0);
    expect((await t.post(PATH, ASK)).status).to.equal(200);
  });

  it('read the answer, whole and streamed', async () => {
    const { t } = await start({ ...AUTO, plugins: [guard('after_request', { patterns: ['hello'] })] });
    const answer = await t.post(PATH, ASK);
    expect(codeOf(answer)).to.deep.equal([502, 'response_rejected']);
    expect(answer.headers.get('x-should-retry')).to.equal('false');
    const events = eventsOf((await t.post(PATH, { ...ASK, stream: true })).text);
    expect(events.at(-1)).to.deep.include({ type: 'response.failed' });
    expect(events.at(-1)?.['response'].error.code).to.equal('invalid_prompt');
    expect(events.at(-1)?.['response'].error.message).to.include('regex-guard');
  });

  it('keep a match back from a stream, which then fails', async () => {
    const { t } = await start({
      ...AUTO,
      plugins: [guard('after_request', { patterns: ['hello'], stream: 'window' })],
    });
    const { text } = await t.post(PATH, { ...ASK, stream: true });
    expect(text).to.not.include('hello');
    const events = eventsOf(text);
    expect(events[0]?.['type']).to.equal('response.created');
    expect(events.at(-1)?.['type']).to.equal('response.failed');
  });

  it('mask what leaves, and put it back into the answer', async () => {
    const upstream = await stubUpstream((request, response) => {
      const [message] = request.json()['messages'] as { content: string }[];
      replyJson(response, 200, chatReply(`you wrote ${message?.content}`));
    });
    const pii = { entities: ['email'], action: 'mask', restore: true };
    const t = await startHost({
      strategy: { mode: 'single' },
      targets: [upstream.target('a')],
      ...AUTO,
      plugins: [guard('before_request', pii, 'pii-redact'), guard('after_request', pii, 'pii-redact')],
    });
    const answer = await t.post(PATH, { ...ASK, input: 'a@b.example' });
    expect(upstream.seen[0]?.text).to.include('[EMAIL_1]').and.not.include('a@b.example');
    expect(answer.json().output[0].content[0].text).to.equal('you wrote a@b.example');
  });

  it('answer from the cache in this wire, and not with an answer of another surface', async () => {
    const { t, upstream } = await start({
      ...AUTO,
      plugins: [guard('before_request', {}, 'response-cache'), guard('after_request', {}, 'response-cache')],
    });
    await t.post('/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'hi' }] });
    const first = await t.post(PATH, ASK);
    const again = await t.post(PATH, ASK);
    expect([first, again].map(({ headers }) => headers.get('x-gateway-cache'))).to.deep.equal(['miss', 'hit']);
    expect(again.json().output[0].content[0].text).to.equal('hello');
    expect(upstream.seen).to.have.length(2);
  });
});
