import { expect } from 'chai';
import { ask, chatReply, fakeClock, replyJson, stubUpstream } from '../../kit/index.ts';
import { type AdminHost, as, forBackends, type KeyObject, startAdmin } from '../kit.ts';

const NOW = Date.UTC(2026, 10, 27, 12, 30);
const ANSWER = { ...chatReply('hi'), usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 } };

forBackends('POST /admin/spend', (start) => {
  async function world(): Promise<{ t: AdminHost; key: KeyObject; chat: () => Promise<number> }> {
    const upstream = await stubUpstream((_request, response) => replyJson(response, 200, ANSWER));
    const t = await start(
      { clock: fakeClock(NOW), variables: { OPENAI_API_KEY: 'k-0123456789', OPENAI_BASE_URL: `${upstream.url}/v1` } },
      { targets: [{ virtual_key: 'openai', models: ['gpt-4o'] }] },
    );
    const budgets = [
      { usd: 50, every: 'day' },
      { tokens: 5000, every: 'day' },
      { requests: 50, every: 'day' },
    ];
    const key = await t.makeKey({ name: 'batch', tags: ['nightly'], budget_usd: 100, budgets });
    const chat = async (): Promise<number> =>
      (await t.request('POST', '/v1/chat/completions', { ...ask('hi'), model: 'gpt-4o' }, as(key.key))).status;
    return { t, key, chat };
  }

  const entry = (key: KeyObject, more: object = {}): object => ({
    idempotency_key: 'run-1',
    key_id: key.id,
    usd: 12.5,
    note: 'measured by the batch',
    ...more,
  });
  const left = async (t: AdminHost, key: KeyObject): Promise<number[]> =>
    (await t.get('/v1/key', as(key.key))).json().budgets.map(({ remaining }: any) => remaining);
  const total = async (t: AdminHost, query = ''): Promise<any> => (await t.get(`/admin/spend${query}`)).json();

  it('books dollars in every budget of the key and in the spend, and no request', async () => {
    const { t, key } = await world();
    const answer = await t.post('/admin/spend', entry(key, { model: 'm', provider: 'p', tags: ['extra', 'nightly'] }));
    expect([answer.status, answer.json()]).to.deep.equal([
      201,
      {
        idempotency_key: 'run-1',
        account: '',
        key_id: key.id,
        usd: 12.5,
        micro_usd: 12_500_000,
        at: '2026-11-27T12:30:00Z',
      },
    ]);
    expect(await left(t, key)).to.deep.equal([87.5, 37.5, 5000, 50]);
    const { data, summary } = await total(t, '?by=source,model,provider');
    expect(summary).to.include({ requests: 0, micro_usd: 12_500_000 });
    expect(data[0]).to.include({ source: 'entered', model: 'm', provider: 'p' });
    expect((await total(t, '?by=tag')).data.map(({ tag }: any) => tag)).to.deep.equal(['extra', 'nightly']);
    const [row] = await t.trail('&action=spend.enter');
    expect(row).to.include({ outcome: 'ok', target_id: key.id });
    expect(JSON.parse(row!['detail'])).to.deep.equal({
      account: '',
      key: key.id,
      usd: 12.5,
      note: 'measured by the batch',
    });
  });

  it('books dollars of a key in those of its account, of the accounts above it and of its tags', async () => {
    const { t } = await world();
    const budgets = [{ usd: 50, every: 'day' }, { requests: 9 }];
    for (const path of ['/', '/acme', '/acme/search', '#nightly']) await t.post('/admin/accounts', { path, budgets });
    await t.post('/admin/accounts', { path: '#other', budgets: [{ usd: 50, models: ['x*'] }] });
    const key = await t.makeKey({ account: '/acme/search', tags: ['nightly', 'other'] });
    const answer = await t.post('/admin/spend', entry(key, { model: 'm' }));
    expect([answer.status, answer.json().account]).to.deep.equal([201, '/acme/search']);
    const accounts: any[] = (await t.get('/admin/accounts')).json().data;
    const spent = accounts.map(({ path, budgets: shown }) => [path, ...shown.map(({ state }: any) => state.spent)]);
    expect(spent).to.deep.equal([
      ['#nightly', 12.5, 0],
      ['#other', 0],
      ['/', 12.5, 0],
      ['/acme', 12.5, 0],
      ['/acme/search', 12.5, 0],
    ]);
    expect((await total(t, '?by=account')).data[0]).to.include({ account: '/acme/search', usd: 12.5 });
  });

  it('books once, however often it comes, and refuses another body', async () => {
    const { t, key } = await world();
    const answers = await Promise.all(Array.from({ length: 50 }, () => t.post('/admin/spend', entry(key))));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).to.deep.equal([...Array.from({ length: 49 }, () => 200), 201]);
    expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
    expect((await total(t)).summary.micro_usd).to.equal(12_500_000);
    expect(await left(t, key)).to.deep.equal([87.5, 37.5, 5000, 50]);
    const other = await t.post('/admin/spend', entry(key, { usd: 12.6 }));
    expect([other.status, other.json().error.code]).to.deep.equal([409, 'idempotency_conflict']);
    expect((await total(t)).summary.micro_usd).to.equal(12_500_000);
    expect((await t.trail('&action=spend.enter&outcome=ok')).length).to.equal(1);
  });

  it('takes back what was spent, and refuses a correction below 0 as a whole', async () => {
    const { t, key, chat } = await world();
    expect(await chat()).to.equal(200); // 3,500 micro-dollars
    const correct = (usd: number, id: string) =>
      t.post('/admin/spend', entry(key, { idempotency_key: id, usd, note: 'billed twice' }));
    const refused = await correct(-0.003501, 'a');
    expect([refused.status, refused.json().error.code]).to.deep.equal([400, 'invalid_request']);
    expect((await total(t)).summary.micro_usd).to.equal(3500);
    expect((await correct(-0.0035, 'a')).status, 'a refused key is free').to.equal(201);
    expect((await total(t)).summary).to.include({ micro_usd: 0, requests: 1 });
    expect((await left(t, key)).slice(0, 2)).to.deep.equal([100, 50]);
    const [corrected] = (await total(t, '?by=source&sort=name')).data;
    expect(corrected).to.include({ source: 'correction', micro_usd: -3500 });
  });

  it('books the window of its moment, also one that has ended', async () => {
    const { t, key } = await world();
    const answer = await t.post('/admin/spend', entry(key, { at: '2026-11-25T10:00:00Z' }));
    expect([answer.status, answer.json().at]).to.deep.equal([201, '2026-11-25T10:00:00Z']);
    expect(await left(t, key)).to.deep.equal([87.5, 50, 5000, 50]);
    if (t.host.stores.keys.backend !== 'memory')
      expect((await total(t, '?bucket=day')).data[0].bucket).to.equal('2026-11-25T00:00:00Z');
  });

  it('refuses a body that is wrong, by the member', async () => {
    const { t, key } = await world();
    for (const [more, said] of [
      [{ idempotency_key: '' }, 'idempotency_key'],
      [{ idempotency_key: 'x'.repeat(129) }, 'idempotency_key'],
      [{ account: '/acme' }, 'account and key_id'],
      [{ key_id: undefined }, 'account and key_id'],
      [{ key_id: undefined, account: '/nowhere' }, '/nowhere'],
      [{ key_id: 'key_none' }, 'key_none'],
      [{ usd: 0 }, 'usd'],
      [{ usd: 1e6 + 1 }, 'usd'],
      [{ usd: -1e6 - 1 }, 'usd'],
      [{ usd: 0.0000001 }, 'usd'],
      [{ usd: '1' }, 'usd'],
      [{ usd: undefined }, 'usd'],
      [{ note: ' ' }, 'note'],
      [{ tags: ['#x'] }, 'tags'],
      [{ tags: Array.from({ length: 11 }, (_tag, at) => `t${at}`) }, 'tags'],
      [{ at: 'yesterday' }, 'at'],
      [{ at: '2026-11-27T12:30:01Z' }, 'at'],
      [{ at: '2026-10-23T12:29:59Z' }, 'at'],
      [{ usd_cents: 1, other: 2 }, '"usd_cents", "other"'],
    ] as const) {
      const answer = await t.post('/admin/spend', entry(key, more));
      expect([answer.status, answer.json().error.code], JSON.stringify(more)).to.deep.equal([400, 'invalid_request']);
      expect(answer.json().error.message).to.contain(said);
    }
    expect((await total(t)).summary.micro_usd).to.equal(0);
    const reader = await t.makeKey();
    expect((await t.request('POST', '/admin/spend', entry(key), as(reader.key))).status).to.equal(403);
  });
});

describe('POST /admin/spend, where spend is off', () => {
  it('is 501', async () => {
    const t = await startAdmin({ variables: { GW_SPEND: 'off' } });
    expect((await t.post('/admin/spend', {})).status).to.equal(501);
  });
});
