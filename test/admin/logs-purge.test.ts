import { expect } from 'chai';
import { type AdminHost, as, refusal } from './kit.ts';
import { fill, forLogs, models, NOON, row } from './logs-kit.ts';

forLogs('DELETE /admin/logs', (start) => {
  const purge = (t: AdminHost, query: string) => t.request('DELETE', `/admin/logs${query}`);

  it('deletes what is older, of every stage, and leaves its row in the trail', async () => {
    const t = await start();
    fill(t, [
      row({ model: 'old', created_at: NOON - 1 }),
      row({ stage: 'before_request', model: 'old', created_at: NOON - 2 }),
      row({ model: 'edge', created_at: NOON }),
    ]);
    const answer = await purge(t, '?before=2026-11-22T12:00:00.000%2B00:00&api_key_id=ignored');
    expect([answer.status, Object.entries(answer.json())]).to.deep.equal([
      200,
      [
        ['deleted', 2],
        ['filters', { before: '2026-11-22T12:00:00.000+00:00', stage: '', model: '', provider: '' }],
      ],
    ]);
    expect(await models(t, '?stage=all')).to.deep.equal(['edge']);
    const [entry] = await t.trail('&action=logs.purge');
    expect(entry).to.include({
      target_id: '*',
      outcome: 'ok',
      detail: '{"before":"2026-11-22T12:00:00.000+00:00","deleted":2}',
    });
  });

  it('takes stage, model and provider together', async () => {
    const t = await start();
    fill(t, [
      row({ model: 'a' }),
      row({ model: 'a', stage: 'on_error' }),
      row({ model: 'a', provider: 'q' }),
      row({ model: 'b' }),
    ]);
    const answer = await purge(t, '?before=2027-01-01T00:00:00Z&stage=after_request&model=a&provider=p');
    expect(answer.json()).to.deep.equal({
      deleted: 1,
      filters: { before: '2027-01-01T00:00:00Z', stage: 'after_request', model: 'a', provider: 'p' },
    });
    expect(await models(t, '?stage=all')).to.have.length(3);
    expect((await purge(t, '?before=2020-01-01T00:00:00Z')).json().deleted).to.equal(0);
  });

  it('deletes more than one slice holds', async () => {
    const t = await start();
    fill(
      t,
      Array.from({ length: 1700 }, (_, at) => row({ created_at: NOON - 1 - at })),
    );
    expect((await purge(t, '?before=2026-11-22T12:00:00Z')).json().deleted).to.equal(1700);
    expect(await models(t, '?stage=all')).to.deep.equal([]);
  });

  it('refuses a missing or wrong moment, then every stage, with no row in the trail', async () => {
    const t = await start();
    fill(t, [row({ created_at: NOON - 1 })]);
    for (const query of [
      '',
      '?before=',
      '?before=x',
      '?before=2026-11-22',
      '?stage=all',
      '?before=2027-01-01T00:00:00Z&stage=all',
    ])
      expect(refusal(await purge(t, query)), query).to.deep.equal([400, 'invalid_request']);
    expect((await purge(t, '?stage=all&before=x')).json().error.message).to.match(/^before/);
    expect(await models(t, '')).to.have.length(1);
    expect(await t.trail('&action=logs.purge')).to.deep.equal([]);
    const reader = as((await t.makeKey()).key);
    expect((await t.request('DELETE', '/admin/logs', undefined, reader)).status).to.equal(403);
  });
});
