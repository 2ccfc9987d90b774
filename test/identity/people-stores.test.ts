import { expect } from 'chai';
import { identityId } from '../../builtins/identity/issuer.ts';
import { as, forBackends } from '../admin/kit.ts';
import { fakeClock } from '../kit/index.ts';
import { issuerConfig, stubIssuer, withIssuers } from './issuer.ts';

forBackends('people of an issuer', (start) => {
  it('are found again with their claims, by name and by block, and end with it', async () => {
    const clock = fakeClock();
    const issuer = await stubIssuer(clock.now);
    const config = withIssuers(issuerConfig(issuer, { sign_in: { client_id: 'client' } }));
    const t = await start({ clock }, config);
    const { identities, sessions } = t.host.stores;
    const [ada, bob] = ['ada', 'bob'].map((subject) => identityId(issuer.url, subject));
    for (const [id, subject] of [
      [ada!, 'ada'],
      [bob!, 'bob'],
    ] as const) {
      clock.advance(1000);
      const record = {
        id,
        issuerUrl: issuer.url,
        issuer: 'corp',
        subject,
        name: `${subject} 50%_x`,
        firstSeenAt: clock.now(),
      };
      await identities.change(id, () => ({ ...record, claims: { groups: ['admins'] }, signedInAt: clock.now() }));
    }
    const { token } = await sessions.create({ credentialId: ada!, subject: 'ada', scopes: ['admin'], lifeMs: 600_000 });
    expect((await t.get('/admin/keys', as(token))).status).to.equal(200);
    const listed = async (query: string): Promise<string[]> =>
      (await t.get(`/admin/identities${query}`)).json().data.map(({ subject }: { subject: string }) => subject);
    expect(await listed('')).to.deep.equal(['bob', 'ada']);
    expect(await listed('?q=ADA+50%25_')).to.deep.equal(['ada']);
    expect(await listed('?q=5_%25')).to.deep.equal([]);
    expect(await listed('?issuer=other')).to.deep.equal([]);
    expect(await listed('?limit=1&offset=1')).to.deep.equal(['ada']);
    expect((await t.post(`/admin/identities/${ada}/block`, {})).status).to.equal(200);
    expect((await t.get('/admin/keys', as(token))).status).to.equal(401);
    expect(await listed('?blocked=true')).to.deep.equal(['ada']);
    expect(await listed('?blocked=false')).to.deep.equal(['bob']);
    expect((await t.get(`/admin/identities/${ada}`)).json()).to.include({ name: 'ada 50%_x', issuer: 'corp' });
    await t.post(`/admin/identities/${ada}/unblock`, {});
    expect((await t.get('/admin/keys', as(token))).status).to.equal(200);
    clock.advance(600_000);
    expect((await t.get('/admin/keys', as(token))).status, 'its longest time').to.equal(401);
  });
});
