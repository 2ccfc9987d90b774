import { expect } from 'chai';
import { fakeClock, startHost, stubUpstream } from '../kit/index.ts';
import {
  BAD_KEY,
  BROKEN,
  chat,
  FORBIDDEN,
  NO_CREDIT,
  RATE,
  startPool,
  variablesOf,
  type VendorAnswer,
  vendorOf,
} from './vendor.ts';

const NAME = 'hidden-name';
const KEYS = [NAME, 'other-name'];
const messages = [{ role: 'user', content: 'hi' }];

/** Requests of every wire and kind of surface. */
const ASKED: readonly (readonly [path: string, body: object])[] = [
  ['/v1/chat/completions', chat()],
  ['/v1/chat/completions', chat('m', { stream: true })],
  ['/v1/completions', { model: 'm', prompt: 'hi' }],
  ['/v1/embeddings', { model: 'm', input: 'hi' }],
  ['/v1/images/generations', { model: 'm', prompt: 'hi' }],
  ['/v1/moderations', { model: 'm', input: 'hi' }],
  ['/v1/audio/speech', { model: 'm', input: 'hi', voice: 'alloy' }],
  ['/v1/messages', { model: 'm', max_tokens: 5, messages }],
  ['/v1/messages', { model: 'm', max_tokens: 5, messages, stream: true }],
  ['/v1beta/models/m:generateContent', { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }],
  ['/api/chat', { model: 'm', messages }],
  ['/v1/responses', { model: 'm', input: 'hi', store: false }],
  ['/v1/anything', { model: 'm' }],
];

const REFUSALS: Readonly<Record<string, VendorAnswer | undefined>> = {
  served: undefined,
  rate: RATE,
  billing: NO_CREDIT,
  invalid_key: BAD_KEY,
  forbidden: FORBIDDEN,
  broken: BROKEN,
};

describe('the name of a credential', () => {
  for (const [name, refusal] of Object.entries(REFUSALS))
    it(`stands in no header and no body of a client: ${name}`, async () => {
      const vendor = await vendorOf(() => refusal);
      const t = await startPool(vendor, ['a', 'b'], {
        config: {
          providers: {
            acme: {
              kind: 'openai',
              base_url: `${vendor.url}/v1`,
              credentials: KEYS.map((each, at) => ({ name: each, api_key: `\${KEY_${'AB'[at]}}` })),
            },
          },
        },
      });
      for (let round = 0; round < 2; round += 1)
        for (const [path, body] of ASKED) {
          const answer = await t.post(path, body);
          const seen = `${answer.text} ${JSON.stringify([...answer.headers])}`;
          for (const key of KEYS) expect(seen, `${path} ${answer.status}`).not.to.include(key);
        }
    });
});

describe('streams', () => {
  const ONE = (line: object): string => `data: ${JSON.stringify(line)}\n\n`;
  const chunk = {
    id: '1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta: { role: 'assistant', content: 'hi' } }],
  };

  for (const [name, code, state] of [
    ['rate', 'rate_limit_exceeded', 'resting'],
    ['billing', 'insufficient_quota', 'benched'],
    ['invalid_key', 'invalid_api_key', 'ready'],
  ] as const)
    it(`that hold an error after their first chunk set ${name === 'invalid_key' ? 'no state by a key' : name}, and nothing is tried again`, async () => {
      let calls = 0;
      const upstream = await stubUpstream((_request, response) => {
        calls += 1;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(ONE(chunk));
        setImmediate(() =>
          response.end(ONE({ error: { message: 'no', code, ...(name === 'invalid_key' && { code: 401 }) } })),
        );
      });
      const t = await startHost(
        {
          strategy: { mode: 'fallback' },
          providers: {
            acme: {
              kind: 'openai',
              base_url: `${upstream.url}/v1`,
              credentials: ['a', 'b'].map((each) => ({ name: each, api_key: `\${KEY_${each.toUpperCase()}}` })),
            },
          },
          targets: [{ virtual_key: 'acme', models: ['m'], concurrency: { max_concurrency: 1, queue_size: 1 } }],
        },
        { variables: variablesOf(['a', 'b']), random: () => 0, clock: fakeClock() },
      );
      await t.post('/v1/chat/completions', chat('m', { stream: true }));
      expect(calls).to.equal(1);
      expect((await t.get('/admin/health')).json().targets[0].in_flight, 'slots of the target').to.equal(0);
      const { order } = (await t.post('/admin/explain', { request: chat() })).json();
      const first = order[0].credentials.find(({ name: each }: { name: string }) => each === 'a');
      expect(first.state).to.equal(state);
    });

  it('hold their credential to the last byte', async () => {
    const opened = Promise.withResolvers<() => void>();
    const upstream = await stubUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(ONE(chunk));
      opened.resolve(() => response.end('data: [DONE]\n\n'));
    });
    const t = await startHost(
      {
        strategy: { mode: 'fallback' },
        providers: {
          acme: {
            kind: 'openai',
            base_url: `${upstream.url}/v1`,
            credentials: [{ name: 'a', api_key: '${KEY_A}', max_concurrency: 1 }],
          },
        },
        targets: [{ virtual_key: 'acme', models: ['m'] }],
      },
      { variables: variablesOf(['a']) },
    );
    const stream = t.post('/v1/chat/completions', chat('m', { stream: true }));
    const end = await opened.promise;
    const refused = await t.post('/v1/chat/completions', chat());
    expect([refused.status, refused.json().error.code, refused.json().error.message]).to.deep.equal([
      429,
      'provider_saturated',
      'acme has no credential free: each serves its most calls',
    ]);
    expect(refused.headers.get('retry-after')).to.equal(null);
    expect((await t.get('/metrics')).text).to.include('gateway_credential_in_flight{provider="acme",credential="a"} 1');
    end();
    await stream;
    expect((await t.get('/metrics')).text).to.include('gateway_credential_in_flight{provider="acme",credential="a"} 0');
  });
});

describe('the circuit breaker of an instance', () => {
  it('does not count a key that is refused while another is ready, and counts that of the last', async () => {
    const clock = fakeClock();
    const vendor = await vendorOf((key) => (key === 'a' ? BAD_KEY : undefined));
    const t = await startPool(vendor, ['a', 'b', 'c'], {
      clock,
      random: () => 0,
      target: { circuit_breaker: { failure_threshold: 2, timeout: '1h' } },
    });
    const circuit = async (): Promise<string> => (await t.get('/admin/health')).json().targets[0].circuit;
    for (let at = 0; at < 10; at += 1) {
      await t.post('/v1/chat/completions', chat());
      clock.advance(61 * 60_000);
    }
    expect(vendor.keys.filter((key) => key === 'a')).to.have.lengthOf(10);
    expect(await circuit()).to.equal('closed');
    vendor.answers = () => BAD_KEY;
    for (let at = 0; at < 2; at += 1) {
      await t.post('/v1/chat/completions', chat());
      clock.advance(61 * 60_000);
    }
    await t.post('/v1/chat/completions', chat());
    expect(await circuit()).to.not.equal('closed');
  });
});
