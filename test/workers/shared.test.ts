import { expect } from 'chai';
import { chatReply, forSuite, type GatewayProcess, replyJson, type StubUpstream, stubUpstream } from '../kit/index.ts';
import {
  atOnce,
  chat,
  CHAT,
  counted,
  instance,
  makeKey,
  type Reply,
  send,
  startWorkers,
  patiently,
} from './gateway.ts';

/** What one process keeps in memory is one for all workers too, as docs/workers.md says. */
describe('what three workers share', () => {
  let stub: StubUpstream;
  let seen: string[] = [];
  let hold: Promise<void> | undefined;
  let statuses = new Map<string, number>();
  let gateway: GatewayProcess;
  const ask = (body: object, more: object = {}): Promise<Reply> => send(`${gateway.url}${CHAT}`, { body, ...more });

  forSuite(async () => {
    stub = await stubUpstream(async (request, response) => {
      const { model } = request.json() as { model: string };
      seen.push(`${model} ${String(request.headers['authorization'])}`);
      await hold;
      const status = statuses.get(model) ?? 200;
      if (status === 200)
        replyJson(response, 200, {
          ...chatReply('hello'),
          usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
        });
      else
        replyJson(
          response,
          status,
          { error: { message: 'no', code: 'no' } },
          status === 429 ? { 'retry-after': '30' } : {},
        );
    });
    const model = (name: string, more: object = {}): object => ({ virtual_key: name, models: [name], ...more });
    gateway = await startWorkers(
      {
        strategy: { mode: 'fallback' },
        targets: [
          model('cached'),
          model('breaks', { circuit_breaker: { failure_threshold: 1, timeout: '10m' } }),
          model('rests'),
          model('pooled'),
          model('spare', { models: ['rests'] }),
        ],
        providers: {
          cached: instance(stub.url, { models: ['cached'] }),
          breaks: instance(stub.url, { models: ['breaks'] }),
          rests: instance(stub.url, { models: ['rests'] }),
          spare: instance(stub.url, { models: ['rests'] }),
          pooled: {
            kind: 'openai-compatible',
            base_url: stub.url,
            models: ['pooled'],
            credentials: [
              { name: 'a', api_key: '${STUB_KEY}', max_concurrency: 1 },
              { name: 'b', api_key: '${OTHER_KEY}', max_concurrency: 1 },
            ],
          },
        },
        plugins: [
          { name: 'response-cache', stage: 'before_request', enabled: true, config: { collapse: true } },
          { name: 'response-cache', stage: 'after_request', enabled: true, config: { collapse: true } },
        ],
      },
      { OTHER_KEY: 'sk-other-of-tests', RATE_LIMIT_RPS: '0' },
    );
  });

  beforeEach(() => {
    seen = [];
    hold = undefined;
    statuses = new Map();
  });

  it('are answers of the cache, and calls that others wait for', async () => {
    const body = chat({ model: 'cached' });
    const replies = await atOnce(30, () => ask(body));
    expect(counted(replies, 200)).to.equal(30);
    expect(seen).to.have.lengthOf(1);
    const again = await atOnce(12, () => ask(body));
    expect(again.filter(({ headers }) => headers['x-gateway-cache'] === 'hit')).to.have.lengthOf(12);
    expect(seen).to.have.lengthOf(1);
  });

  it('are places of credentials', async () => {
    const held = Promise.withResolvers<void>();
    hold = held.promise;
    let answered = 0;
    const asking = atOnce(8, async (at) => {
      const reply = await ask(chat({ model: 'pooled', user: `u${at}` }));
      answered += 1;
      return reply;
    });
    await patiently(() => seen.length === 2 && answered === 6);
    held.resolve();
    const replies = await asking;
    expect(counted(replies, 200)).to.equal(2);
    expect(counted(replies, 503) + counted(replies, 429)).to.equal(6);
    expect(new Set(seen).size).to.equal(2);
    await patiently(async () => (await ask(chat({ model: 'pooled', user: 'later' }))).status === 200);
  });

  it('are circuits that opened', async () => {
    statuses.set('breaks', 500);
    await ask(chat({ model: 'breaks', user: 'x' }));
    await patiently(async () => {
      seen = [];
      await atOnce(12, (at) => ask(chat({ model: 'breaks', user: `c${at}` })));
      return seen.length === 0;
    });
    const replies = await atOnce(20, (at) => ask(chat({ model: 'breaks', user: `d${at}` })));
    expect(counted(replies, 503)).to.equal(20);
    expect(seen).to.deep.equal([]);
    const { json } = await send(`${gateway.url}/admin/health`);
    expect(json.targets.find(({ name }: { name: string }) => name === 'breaks').circuit).to.equal('open');
  });

  it('are places of accounts', async () => {
    const made = await send(`${gateway.url}/admin/accounts`, { body: { path: '/acme', max_parallel: 2 } });
    expect(made.status, made.text).to.be.equal(201);
    const { key } = await makeKey(gateway.url, { account: '/acme' });
    const held = Promise.withResolvers<void>();
    hold = held.promise;
    let answered = 0;
    const asking = atOnce(8, async (at) => {
      const reply = await ask(chat({ model: 'cached', user: `p${at}` }), { key });
      answered += 1;
      return reply;
    });
    await patiently(() => seen.length === 2 && answered === 6);
    held.resolve();
    const replies = await asking;
    expect(counted(replies, 200)).to.equal(2);
    expect(counted(replies, 429)).to.equal(6);
    await patiently(async () => (await ask(chat({ model: 'cached', user: 'after' }), { key })).status === 200);
  });

  it('are limits of an account, as soon as they are changed', async () => {
    await send(`${gateway.url}/admin/accounts`, { body: { path: '/slow', rpm: 5 } });
    const { key } = await makeKey(gateway.url, { account: '/slow' });
    expect(counted(await atOnce(20, () => ask(chat({ model: 'cached' }), { key })), 200)).to.equal(5);
  });
});
