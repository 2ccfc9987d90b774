import { expect } from 'chai';
import type { AdminHost, KeyObject } from '../kit.ts';
import { as, forBackends, startAdmin } from '../kit.ts';
import { ask, fakeClock, replyJson, chatReply, stubUpstream } from '../../kit/index.ts';

const NOW = Date.UTC(2026, 10, 27, 12, 30);
/** 1,000 and 100 tokens of gpt-4o: 2.50 and 10 dollars a million. */
const ANSWER = { ...chatReply('hi'), usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 } };
const COST = 0.0035;

forBackends('GET /admin/spend', (start) => {
  async function world(): Promise<{ t: AdminHost; chat: (key: string, model?: string) => Promise<number> }> {
    const upstream = await stubUpstream((_request, response) => replyJson(response, 200, ANSWER));
    const t = await start(
      {
        clock: fakeClock(NOW),
        variables: { OPENAI_API_KEY: 'k-0123456789', OPENAI_BASE_URL: `${upstream.url}/v1` },
      },
      { targets: [{ virtual_key: 'openai', models: ['gpt-4o', 'priceless'] }] },
    );
    const chat = async (key: string, model = 'gpt-4o'): Promise<number> =>
      (await t.request('POST', '/v1/chat/completions', { ...ask('hi'), model }, as(key))).status;
    return { t, chat };
  }

  const spend = async (t: AdminHost, query = ''): Promise<Record<string, any>> => {
    const answer = await t.get(`/admin/spend${query}`);
    expect(answer.status, answer.text).to.equal(200);
    return answer.json();
  };

  it('shows at once what requests have cost, by key, model and hour, to the micro-dollar', async () => {
    const { t, chat } = await world();
    const first = await t.makeKey({ name: 'first', tags: ['nightly', '#not-a-tag'] });
    const second = await t.makeKey({ name: 'second' });
    for (const [{ key }, model] of [[first], [first], [second], [second, 'priceless']] as [KeyObject, string?][])
      expect(await chat(key, model)).to.equal(200);
    const { data, summary } = await spend(t, '?by=key&bucket=hour');
    expect(summary).to.deep.equal({ requests: 4, usd: 0.0105, micro_usd: 10_500, groups: 2, returned: 2 });
    const rest = { cache_read_tokens: 0, cache_write_tokens: 0, images: 0, estimated_usd: 0, reported_usd: 0 };
    const bucket = '2026-11-27T12:00:00Z';
    expect(data).to.deep.equal([
      {
        bucket,
        key: first.id,
        key_name: 'first',
        requests: 2,
        prompt_tokens: 2000,
        completion_tokens: 200,
        unpriced: 0,
        usd: 2 * COST,
        micro_usd: 7000,
        ...rest,
      },
      {
        bucket,
        key: second.id,
        key_name: 'second',
        requests: 2,
        prompt_tokens: 2000,
        completion_tokens: 200,
        unpriced: 1,
        usd: COST,
        micro_usd: 3500,
        ...rest,
      },
    ]);
    const models = await spend(t, `?by=model,target&key=${second.id}`);
    expect(models['data'].map(({ model, target, micro_usd }: any) => [model, target, micro_usd])).to.deep.equal([
      ['gpt-4o', 'openai', 3500],
      ['priceless', 'openai', 0],
    ]);
    const tags = await spend(t, '?by=tag');
    expect(tags['data'].map(({ tag, requests }: any) => [tag, requests])).to.deep.equal([
      ['nightly', 2],
      ['', 2],
    ]);
    expect(tags['summary']).to.include({ untagged_usd: COST });
    expect((await spend(t, '?to=2026-11-27T12:00:00Z'))['summary']).to.include({ requests: 0 });
    await t.request('DELETE', `/admin/keys/${second.id}`);
    expect((await spend(t, '?by=key'))['data'][1]).to.include({ key: second.id, key_name: '' });
  });

  it('adds up to the same as CSV and as FOCUS, which are downloads', async () => {
    const { t, chat } = await world();
    const { key } = await t.makeKey({ name: '=cmd' });
    await chat(key);
    await chat(key);
    const csv = await t.get('/admin/spend?by=key,model&format=csv');
    expect(csv.headers.get('content-type')).to.equal('text/csv; charset=utf-8');
    expect(csv.headers.get('content-disposition')).to.equal('attachment; filename="spend.csv"');
    expect(csv.text.split('\r\n')[1]).to.match(/,'=cmd,gpt-4o,2,2000,200,0,0,0,0,0\.007,7000,0,0$/);
    const focus = await t.get('/admin/spend?format=focus');
    expect(focus.headers.get('content-disposition')).to.equal('attachment; filename="focus.csv"');
    const [header = '', row = ''] = focus.text.split('\r\n');
    expect(row.split(',')[header.split(',').indexOf('BilledCost')]).to.equal('0.007');
  });
});

describe('GET /admin/spend, which keeps nothing', () => {
  it('is 501 whatever is asked, once a credential is known', async () => {
    const t = await startAdmin({ variables: { GW_SPEND: 'off' } });
    for (const query of ['', '?by=colour', '?format=csv']) {
      const answer = await t.get(`/admin/spend${query}`);
      expect([answer.status, answer.json().error.code]).to.deep.equal([501, 'not_implemented']);
      expect(answer.json().error.message).to.contain('GW_SPEND');
    }
    expect((await t.get('/admin/spend', { authorization: '' })).status).to.equal(401);
  });

  it('names a bad parameter', async () => {
    const t = await startAdmin();
    const answer = await t.get('/admin/spend?by=colour');
    expect([answer.status, answer.json().error.code]).to.deep.equal([400, 'invalid_request']);
    expect(answer.json().error.message).to.match(/^by /);
  });
});
