import { expect } from 'chai';
import { fakeClock, MASTER_KEY } from '../kit/index.ts';
import { type AdminHost, as, forBackends, NOBODY, refusal, startAdmin } from './kit.ts';

const START = Date.UTC(2026, 0, 31, 12);
const UNKNOWN = '00000000-0000-0000-0000-000000000000';
const TRACE = 'abcdef0123456789abcdef0123456789';
const detailOf = ({ detail }: Record<string, any>): unknown =>
  detail === undefined ? undefined : JSON.parse(detail as string);

/** Action, target, outcome and detail of each row, oldest first. */
async function told(t: AdminHost): Promise<unknown[]> {
  return (await t.trail()).toReversed().map((row) => [row['action'], row['target_id'], row['outcome'], detailOf(row)]);
}

forBackends('the audit trail', (start) => {
  it('has a row for every change of a key', async () => {
    const t = await start();
    const { id } = await t.makeKey({ name: 'one', scopes: ['read_only', 'admin'] });
    const spare = await t.adminKey('spare');
    await t.request('PUT', `/admin/keys/${id}`, { name: 'two' });
    await t.request('PUT', `/admin/keys/${id}`, {});
    await t.post(`/admin/keys/${id}/rotate`, { grace_seconds: 5 });
    await t.post(`/admin/keys/${id}/revoke`, undefined);
    await t.post(`/admin/keys/${id}/revoke`, undefined);
    await t.request('DELETE', `/admin/keys/${id}`);
    const scopes = ['read_only', 'admin'];
    expect(await told(t)).to.deep.equal([
      ['key.create', id, 'ok', { name: 'one', scopes }],
      ['key.create', spare.id, 'ok', { name: 'spare', scopes: ['admin'] }],
      ['key.update', id, 'ok', { name: 'two', scopes }],
      ['key.update', id, 'ok', { name: 'two', scopes }],
      ['key.rotate', id, 'ok', undefined],
      ['key.revoke', id, 'ok', undefined],
      ['key.revoke', id, 'ok', undefined],
      ['key.delete', id, 'ok', undefined],
    ]);
  });

  it('has a row for every change of a key that does not exist', async () => {
    const t = await start();
    await t.request('PUT', `/admin/keys/${UNKNOWN}`, { name: 'x' });
    await t.request('DELETE', `/admin/keys/${UNKNOWN}`);
    await t.post(`/admin/keys/${UNKNOWN}/revoke`, undefined);
    await t.post(`/admin/keys/${UNKNOWN}/rotate`, undefined);
    const error = `there is no key "${UNKNOWN}"`;
    expect(await told(t)).to.deep.equal(
      ['update', 'delete', 'revoke', 'rotate'].map((action) => [`key.${action}`, UNKNOWN, 'error', { error }]),
    );
  });

  it('keeps no more of an id or a moment than one can have', async () => {
    const t = await start();
    const long = 'x'.repeat(100_000);
    expect((await t.request('DELETE', `/admin/keys/${long}`)).status).to.equal(404);
    expect((await t.request('DELETE', `/admin/sessions/${long}`)).status).to.equal(204);
    expect((await t.post(`/admin/config/rollback/${'9'.repeat(100_000)}`, undefined)).status).to.equal(404);
    for (const row of await t.trail()) expect(JSON.stringify(row).length, row['action'] as string).to.be.lessThan(4000);
    expect(await t.trail()).to.have.lengthOf(3);
    expect(
      t.texts.every((text) => text.length < 10_000),
      'nor do log lines',
    ).to.equal(true);
  });

  it('has a row for every session that is made, refused or ended', async () => {
    const t = await start();
    const key = await t.makeKey({ name: 'ada' });
    const { token } = await t.signIn(key.key);
    const own = await t.newestSession();
    await t.request('POST', '/admin/session', undefined, as('gw_wrong'));
    await t.request('POST', '/admin/session', undefined, as(token));
    await t.request('DELETE', '/admin/session', undefined, as(token));
    await t.signIn(MASTER_KEY);
    const other = await t.newestSession();
    await t.request('DELETE', `/admin/sessions/${other}`);
    await t.request('DELETE', '/admin/sessions/unknown');
    await t.request('DELETE', '/admin/sessions');
    const master = (await t.trail())[0]!['actor_id'] as string;
    expect((await told(t)).slice(1)).to.deep.equal([
      ['session.create', key.id, 'ok', { subject: 'ada' }],
      ['session.create', '*', 'denied', { reason: 'invalid_api_key' }],
      ['session.create', '*', 'denied', { reason: 'invalid_api_key' }],
      ['session.logout', own, 'ok', undefined],
      ['session.create', master, 'ok', { subject: master }],
      ['session.revoke', other, 'ok', undefined],
      ['session.revoke', 'unknown', 'ok', undefined],
      ['session.revoke_all', '*', 'ok', { count: 0 }],
    ]);
  });

  it('has none for what is only looked at or refused before it began', async () => {
    const t = await start();
    const reader = await t.makeKey();
    const before = await t.trail();
    for (const path of [
      '/admin/keys',
      '/admin/keys/usage',
      `/admin/keys/${reader.id}`,
      '/admin/sessions',
      '/admin/audit',
      '/admin/nowhere',
    ])
      await t.get(path);
    await t.post('/admin/keys', '{');
    await t.post('/admin/keys', { name: '' });
    await t.post('/admin/keys', { name: 'x', scopes: ['bad'] });
    await t.request('PUT', `/admin/keys/${reader.id}`, { scopes: ['bad'] });
    await t.post(`/admin/keys/${reader.id}/rotate`, { grace_seconds: -1 });
    await t.post('/admin/keys', { name: 'x' }, as(reader.key));
    await t.post('/admin/keys', { name: 'x' }, as('gw_wrong'));
    await t.request('POST', '/admin/session', undefined, NOBODY);
    await t.request('DELETE', '/admin/session');
    await t.request('PATCH', '/admin/keys');
    await t.get('/admin/audit?limit=0');
    expect(await t.trail()).to.deep.equal(before);
  });

  it('names who did it: the key, the master key, or the credential behind a session', async () => {
    const clock = fakeClock(START);
    const t = await start({ clock });
    const admin = await t.adminKey('ada (ops)');
    const { token } = await t.signIn(admin.key);
    clock.advance(1234);
    await t.request('PUT', `/admin/keys/${admin.id}`, { name: 'renamed' });
    for (const credential of [admin.key, token]) {
      const answer = await t.request('DELETE', '/admin/sessions/x', undefined, {
        ...as(credential),
        'x-forwarded-for': '203.0.113.7, 127.0.0.1',
        'x-request-id': TRACE.toUpperCase(),
      });
      expect(answer.headers.get('x-request-id')).to.equal(TRACE);
    }
    const [bySession, byKey, byMaster] = await t.trail();
    const common = {
      occurred_at: '2026-01-31T12:00:01.234Z',
      action: 'session.revoke',
      target_id: 'x',
      outcome: 'ok',
      source_ip: '203.0.113.7',
      trace_id: TRACE,
    };
    expect(byKey).to.deep.equal({ ...common, actor: `renamed (${admin.id})`, actor_id: admin.id });
    expect(bySession).to.deep.equal({ ...common, actor: `ada (ops) (${admin.id})`, actor_id: admin.id });
    expect(Object.keys(byKey!)).to.deep.equal([
      'occurred_at',
      'action',
      'actor',
      'actor_id',
      'target_id',
      'outcome',
      'source_ip',
      'trace_id',
    ]);
    expect(byMaster!['actor'])
      .to.match(/^master-key:[0-9a-f]{16}$/)
      .and.equal(byMaster!['actor_id']);
    const denied = await t.request('POST', '/admin/session', undefined, as('gw_wrong'));
    const [row] = await t.trail();
    expect(row).to.deep.equal({
      occurred_at: common.occurred_at,
      action: 'session.create',
      actor: 'unattributed',
      target_id: '*',
      outcome: 'denied',
      detail: '{"reason":"invalid_api_key"}',
      source_ip: '127.0.0.1',
      trace_id: denied.headers.get('x-request-id'),
    });
  });

  it('is listed newest first, by pages, with every filter', async () => {
    const clock = fakeClock(START);
    const t = await start({ clock });
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c']) ids.push((await t.makeKey({ name })).id); // at one moment
    clock.advance(1000);
    await t.request('DELETE', `/admin/keys/${UNKNOWN}`);
    const admin = await t.adminKey();
    await t.request('DELETE', `/admin/keys/${ids[0]}`, undefined, as(admin.key));
    const page = async (query: string): Promise<any> => (await t.get(`/admin/audit${query}`)).json();
    const targets = async (query: string): Promise<string[]> =>
      ((await page(query)).data as { target_id: string }[]).map(({ target_id }) => target_id);
    expect(await targets('')).to.deep.equal([ids[0], admin.id, UNKNOWN, ...ids.toReversed()]);
    expect(await targets('?limit=2&offset=2')).to.deep.equal([UNKNOWN, ids[2]]);
    const answer = await page('?limit=2&offset=2');
    expect(Object.entries(answer).slice(1)).to.deep.equal([
      ['summary', { total_entries: 6, returned_entries: 2 }],
      ['filters', { limit: 2, offset: 2 }],
    ]);
    expect((await page('')).filters).to.deep.equal({ limit: 50, offset: 0 });
    expect((await page('?limit=999')).filters).to.deep.equal({ limit: 200, offset: 0 });
    expect(await targets('?action=key.create')).to.deep.equal([admin.id, ...ids.toReversed()]);
    expect(await targets(`?actor_id=${admin.id}`)).to.deep.equal([ids[0]]);
    expect(await targets('?outcome=error')).to.deep.equal([UNKNOWN]);
    expect(await targets('?since=2026-01-31T12:00:01Z')).to.deep.equal([ids[0], admin.id, UNKNOWN]);
    expect(await targets('?since=2026-01-31T12:00:01.001Z')).to.deep.equal([]);
    expect(await targets('?action=Key.Create')).to.deep.equal([]);
    expect(
      (await page(`?action=key.create&actor_id=${admin.id}&outcome=ok&since=2026-01-31T14:00:00%2B02:00`)).filters,
    ).to.deep.equal({
      limit: 50,
      offset: 0,
      action: 'key.create',
      actor_id: admin.id,
      outcome: 'ok',
      since: '2026-01-31T14:00:00+02:00',
    });
    expect((await page('?offset=100')).summary).to.deep.equal({ total_entries: 6, returned_entries: 0 });
  });

  it('checks limit, offset, since and outcome, in this order', async () => {
    const t = await start();
    const query = ['limit=x', 'offset=1.5', 'since=now', 'outcome=OK'];
    for (let at = 0; at < query.length; at += 1) {
      const answer = await t.get(`/admin/audit?${query.slice(at).toReversed().join('&')}`);
      expect(refusal(answer)).to.deep.equal([400, 'invalid_request']);
      expect(answer.json().error.message).to.match(new RegExp(`^${query[at]!.split('=')[0]} is `));
    }
    for (const empty of ['limit=', 'offset=', 'since=', 'outcome=', 'action=', 'actor_id='])
      expect((await t.get(`/admin/audit?${empty}`)).json().filters).to.deep.equal({ limit: 50, offset: 0 });
  });

  it('holds no credential, and a line in the log beside each row holds none', async () => {
    const t = await start();
    const made = await t.makeKey({
      name: `mine is gw_${'a1b2c3d4'.repeat(8)} or Bearer abcdefghijk, write to ada@example.org`,
    });
    const rotated = (await t.post(`/admin/keys/${made.id}/rotate`, undefined)).json().key as string;
    const { token } = await t.signIn(rotated);
    await t.request('POST', '/admin/session', undefined, as(`gw_${'fedcba9876543210'.repeat(4)}`));
    const [denied, , , created] = await t.trail();
    expect(detailOf(created!)).to.deep.equal({
      name: 'mine is [REDACTED_GW_KEY] or Bearer [REDACTED_BEARER_TOKEN], write to [REDACTED_EMAIL]',
      scopes: ['read_only'],
    });
    expect(JSON.stringify(denied)).not.to.include('fedcba');
    const log = t.texts.join('');
    for (const secret of [made.key, rotated, token, 'fedcba9876543210fedcba', MASTER_KEY])
      expect(log).not.to.include(secret);
    const lines = t.lines.filter(({ msg }) => msg === 'admin audit');
    expect(
      lines.map(({ level, action, target_id, outcome, reason, subject }) => [
        level,
        action,
        target_id,
        outcome,
        reason ?? subject,
      ]),
    ).to.deep.equal([
      ['INFO', 'key.create', made.id, 'ok', undefined],
      ['INFO', 'key.rotate', made.id, 'ok', undefined],
      ['INFO', 'session.create', made.id, 'ok', lines[2]!['subject']],
      ['INFO', 'session.create', '*', 'denied', 'invalid_api_key'],
    ]);
    expect(lines[0])
      .to.include({ actor: denied ? (await t.trail('&action=key.create'))[0]!['actor'] : '' })
      .and.deep.include({ scopes: ['read_only'] });
    expect(lines[3]).to.include({ actor: 'unattributed' });
  });

  it('of a text with escapes stays JSON', async () => {
    const t = await start();
    await t.makeKey({ name: 'a "quoted" \\ name\r\nwith lines \u2028 and \u{1f511}' });
    expect(detailOf((await t.trail())[0]!)).to.deep.equal({
      name: 'a "quoted" \\ name\r\nwith lines \u2028 and \u{1f511}',
      scopes: ['read_only'],
    });
  });
});

describe('the audit trail in memory', () => {
  it('keeps the newest thousand rows', async () => {
    const t = await startAdmin();
    const calls = Array.from({ length: 1005 }, (_, at) => () => t.request('DELETE', `/admin/sessions/${at}`));
    for (const call of calls) await call();
    const { data, summary } = (await t.get('/admin/audit?limit=1&offset=999')).json();
    expect([summary.total_entries, data[0].target_id]).to.deep.equal([1000, '5']);
  });
});
