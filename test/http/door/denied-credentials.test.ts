import { expect } from 'chai';
import { as, NOBODY, startAdmin, type AdminHost } from '../../admin/kit.ts';
import { eventually, fakeClock } from '../../kit/index.ts';

const NOON = Date.parse('2026-11-22T12:00:00.000Z');
const PROXY = { TRUSTED_PROXIES: '127.0.0.1/32' };

const start = (variables: Record<string, string> = PROXY): Promise<AdminHost> =>
  startAdmin({ clock: fakeClock(NOON), variables });

async function denied(t: AdminHost, query = ''): Promise<any> {
  await eventually(() => t.host.activity.count === 0);
  const answer = await t.get(`/admin/logs/denied${query}`);
  expect(answer.status, answer.text).to.equal(200);
  return answer.json();
}

const from = (address: string): Record<string, string> => ({ 'x-forwarded-for': address });

describe('credentials that are not known', () => {
  it('are counted by address, on any path, without anything of them', async () => {
    const t = await start();
    await t.get('/v1/models', { ...NOBODY, ...from('10.0.0.1'), 'user-agent': 'first/1' });
    await t.get('/admin/keys', { ...as('gw_secret0123456789'), ...from('10.0.0.1'), 'user-agent': 'second/2' });
    await t.request('POST', '/admin/session', undefined, { ...as('gw_secret0123456789'), ...from('10.0.0.2') });
    const answer = await denied(t);
    expect(answer.data.map(({ user_agent: _agent, ...rest }: any) => rest)).to.deep.equal([
      row('10.0.0.2', 0, 1, '/admin/session'),
      row('10.0.0.1', 1, 1, '/admin/keys'),
    ]);
    expect(answer.data[1].user_agent).to.equal('second/2');
    expect(answer.summary).to.deep.equal({ addresses: 2, requests: 3, forgotten: 0 });
    expect(answer.since).to.equal('2026-11-22T12:00:00Z');
    expect(JSON.stringify(answer)).to.not.contain('secret');
  });

  it('count an IPv6 network of 64 bits as one address', async () => {
    const t = await start();
    for (const address of ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '2001:db8:1:3::1'])
      await t.get('/v1/models', { ...NOBODY, ...from(address) });
    expect((await denied(t)).data.map(({ address, missing }: any) => [address, missing])).to.deep.equal([
      ['2001:db8:1:3::/64', 1],
      ['2001:db8:1:2::/64', 2],
    ]);
  });

  it('forget the address that was seen least recently, and say how many', async () => {
    const t = await start();
    for (let at = 0; at < 1000; at += 1) t.host.denied.note(context(`10.1.${at >> 8}.${at & 255}`), 'missing');
    t.host.denied.note(context('10.1.0.0'), 'missing');
    t.host.denied.note(context('10.9.9.9'), 'missing');
    const { data, summary } = await denied(t, '?limit=1');
    expect([data[0].address, summary]).to.deep.equal(['10.9.9.9', { addresses: 1000, requests: 1002, forgotten: 1 }]);
    const last = await denied(t, '?limit=1&offset=999');
    expect(last.data[0].address).to.equal('10.1.0.2');
  });

  it('count a page that was left open once a minute and address', async () => {
    const t = await start();
    for (let at = 0; at < 5; at += 1) await t.get('/admin/keys', as(`gws_${'0'.repeat(64)}`));
    expect((await denied(t)).summary.requests).to.equal(1);
    for (let at = 0; at < 2; at += 1) await t.get('/v1/models', as(`gws_${'0'.repeat(64)}`));
    expect((await denied(t)).summary.requests).to.equal(3);
  });

  it('are none of known keys, of other refusals, or of limits by address', async () => {
    const t = await start({ ...PROXY, RATE_LIMIT_RPS: '1', RATE_LIMIT_BURST: '6' });
    const { key, id } = await t.makeKey();
    await t.get('/admin/keys', as(key));
    await t.get('/admin/keys/nowhere');
    await t.post(`/admin/keys/${id}/revoke`, undefined);
    await t.get('/v1/models', as(key));
    for (let at = 0; at < 9; at += 1) await t.get('/v1/models', { ...NOBODY, ...from('10.0.0.3') });
    const statuses = (await denied(t)).data;
    expect(statuses.map(({ address, missing }: any) => [address, missing])).to.deep.equal([['10.0.0.3', 6]]);
  });

  it('are without addresses and user agents where those are left out', async () => {
    const t = await start({ ...PROXY, REQUEST_LOG_OMIT: 'address,user_agent' });
    await t.get('/v1/models', { ...NOBODY, ...from('10.0.0.1') });
    expect((await denied(t)).data[0]).to.include({ address: 'omitted', user_agent: 'omitted', path: '/v1/models' });
  });
});

const row = (address: string, missing: number, invalid: number, path: string): object => ({
  address,
  missing,
  invalid,
  first_at: '2026-11-22T12:00:00Z',
  last_at: '2026-11-22T12:00:00Z',
  path,
});

const context = (address: string): any => ({
  address,
  request: { url: '/v1/x', headers: {}, rawHeaders: [] },
  protectedBy: { plane: 'data' },
});
