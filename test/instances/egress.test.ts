import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AddressInfo, Socket } from 'node:net';
import { expect } from 'chai';
import {
  ask,
  atEnd,
  chatReply,
  eventually,
  MASTER_KEY,
  rawClient,
  replyJson,
  replyStream,
  startHost,
  stubUpstream,
  temporaryFolder,
} from '../kit/index.ts';
import { selfSigned } from '../upstream/certificate.ts';
import { testProxy } from '../upstream/proxy.ts';

const KEY = 'sk-of-one-0123456789abcdef';
const VARIABLES = { ONE_KEY: KEY };

/** An OpenAI-like server: chats, a list of models, and whatever else is asked for. */
const vendor = () =>
  stubUpstream((request, response) => {
    if (request.url?.endsWith('/models')) return replyJson(response, 200, { data: [{ id: 'listed' }] });
    if (request.text.includes('"stream":true')) return replyStream(response, ['hello']);
    return replyJson(response, 200, chatReply('hello'));
  });

const instance = (url: string, more: object = {}): object => ({
  kind: 'openai',
  base_url: `${url}/v1`,
  api_key: '${ONE_KEY}',
  ...more,
});

const configOf = (one: object, more: object = {}): object => ({
  strategy: { mode: 'fallback' },
  providers: { one },
  targets: [{ virtual_key: 'one', models: ['m'] }],
  ...more,
});

describe('calls of an instance with a proxy', () => {
  it('all go through it: whole and streamed, passed through, and those for its models', async () => {
    const [upstream, proxy, other] = await Promise.all([vendor(), testProxy(), testProxy()]);
    const t = await startHost(
      configOf({
        ...instance(upstream.url, { discover: true }),
        proxy: { url: proxy.url, username: 'u', password: '${PASSWORD}' },
      }),
      {
        variables: {
          ...VARIABLES,
          PASSWORD: 'open-sesame-0123',
          HTTPS_PROXY: other.url,
          HTTP_PROXY: other.url,
          ALL_PROXY: other.url,
          https_proxy: other.url,
        },
      },
    );
    expect((await t.post('/v1/chat/completions', ask('hi', { model: 'm' }))).status).to.equal(200);
    const streamed = await t.post('/v1/chat/completions', ask('hi', { model: 'm', stream: true }));
    expect(streamed.text).to.contain('[DONE]');
    expect((await t.get('/v1/fine_tuning/jobs', { 'x-provider': 'one' })).status).to.equal(200);
    await eventually(() => upstream.seen.some(({ url }) => url === '/v1/models'));
    for (const socket of proxy.sockets) socket.destroy();
    await eventually(() => upstream.sockets.size === 0); // nothing else leads there
    const place = upstream.url.slice('http://'.length);
    for (const head of proxy.heads) expect(head.split('\r\n')[0]).to.equal(`CONNECT ${place} HTTP/1.1`);
    expect(proxy.heads[0]).to.contain(`Basic ${Buffer.from('u:open-sesame-0123').toString('base64')}`);
    expect(upstream.seen.map(({ headers }) => headers.authorization)).to.satisfy((all: unknown[]) =>
      all.every((value) => value === `Bearer ${KEY}`),
    );
    expect(other.heads).to.deep.equal([]);
  });

  it('may be taken up as WebSocket', async () => {
    const proxy = await testProxy();
    const taken: Socket[] = [];
    const server = createServer().on('upgrade', (request, socket) => {
      const accept = createHash('sha1')
        .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
        .digest('base64');
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\nfrom upstream`,
      );
      taken.push(socket as Socket);
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    atEnd(() => {
      for (const socket of taken) socket.destroy();
      server.close();
    });
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const t = await startHost(configOf(instance(address, { proxy: { url: proxy.url } })), {
      variables: VARIABLES,
    });
    const client = await rawClient(t.url);
    client.send(
      `GET /v1/realtime?model=m HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${MASTER_KEY}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    );
    await client.until(/from upstream/);
    expect(proxy.heads).to.have.length(1);
  });

  it('fail with 502 where it refuses, and the log has its status', async () => {
    const [upstream, proxy] = await Promise.all([
      vendor(),
      testProxy({ answer: () => 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n' }),
    ]);
    const config = configOf(instance(upstream.url, { proxy: { url: proxy.url } }), {
      targets: [{ virtual_key: 'one', models: ['m'], retry: { attempts: 2 } }],
    });
    const t = await startHost(config, { variables: VARIABLES });
    const answer = await t.post('/v1/chat/completions', ask('hi', { model: 'm' }));
    expect([answer.status, answer.json().error.code, answer.json().error.message]).to.deep.equal([
      502,
      'upstream_error',
      'the provider cannot be reached',
    ]);
    expect(upstream.seen).to.deep.equal([]);
    expect(t.lines.filter((line) => line['proxy_status'] === 407).map(({ msg }) => msg)).to.deep.equal([
      'retrying target',
      'request failed',
    ]);
  });

  it('are not made where the password of it does not resolve', async () => {
    const [upstream, proxy] = await Promise.all([vendor(), testProxy()]);
    const t = await startHost(
      configOf(
        instance(upstream.url, { discover: true, proxy: { url: proxy.url, username: 'u', password: '${PASSWORD}' } }),
      ),
      { variables: VARIABLES },
    );
    expect((await t.post('/v1/chat/completions', ask('hi', { model: 'm' }))).status).to.equal(404);
    expect([upstream.seen, proxy.heads]).to.deep.equal([[], []]);
    expect(t.lines.find(({ rule }) => rule === 'WN17')).to.include({
      msg: 'credential not resolved',
      provider: 'one',
      header: 'proxy-authorization',
      reference: '${PASSWORD}',
      reason: 'not set',
    });
  });
});

describe('the connections of an instance', () => {
  it('end with it, unless another one uses them', async () => {
    const upstream = await vendor();
    const two = instance(upstream.url, { headers: { 'X-Tenant': 'blue' } });
    const both = configOf(instance(upstream.url), {
      providers: { one: instance(upstream.url), two },
      targets: [
        { virtual_key: 'one', models: ['m'] },
        { virtual_key: 'two', models: ['n'] },
      ],
    });
    const t = await startHost(both, { variables: VARIABLES });
    const call = async (model: string): Promise<unknown> =>
      (await t.post('/v1/chat/completions', ask('hi', { model }))).status;
    expect([await call('m'), await call('n'), upstream.sockets.size]).to.deep.equal([200, 200, 1]);
    const [socket] = upstream.sockets;
    await t.apply(configOf(instance(upstream.url)));
    expect([await call('m'), [...upstream.sockets][0] === socket]).to.deep.equal([200, true]);
    const other = await vendor();
    await t.apply(configOf(instance(other.url)));
    await eventually(() => upstream.sockets.size === 0);
    expect([upstream.sockets.size, await call('m')]).to.deep.equal([0, 200]);
  });
});

describe('a credential over plain http', () => {
  it('to a host beyond the own networks is warned of', async () => {
    const t = await startHost(
      configOf(instance('http://api.example.com'), {
        providers: {
          one: instance('http://api.example.com'),
          near: instance('http://gpu-1:8000'),
          safe: instance('https://api.example.com'),
          local: instance('http://10.0.0.1'),
          bare: { kind: 'openai-compatible', base_url: 'http://api.example.com', models: ['x'] },
          header: {
            kind: 'openai-compatible',
            base_url: 'http://api.example.com',
            models: ['x'],
            headers: { 'X-Api-Token': '${ONE_KEY}' },
          },
        },
      }),
      { variables: VARIABLES },
    );
    expect(t.lines.filter(({ rule }) => rule === 'WN24').map(({ provider }) => provider)).to.deep.equal([
      'one',
      'header',
    ]);
  });
});

describe('the headers of an instance', () => {
  it('go with every call that has the credential, over those of the translator and of the client', async () => {
    const upstream = await vendor();
    const headers = {
      'X-Tenant': 'blue',
      'X-Signed': 'Token ${SIGN}',
      'User-Agent': 'ours',
      'x-stainless-os': 'gateway',
    };
    const t = await startHost(configOf(instance(upstream.url, { headers, discover: true })), {
      variables: { ...VARIABLES, SIGN: 'signature-0123456789' },
    });
    const own = { 'x-tenant': 'red', 'x-stainless-os': 'client', 'x-other': 'kept' };
    expect((await t.post('/v1/chat/completions', ask('hi', { model: 'm' }), own)).status).to.equal(200);
    expect((await t.get('/v1/fine_tuning/jobs', { ...own, 'x-provider': 'one' })).status).to.equal(200);
    await eventually(() => upstream.seen.length === 3);
    for (const { url, headers: sent } of upstream.seen) {
      expect(sent, url).to.include({
        authorization: `Bearer ${KEY}`,
        'x-tenant': 'blue',
        'x-signed': 'Token signature-0123456789',
        'user-agent': 'ours',
        'x-stainless-os': 'gateway',
      });
    }
    expect(upstream.seen.map(({ headers: sent }) => sent['x-other']).filter(Boolean)).to.deep.equal(['kept']);
    expect(t.texts.join('')).not.to.contain('signature-0123456789');
  });

  it('do not go to another origin that the provider names', async () => {
    const elsewhere = await stubUpstream((_request, response) => {
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end('event: output\ndata: hello\n\nevent: done\ndata: {}\n\n');
    });
    const upstream = await stubUpstream((_request, response) =>
      replyJson(response, 201, { id: 'p', status: 'starting', urls: { stream: `${elsewhere.url}/stream/p` } }),
    );
    const t = await startHost(
      {
        strategy: { mode: 'fallback' },
        providers: {
          one: {
            kind: 'replicate',
            base_url: `${upstream.url}/v1`,
            api_key: '${ONE_KEY}',
            settings: { text_models: ['meta/m'] },
            headers: { 'X-Tenant': 'blue' },
          },
        },
        targets: [{ virtual_key: 'one', models: ['meta/m'] }],
      },
      { variables: VARIABLES },
    );
    await t.post('/v1/chat/completions', ask('hi', { model: 'meta/m', stream: true }));
    expect(upstream.seen[0]?.headers).to.include({ 'x-tenant': 'blue', authorization: `Bearer ${KEY}` });
    for (const { headers } of elsewhere.seen) expect(headers).not.to.have.any.keys('x-tenant', 'authorization');
    expect(elsewhere.seen.length).to.be.above(0);
  });

  it('extend the betas of a client of Messages', async () => {
    const upstream = await stubUpstream((_request, response) =>
      replyJson(response, 200, {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'claude',
        content: [{ type: 'text', text: 'hello' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 1, output_tokens: 1 },
      }),
    );
    const t = await startHost(
      {
        strategy: { mode: 'fallback' },
        providers: {
          one: {
            kind: 'anthropic',
            base_url: `${upstream.url}/v1`,
            api_key: '${ONE_KEY}',
            headers: { 'anthropic-beta': 'ours-2026-01-01' },
          },
        },
        targets: [{ virtual_key: 'one', models: ['claude-m'] }],
      },
      { variables: VARIABLES },
    );
    const answer = await t.post(
      '/v1/messages',
      { model: 'claude-m', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] },
      { 'anthropic-beta': 'context-1m-2025-08-07', 'anthropic-version': '2023-06-01' },
    );
    expect(answer.status).to.equal(200);
    expect(String(upstream.seen[0]?.headers['anthropic-beta']).split(',')).to.include.members([
      'context-1m-2025-08-07',
      'ours-2026-01-01',
    ]);
  });
});

describe('the authorities of an instance', () => {
  it('that cannot be read keep it from being registered, and are named', async () => {
    const upstream = await vendor();
    const caFile = join(await temporaryFolder(), 'ca.pem');
    const config = configOf(
      { ...instance('https://127.0.0.1:1'), tls: { ca_file: caFile } },
      {
        providers: {
          one: { ...instance('https://127.0.0.1:1'), tls: { ca_file: caFile } },
          two: instance(upstream.url),
        },
        targets: [
          { virtual_key: 'one', models: ['m'] },
          { virtual_key: 'two', models: ['n'] },
        ],
      },
    );
    const t = await startHost(config, { variables: VARIABLES });
    expect((await t.post('/v1/chat/completions', ask('hi', { model: 'm' }))).status).to.equal(404);
    expect((await t.post('/v1/chat/completions', ask('hi', { model: 'n' }))).status).to.equal(200);
    const line = t.lines.find(({ rule, provider }) => rule === 'WN13' && provider === 'one');
    expect(line?.['error']).to.contain(caFile).and.to.contain('no such file');
    expect(t.samples).to.deep.include({
      name: 'gateway_provider_init_failures_total',
      labels: { provider: 'one' },
      value: 1,
    });
    await writeFile(caFile, selfSigned('127.0.0.1').cert);
    await t.apply(config);
    const answer = await t.post('/v1/chat/completions', ask('hi', { model: 'm' }));
    expect([answer.status, answer.json().error.message]).to.deep.equal([502, 'the provider could not be reached']);
  });
});
