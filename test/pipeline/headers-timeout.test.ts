import { expect } from 'chai';
import type { ChatReply } from '../../host/contract/index.ts';
import { answerTokensOf, headersTimeoutMs } from '../../host/pipeline/attempts/headers-timeout.ts';
import type { UpstreamCall } from '../../host/upstream/upstream-call.ts';
import {
  ask,
  chatReply,
  golden,
  replyJson,
  startHost,
  type StubHandler,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';

const PATH = '/v1/chat/completions';
const OPEN = { env: [], baseUrl: 'http://h' };
const answering: StubHandler = (_request, response) => replyJson(response, 200, chatReply('hello'));

/** Milliseconds that the host was ready to wait for the headers of each call. */
function waits({ host }: TestHost): number[] {
  const { transport } = host.services;
  const seen: number[] = [];
  const open = transport.open.bind(transport);
  transport.open = (call: UpstreamCall, sink) => {
    seen.push(call.headersTimeoutMs);
    open(call, sink);
  };
  return seen;
}

describe('the wait for a whole answer', () => {
  it('is two minutes, or what so many tokens may take, up to an hour', () => {
    for (const [tokens, ms] of [
      [undefined, 120_000],
      [1, 120_000],
      [4096, 120_000],
      [4268, 120_038],
      [64_000, 1_800_000],
      [128_000, 3_600_000],
      [1e12, 3_600_000],
      [Number.NaN, 120_000],
      [-5, 120_000],
    ] as const) {
      expect(headersTimeoutMs(OPEN, tokens), String(tokens)).to.equal(ms);
    }
    expect(headersTimeoutMs({ ...OPEN, headersTimeoutMs: 50 }, 64_000), 'a module says how long').to.equal(50);
  });

  it("is measured by what the translator says, else by the client's ceiling, and never for what sends nothing", () => {
    const body = {};
    expect(answerTokensOf({ path: '/', body, answerTokens: 9 }, { max_tokens: 5 })).to.equal(9);
    expect(answerTokensOf({ path: '/', body }, { max_tokens: 5 })).to.equal(5);
    expect(answerTokensOf({ path: '/', body }, { max_tokens: 5, max_completion_tokens: 6 })).to.equal(6);
    for (const request of [{}, { max_tokens: null }, { max_tokens: 'x' }])
      expect(answerTokensOf({ path: '/', body }, request)).to.equal(undefined);
    expect(answerTokensOf({ path: '/poll', method: 'GET' }, { max_tokens: 5 })).to.equal(undefined);
  });

  it('reaches the call, for every provider; a stream has none', async () => {
    const upstream = await stubUpstream(answering);
    const host = await startHost({ targets: [upstream.target('a')] });
    const seen = waits(host);
    await host.post(PATH, ask());
    await host.post(PATH, ask('hi', { max_tokens: 32_000 }));
    await host.post(PATH, ask('hi', { max_completion_tokens: 64_000 }));
    await host.post(PATH, ask('hi', { max_tokens: 32_000, stream: true }));
    expect(seen).to.deep.equal([120_000, 900_000, 1_800_000, 0]);
  });

  it("of Claude is that of the ceiling it gets where the client names none: the catalog's, under every form of its name", async () => {
    const bodies: any[] = [];
    const upstream = await stubUpstream((request, response) => {
      bodies.push(request.json());
      response.writeHead(200, { 'content-type': 'application/json' }).end(golden('anthropic/chat/reply.json'));
    });
    const profile = 'arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-4-1-20250805-v1:0';
    const variables = {
      ANTHROPIC_API_KEY: 'key-0123456789',
      ANTHROPIC_BASE_URL: upstream.url,
      AWS_BEARER_TOKEN_BEDROCK: 'key-0123456789',
      AWS_ENDPOINT_URL_BEDROCK_RUNTIME: upstream.url,
      VERTEX_AI_PROJECT_ID: 'p',
      VERTEX_AI_REGION: 'us-east5',
      VERTEX_AI_API_KEY: 'key-0123456789',
      VERTEX_AI_BASE_URL: upstream.url,
    };
    const models = {
      anthropic: ['claude-sonnet-4-5', 'claude-3-of-mine'],
      bedrock: [profile],
      'vertex-ai': ['claude-haiku-4-5@20251001'],
    };
    const targets = Object.entries(models).map(([virtual_key, own]) => ({ virtual_key, models: own }));
    const host = await startHost({ strategy: { mode: 'fallback' }, targets }, { variables });
    const seen = waits(host);
    for (const model of Object.values(models).flat())
      expect((await host.post(PATH, ask('hi', { model }))).status, model).to.equal(200);
    expect(bodies.map((body) => body['max_tokens'])).to.deep.equal([64_000, 1024, 32_000, 64_000]);
    expect(seen).to.deep.equal([1_800_000, 120_000, 900_000, 1_800_000]);
  });
});

describe('headers of the client', () => {
  it('reach a provider that lists them, and no other does', async () => {
    const upstream = await stubUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(golden('anthropic/chat/reply.json'));
    });
    const plain = await stubUpstream(answering);
    const variables = { ANTHROPIC_API_KEY: 'key-0123456789', ANTHROPIC_BASE_URL: upstream.url };
    const host = await startHost(
      {
        strategy: { mode: 'fallback' },
        targets: [{ virtual_key: 'anthropic', models: ['claude-sonnet-4-5'] }, plain.target('a', { models: ['m'] })],
      },
      { variables },
    );
    const headers = {
      'Anthropic-Beta': 'context-1m-2025-08-07',
      'x-api-key': 'mine',
      cookie: 'a=b',
      'anthropic-version': '1',
    };
    await host.post(PATH, ask('hi', { model: 'claude-sonnet-4-5' }), headers);
    await host.post(PATH, ask('hi', { model: 'm' }), headers);
    expect(upstream.seen[0]?.headers)
      .to.include({
        'anthropic-beta': 'context-1m-2025-08-07',
        'x-api-key': 'key-0123456789',
        'anthropic-version': '2023-06-01',
      })
      .and.not.have.property('cookie');
    expect(plain.seen[0]?.headers).to.not.have.any.keys('anthropic-beta', 'cookie', 'anthropic-version');
  });

  it('are what a module lists, by lower-case name; repeated ones are one', async () => {
    const upstream = await stubUpstream(answering);
    const seen: unknown[] = [];
    const target = upstream.target(
      'a',
      {},
      {
        clientHeaders: ['x-trial', 'x-other'],
        translators: {
          chat: {
            toUpstream: (_request: unknown, call: { clientHeaders?: unknown }) => {
              seen.push(call.clientHeaders);
              return { path: '/x', body: {} };
            },
            fromUpstream: () => chatReply('hello') as ChatReply,
          },
        },
      },
    );
    const host = await startHost({ targets: [target] });
    await host.post(PATH, ask(), { 'X-Trial': 'one' });
    await host.post(PATH, ask());
    expect(seen.slice(-2)).to.deep.equal([{ 'x-trial': 'one' }, undefined]);
  });
});
