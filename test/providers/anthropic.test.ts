import { expect } from 'chai';
import { bearer, type ProviderModule } from '../../host/contract/index.ts';
import anthropic from '../../providers/anthropic/index.ts';
import {
  ask,
  golden,
  providerContract,
  replyJson,
  rootOf,
  startHost,
  type StubHandler,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { fixture, MODEL } from './anthropic-support.ts';

const KEY = 'sk-ant-api03-0123456789abcdef';
const PATH = '/v1/chat/completions';

const answering =
  (status: number, name: string): StubHandler =>
  (_request, response) => {
    response
      .writeHead(status, { 'content-type': name.endsWith('.txt') ? 'text/event-stream' : 'application/json' })
      .end(fixture(name));
  };

async function anthropicAt(
  handler: StubHandler,
  more: object = {},
): Promise<{ host: TestHost; upstream: StubUpstream }> {
  const upstream = await stubUpstream(handler);
  const host = await startHost(
    { targets: [{ virtual_key: 'anthropic', models: [MODEL, 'claude-opus-4-8'] }], ...more },
    { variables: { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: upstream.url } },
  );
  return { host, upstream };
}

/** The suite knows bearer tokens only; which headers carry the key is looked at below. */
const withBearer: ProviderModule = {
  ...anthropic,
  connection: { ...anthropic.connection, authorize: bearer('ANTHROPIC_API_KEY') },
};

providerContract(withBearer, {
  name: 'anthropic',
  required: ['ANTHROPIC_API_KEY'],
  address: 'ANTHROPIC_BASE_URL',
  credential: 'ANTHROPIC_API_KEY',
  surfaces: {
    chat: {
      model: MODEL,
      url: (address) => `${/^https?:\/\/[^/]+\/[^/]/i.test(address) ? address : `${address}/v1`}/messages`,
    },
  },
  golden: fixture,
  errors: { 401: 'invalid x-api-key', 404: 'model: claude-none' },
});

const LETTERS: ReadonlyMap<unknown, string> = new Map([
  ['forward', 'f'],
  ['translate', 'T'],
  ['unsupported', '–'],
]);

describe('anthropic', () => {
  it('declares its row of the capability matrix', () => {
    const { params } = JSON.parse(golden('capability-matrix.json')) as { params: string[] };
    const declared = params.map((param) => LETTERS.get(anthropic.params[param] ?? 'forward')).join(' ');
    expect(declared).to.equal('f f – – f – – – f f f T – – T f –'); // docs/providers.md#fields-of-chat
    expect(Object.keys(anthropic.params).filter((param) => !params.includes(param))).to.deep.equal([]);
  });

  it('stands at its default root, or at another', async () => {
    expect(await rootOf(anthropic)).to.equal('https://api.anthropic.com/v1');
    expect(await rootOf(anthropic, { ANTHROPIC_BASE_URL: 'http://h:9911/' })).to.equal('http://h:9911/v1');
    expect(await rootOf(anthropic, { ANTHROPIC_BASE_URL: 'https://h/anthropic/v1/' })).to.equal(
      'https://h/anthropic/v1',
    );
  });

  it('lists its models in one page, without times', () => {
    expect(anthropic.discovery?.path).to.equal('/models?limit=1000');
    expect(anthropic.discovery?.read(JSON.parse(golden('anthropic/models/reply.json')))).to.deep.equal([
      { id: 'claude-opus-4-6' },
      { id: 'claude-haiku-4-5-20251001' },
    ]);
  });

  it('is neither forwarded to nor asked for batches', () => {
    expect(anthropic).to.not.have.any.keys('passthrough', 'responses', 'batches', 'anyModel');
  });
});

describe('anthropic, live', () => {
  it('answers chat, with its own credential headers alone', async () => {
    const { host, upstream } = await anthropicAt(answering(200, 'reply.json'));
    const answer = await host.post(PATH, ask('<hi> & bye', { model: MODEL, max_tokens: 64, temperature: 0.2 }), {
      'anthropic-version': 'x',
    });
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('x-gateway-ignored-params')).to.equal(null);
    expect(answer.json()).to.deep.include({
      object: 'chat.completion',
      model: MODEL,
      provider: 'anthropic',
      usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
    });
    const [seen] = upstream.seen;
    expect([seen?.method, seen?.url]).to.deep.equal(['POST', '/v1/messages']);
    expect(seen?.headers)
      .to.include({ 'x-api-key': KEY, 'anthropic-version': '2023-06-01', 'content-type': 'application/json' })
      .and.not.have.any.keys('authorization', 'anthropic-beta');
    expect(seen?.text).to.include('"<hi> & bye"');
    expect(seen?.json()).to.deep.equal({
      model: MODEL,
      max_tokens: 64,
      messages: [{ role: 'user', content: '<hi> & bye' }],
      temperature: 0.2,
    });
  });

  it('bounds a temperature that is too high, with a warning and no word to the client', async () => {
    const { host, upstream } = await anthropicAt(answering(200, 'reply.json'));
    const answers = [
      await host.post(PATH, ask('hi', { model: MODEL, temperature: 1.7 })),
      await host.post(PATH, ask('hi', { model: MODEL, temperature: 1 })),
    ];
    expect(answers.map(({ status, headers }) => [status, headers.get('x-gateway-ignored-params')])).to.deep.equal([
      [200, null],
      [200, null],
    ]);
    expect(upstream.seen.map((seen) => seen.json()['temperature'])).to.deep.equal([1, 1]);
    expect(host.lines.filter(({ level, params }) => level === 'WARN' && params === 'temperature')).to.have.length(1);
  });

  it('tells what it ignores in the order of the matrix, then of the body', async () => {
    const { host } = await anthropicAt(answering(200, 'reply.json'));
    const answer = await host.post(
      PATH,
      ask('hi', { model: MODEL, zebra: 1, seed: 1, store: true, metadata: { a: 'b' }, n: 2 }),
    );
    expect(answer.headers.get('x-gateway-ignored-params')).to.equal('n, seed, zebra, store, metadata');
  });

  it('streams, to a clean end', async () => {
    const { host, upstream } = await anthropicAt(answering(200, 'tools.txt'));
    const events = (await host.post(PATH, ask('hi', { model: MODEL, stream: true }))).events();
    expect(events.at(-1)).to.equal('[DONE]');
    expect(events.at(-2)).to.deep.include({ usage: { prompt_tokens: 410, completion_tokens: 96, total_tokens: 506 } });
    expect(events.at(-2).choices[0].finish_reason).to.equal('tool_calls');
    expect(events[0].choices[0].delta).to.deep.equal({ content: 'Both harbours,', role: 'assistant' });
    expect(upstream.seen[0]?.json()).to.include({ stream: true });
  });

  it("ends a stream that fails with an error event that holds the vendor's message", async () => {
    const { host } = await anthropicAt(answering(200, 'error.txt'));
    const events = (await host.post(PATH, ask('hi', { model: MODEL, stream: true }))).events();
    expect(events.at(-1).error).to.include({ message: 'overloaded_error: Overloaded' });
    expect(JSON.stringify(events)).to.not.include('[DONE]');
  });

  it('names what it cannot say, or refuses it, as configured', async () => {
    const asked = ask('hi', { model: 'claude-opus-4-8', seed: 1, temperature: 0.2, store: true, logprobs: true });
    const warned = await anthropicAt(answering(200, 'reply.json'));
    expect((await warned.host.post(PATH, asked)).headers.get('x-gateway-ignored-params')).to.equal(
      'temperature, seed, logprobs, store',
    );
    expect(warned.upstream.seen[0]?.json()).to.not.have.any.keys('seed', 'temperature', 'store', 'logprobs');
    const strict = await anthropicAt(answering(200, 'reply.json'), {
      compatibility: { on_unsupported_param: 'reject' },
    });
    const refused = await strict.host.post(PATH, asked);
    expect([refused.status, refused.json().error.code]).to.deep.equal([400, 'unsupported_parameter']);
    expect(refused.json().error.message).to.include('anthropic').and.include('temperature, seed, logprobs, store');
    expect(strict.upstream.seen).to.have.length(0);
  });

  it('refuses what the vendor cannot take before it is called', async () => {
    const { host, upstream } = await anthropicAt(answering(200, 'reply.json'));
    const answer = await host.post(PATH, {
      model: MODEL,
      messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'UklG', format: 'wav' } }] }],
    });
    expect([answer.status, answer.json().error.code]).to.deep.equal([400, 'invalid_request']);
    expect(answer.json().error.message).to.include('messages[0].content[0]').and.include('input_audio');
    expect(upstream.seen).to.have.length(0);
  });

  it('tells the client of errors by their class, with the wait the vendor asks for', async () => {
    const { host } = await anthropicAt((_request, response) =>
      replyJson(
        response,
        429,
        { type: 'error', error: { type: 'rate_limit_error', message: `limit of ${KEY}` } },
        { 'retry-after': '7' },
      ),
    );
    const answer = await host.post(PATH, ask('hi', { model: MODEL }));
    expect([answer.status, answer.json().error.code, answer.headers.get('retry-after')]).to.deep.equal([
      429,
      'rate_limit_exceeded',
      '7',
    ]);
    expect(JSON.stringify(host.lines) + answer.text).to.not.include(KEY);
    const busy = await anthropicAt(answering(529, 'error-529.json'));
    expect((await busy.host.post(PATH, ask('hi', { model: MODEL }))).status).to.equal(502);
  });
});
