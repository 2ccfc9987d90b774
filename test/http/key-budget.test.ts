import { expect } from 'chai';
import { NO_CATALOG } from '../../host/common/catalog.ts';
import type { Cost } from '../../host/contract/index.ts';
import {
  type Answer,
  ask,
  chatReply,
  eventually,
  openSse,
  replyJson,
  sseEvent,
  startHost,
  stubUpstream,
  type StubHandler,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { entries, RATES } from '../plugins/budget-scene.ts';
import { WITH_EMBEDDINGS } from '../plugins/kit.ts';

const CHAT = '/v1/chat/completions';
const MESSAGE = 'request rejected by budget (before_request): budget exceeded: ';

interface Scene {
  readonly t: TestHost;
  readonly upstream: StubUpstream;
  readonly id: string;
  readonly config: (plugins?: readonly object[]) => object;
  readonly send: (more?: object, bearer?: string, path?: string) => Promise<Answer>;
  readonly bearer: string;
}

const wholeOrStream: StubHandler = (seen, response) => {
  if (seen.json()['stream'] !== true) {
    replyJson(response, 200, chatReply('hello'));
    return;
  }
  openSse(response);
  response.end(
    [
      { id: 'c', choices: [{ index: 0, delta: { content: 'hello' }, finish_reason: 'stop' }] },
      { id: 'c', choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
      '[DONE]',
    ]
      .map(sseEvent)
      .join(''),
  );
};

/** A key with this budget, before an upstream of which every call costs 60 cents. */
async function scene(
  budgetUsd: number,
  plugins: readonly object[] = [],
  handler: StubHandler = wholeOrStream,
): Promise<Scene> {
  const upstream = await stubUpstream(handler);
  const targets = [upstream.target('a', {}, WITH_EMBEDDINGS)];
  const config = (more: readonly object[] = plugins): object => ({ targets, plugins: more });
  const t = await startHost(config());
  const cost: Cost = {
    totalUsd: 0.6,
    inputUsd: 0.6,
    outputUsd: 0,
    cacheReadUsd: 0,
    cacheWriteUsd: 0,
    reasoningUsd: 0,
    modelFound: true,
    priced: true,
    catalog: 'test',
  };
  const price = {
    input: 2,
    output: 3,
    cacheRead: undefined,
    cacheWrite: undefined,
    embedding: undefined,
    image: undefined,
  };
  const { services } = t.host;
  services.catalog = { ...NO_CATALOG, cost: () => cost, tokenPrice: () => price };
  const {
    key: bearer,
    record: { id },
  } = await t.host.stores.keys.create({ name: 'k', scopes: ['read_only'], limits: { budget_usd: budgetUsd } });
  return {
    t,
    upstream,
    id,
    config,
    bearer,
    send: (more = {}, credential = bearer, path = CHAT) =>
      t.post(path, path === CHAT ? ask('hi', more) : { model: 'm', ...more }, {
        authorization: `Bearer ${credential}`,
      }),
  };
}

const refusal = (answer: Answer): unknown[] => {
  const { type, code, message } = answer.json().error;
  return [answer.status, type, code, message, answer.headers.get('retry-after')];
};
const refused = (reason: string): unknown[] => [
  402,
  'insufficient_quota',
  'insufficient_quota',
  `${MESSAGE}${reason}`,
  null,
];

describe('a key with a budget', () => {
  it('is served until it is spent, the request that crosses it too, and then refused without a time', async () => {
    const { send, upstream, t, bearer } = await scene(1);
    expect([(await send()).status, (await send()).status]).to.deep.equal([200, 200]);
    for (const stream of [false, true])
      expect(refusal(await send({ stream }))).to.deep.equal(refused('spent $1.2000 of $1.00 limit'));
    expect(upstream.seen).to.have.length(2);
    expect((await t.get('/v1/models', { authorization: `Bearer ${bearer}` })).status).to.equal(200); // it costs nothing
  });

  it('is refused on every surface', async () => {
    const { send } = await scene(0.6);
    await send();
    expect(refusal(await send({ input: 'x' }, undefined, '/v1/embeddings'))).to.deep.equal(
      refused('spent $0.6000 of $0.60 limit'),
    );
    expect((await send({ prompt: 'x' }, undefined, '/v1/completions')).status).to.equal(402);
    expect((await send({ model: 'unserved', input: 'x' }, undefined, '/v1/embeddings')).status).to.equal(404); // as if there were no limit
  });

  it('shares it with its sessions, and with no other key', async () => {
    const { t, send, id } = await scene(1);
    const { token } = await t.host.stores.sessions.create({ credentialId: id, subject: 'k', scopes: ['read_only'] });
    const other = await t.host.stores.keys.create({ name: 'other', scopes: [], limits: { budget_usd: 1 } });
    expect([
      (await send({}, token)).status,
      (await send()).status,
      (await send({}, token)).status,
      (await send()).status,
    ]).to.deep.equal([200, 200, 402, 402]);
    expect((await send({}, other.key)).status).to.equal(200);
    expect((await t.post(CHAT, ask())).status).to.equal(200); // the master key has none
  });

  it('keeps what it spent when the configuration changes, or its budget does', async () => {
    const { t, send, id, config } = await scene(1);
    await send();
    await send();
    await t.apply(config([{ name: 'max-token', stage: 'before_request', enabled: true }]));
    expect((await send()).status).to.equal(402);
    await t.host.stores.keys.update(id, { limits: { budget_usd: 1.5 } }, 'another');
    expect((await send()).status).to.equal(200);
    expect(refusal(await send())).to.deep.equal(refused('spent $1.8000 of $1.50 limit'));
  });

  it('holds beside a budget plugin, and the plugin beside it', async () => {
    const strict = await scene(100, entries({ spend_limit_usd: 1 }));
    expect([(await strict.send()).status, (await strict.send()).status]).to.deep.equal([200, 200]);
    expect(refusal(await strict.send())).to.deep.equal(refused('spent $1.2000 of $1.00 limit'));
    const wide = await scene(1, entries({ ...RATES, spend_limit_usd: 1000 }));
    expect([(await wide.send()).status, (await wide.send()).status]).to.deep.equal([200, 200]);
    expect(refusal(await wide.send())).to.deep.equal(refused('spent $1.2000 of $1.00 limit'));
  });

  it('counts what is in flight, and gives back what failed', async () => {
    const gate = Promise.withResolvers<void>();
    let calls = 0;
    const { send, upstream } = await scene(0.0005, [], async (_request, response) => {
      calls += 1;
      if (calls === 1) await gate.promise;
      replyJson(response, 500, { error: { message: 'no' } });
    });
    const first = send({ max_tokens: 1000 }); // 2 + 3 * 1000 micro-dollars, of 500
    await eventually(() => upstream.seen.length === 1);
    expect(refusal(await send())).to.deep.equal(refused('spent $0.0000 of $0.00 limit'));
    gate.resolve();
    expect((await first).status).to.equal(502);
    expect((await send()).status).to.equal(502); // it was let in
  });

  it('pays for an answer that a plugin withholds, and not for one that a plugin gives', async () => {
    const filter = [
      { name: 'word-filter', stage: 'after_request', enabled: true, config: { blocked_words: ['hello'] } },
    ];
    const { send } = await scene(0.6, filter);
    expect([(await send()).status, (await send()).status]).to.deep.equal([502, 402]);
    const cached = ['before_request', 'after_request'].map((stage) => ({
      name: 'response-cache',
      stage,
      enabled: true,
    }));
    const hits = await scene(1, cached);
    for (let time = 0; time < 4; time += 1) expect((await hits.send()).status).to.equal(200);
    expect(hits.upstream.seen).to.have.length(1);
  });

  it('pays for streams by what they report, and for those that break off by what was delivered', async () => {
    const whole = await scene(0.6);
    expect((await whole.send({ stream: true })).status).to.equal(200);
    await eventually(() => whole.t.host.slot.leases === 0);
    expect((await whole.send()).status).to.equal(402);
    const broken = await scene(0.6, [], (_request, response) => {
      openSse(response);
      response.end(
        sseEvent({ id: 'c', choices: [{ index: 0, delta: { content: 'hello' }, finish_reason: null }] }) +
          sseEvent({ error: { message: 'broken' } }),
      );
    });
    expect((await broken.send({ stream: true })).text).to.include('"error"');
    await eventually(() => broken.t.host.slot.leases === 0);
    expect((await broken.send()).status).to.equal(402);
  });
});
