import { expect } from 'chai';
import type { KeyLimits } from '../../host/common/host-principal.ts';
import { ask, chatReply, fakeClock, replyJson, startHost, stubUpstream, type TestHost } from '../kit/index.ts';

const CHAT = '/v1/chat/completions';

interface Limited {
  readonly t: TestHost;
  readonly clock: ReturnType<typeof fakeClock>;
  /** Status and, of a refusal, its code; which target served, of an answer. */
  readonly call: (model?: string, bearer?: string) => Promise<string>;
  readonly headers: Record<string, string>;
  readonly id: string;
}

/** Two targets, `a` with the models m and only-a, `b` with m and only-b, and a key with these limits. */
async function withLimits(limits: KeyLimits, config: object = {}): Promise<Limited> {
  const clock = fakeClock();
  const reply = { ...chatReply('hello'), usage: { prompt_tokens: 30, completion_tokens: 10, total_tokens: 40 } };
  const stub = await stubUpstream((_request, response) => replyJson(response, 200, reply));
  const targets = [
    { ...stub.target('a'), models: ['m', 'only-a'] },
    { ...stub.target('b'), models: ['m', 'only-b'] },
  ];
  const t = await startHost(
    { strategy: { mode: 'fallback' }, aliases: { quick: 'only-a' }, targets, ...config },
    { clock },
  );
  const {
    key,
    record: { id },
  } = await t.host.stores.keys.create({ name: 'limited', scopes: ['read_only'], limits });
  const headers = { authorization: `Bearer ${key}` };
  const call = async (model = 'm', bearer = key): Promise<string> => {
    const answer = await t.post(CHAT, { ...ask(), model }, { authorization: `Bearer ${bearer}` });
    return answer.status === 200
      ? `200 ${answer.headers.get('x-gateway-target')}`
      : `${answer.status} ${answer.json().error.code}`;
  };
  return { t, clock, call, headers, id };
}

describe('a key with a list of models', () => {
  it('gets no other, whether or not it exists', async () => {
    const { call } = await withLimits({ models: ['m', 'unheard-of'] });
    expect(
      await Promise.all(['m', 'only-a', 'nowhere', 'unheard-of', 'quick'].map((model) => call(model))),
    ).to.deep.equal([
      '200 a',
      '404 model_not_found',
      '404 model_not_found',
      '404 model_not_found',
      '404 model_not_found',
    ]);
  });

  it('gets what an alias in it stands for', async () => {
    const { call } = await withLimits({ models: ['quick'] });
    expect(await Promise.all([call('quick'), call('m')])).to.deep.equal(['200 a', '404 model_not_found']);
  });

  it('sees no other in the list', async () => {
    const { t, headers } = await withLimits({ models: ['only-b', 'nowhere'] });
    const listed = (await t.get('/v1/models', headers)).json().data as { id: string }[];
    expect(listed.map(({ id }) => id)).to.deep.equal(['only-b']);
    expect([
      (await t.get('/v1/models/only-b', headers)).status,
      (await t.get('/v1/models/m', headers)).status,
      (await t.get('/v1/models/m')).status,
    ]).to.deep.equal([200, 404, 200]);
    expect((await t.get('/v1/models')).json().data).to.have.length(3);
  });

  it('gets nothing when the list is empty', async () => {
    const { t, call, headers } = await withLimits({ models: [] });
    expect(await call()).to.equal('404 model_not_found');
    expect((await t.get('/v1/models', headers)).json().data).to.deep.equal([]);
  });
});

describe('a key with a list of providers', () => {
  it('is served by no other', async () => {
    const { call } = await withLimits({ providers: ['b'] });
    expect(await Promise.all(['m', 'only-b', 'only-a'].map((model) => call(model)))).to.deep.equal([
      '200 b',
      '200 b',
      '404 model_not_found',
    ]);
  });

  it('sees its models as those that serve it own them', async () => {
    const { t, headers } = await withLimits({ providers: ['b', 'not-a-target'] });
    const listed = (await t.get('/v1/models', headers)).json().data as { id: string; owned_by: string }[];
    expect(listed.map(({ id, owned_by }) => `${id} ${owned_by}`)).to.deep.equal(['m b', 'only-b b']);
    expect(Object.keys((await t.get('/v1/capabilities', headers)).json().providers)).to.deep.equal(['b']);
  });

  it('is not found where the strategy names another', async () => {
    const { call } = await withLimits({ providers: ['b'] }, { strategy: { mode: 'single' } });
    expect(await call()).to.equal('404 model_not_found');
  });
});

describe('a key with requests per minute', () => {
  it('waits until they refill, on every route below /v1', async () => {
    const { t, clock, call, headers } = await withLimits({ rpm: 2 });
    expect([await call(), (await t.get('/v1/models', headers)).status]).to.deep.equal(['200 a', 200]);
    const refused = await t.get('/v1/unknown', headers);
    expect([
      refused.status,
      refused.json().error.type,
      refused.json().error.code,
      refused.headers.get('retry-after'),
    ]).to.deep.equal([429, 'rate_limit_error', 'rate_limit_exceeded', '30']);
    clock.advance(29_000);
    expect((await t.get('/v1/models', headers)).headers.get('retry-after')).to.equal('1');
    clock.advance(1000);
    expect(await call()).to.equal('200 a');
    expect(
      t.samples.filter(
        ({ name, labels }) => name === 'gateway_rate_limit_rejections_total' && labels['key_type'] === 'plugin',
      ),
    ).to.have.length(2);
  });

  it('shares them with its sessions, however many there are, and with no other key', async () => {
    const { t, call, id } = await withLimits({ rpm: 2 });
    const draft = { credentialId: id, subject: 'limited', scopes: ['read_only'] as const };
    const sessions = [await t.host.stores.sessions.create(draft), await t.host.stores.sessions.create(draft)];
    expect([
      await call(),
      await call('m', sessions[0]?.token),
      await call('m', sessions[1]?.token),
      await call(),
    ]).to.deep.equal(['200 a', '200 a', '429 rate_limit_exceeded', '429 rate_limit_exceeded']);
    expect((await t.post(CHAT, { ...ask(), model: 'm' })).status).to.equal(200);
  });

  it('keeps what it has used when its limits change', async () => {
    const { t, call, id } = await withLimits({ rpm: 1 });
    expect([await call(), await call()]).to.deep.equal(['200 a', '429 rate_limit_exceeded']);
    await t.host.stores.keys.update(id, { name: 'renamed' }, 'another');
    expect(await call()).to.equal('429 rate_limit_exceeded');
    await t.host.stores.keys.update(id, { limits: { rpm: null } }, 'another');
    expect(await call()).to.equal('200 a');
  });
});

describe('a key with tokens per minute', () => {
  it('is admitted while any are left, and pays what it really used', async () => {
    const { clock, call } = await withLimits({ tpm: 60 });
    expect([await call(), await call(), await call()]).to.deep.equal(['200 a', '200 a', '429 rate_limit_exceeded']); // 60 - 40 - 40
    clock.advance(20_000);
    expect(await call()).to.equal('429 rate_limit_exceeded'); // 0 is not above zero
    clock.advance(1000);
    expect(await call()).to.equal('200 a');
  });

  it('says when the next request may come', async () => {
    const { t, headers, call } = await withLimits({ tpm: 60 });
    await call();
    await call();
    expect((await t.get('/v1/models', headers)).headers.get('retry-after')).to.equal('20');
  });
});
