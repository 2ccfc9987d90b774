import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { as, refusal, startAdmin } from '../admin/kit.ts';
import { eventually, startGateway, temporaryFolder } from '../kit/index.ts';
import { issuerConfig, stubIssuer, withIssuers } from './issuer.ts';

const PATCH = 'application/json-patch+json';

describe('identity', () => {
  it('stands outside what the admin API takes, whatever it says, and is not changed by it', async () => {
    const issuer = await stubIssuer();
    const config = withIssuers(issuerConfig(issuer));
    const t = await startAdmin({}, config);
    const { identity, ...rest } = config as { identity: object };
    const before = (await t.get('/admin/identity')).json();
    expect(before.digest).to.match(/^[0-9a-f]{12}$/);
    expect(before.identity).to.deep.equal(identity);
    expect((await t.get('/admin/config')).text).to.not.include('identity');
    for (const value of [identity, {}, null, 5, 'x', { issuers: [{ nam: 'x' }] }])
      for (const [method, path] of [
        ['PUT', '/admin/config'],
        ['POST', '/admin/config'],
        ['POST', '/admin/config/validate'],
        ['POST', '/admin/config/diff'],
      ] as const) {
        const answer = await t.request(method, path, { ...rest, identity: value });
        expect(refusal(answer), `${method} ${path} ${JSON.stringify(value)}`).to.deep.equal([400, 'invalid_config']);
        expect(answer.json().error.message).to.match(
          /^identity: BV32: identity can only be changed in the configuration file/,
        );
      }
    expect(refusal(await t.request('PUT', '/admin/config', { ...rest, identity, nonsense: 1 }))).to.deep.equal([
      400,
      'invalid_request',
    ]);
    const headers = { 'content-type': PATCH, 'if-match': (await t.get('/admin/config')).headers.get('etag') ?? '' };
    for (const operations of [
      [{ op: 'add', path: '/identity', value: identity }],
      [{ op: 'copy', from: '/targets', path: '/identity' }],
    ])
      expect(refusal(await t.request('PATCH', '/admin/config', operations, headers))).to.deep.equal([
        400,
        'invalid_config',
      ]);
    expect((await t.request('PUT', '/admin/config', rest)).status).to.equal(200);
    expect((await t.request('DELETE', '/admin/config')).status).to.equal(200);
    expect((await t.request('POST', '/admin/config/rollback/1')).status).to.equal(200);
    expect((await t.get('/admin/config/history')).text).to.not.include('identity');
    expect((await t.get('/admin/identity')).json()).to.deep.equal(before);
    expect((await t.get('/v1/models', as(await issuer.token()))).status).to.equal(200);
  });

  it('counts while a stored configuration does, and as the file changes', async function watched() {
    this.timeout(60_000);
    const issuer = await stubIssuer();
    const cwd = await temporaryFolder();
    const path = join(cwd, 'config.yaml');
    const write = async (more: object): Promise<void> => {
      await writeFile(`${path}.new`, JSON.stringify(withIssuers(issuerConfig(issuer, more))));
      await rename(`${path}.new`, path);
    };
    await write({});
    const gateway = await startGateway({
      cwd,
      variables: {
        GW_CONFIG_WATCH: 'true',
        CONFIG_STORE_BACKEND: 'sqlite',
        CONFIG_STORE_DSN: join(cwd, 'c.db'),
      },
    });
    const call = async (route: string, credential: string, init: RequestInit = {}): Promise<Response> =>
      fetch(`${gateway.url}${route}`, { ...init, headers: { authorization: `Bearer ${credential}` } });
    const master = gateway.key;
    const hasLine = (msg: string): boolean => gateway.lines.some((line) => line['msg'] === msg);
    const token = await issuer.token();
    const statuses = async (): Promise<number[]> =>
      Promise.all([call('/v1/models', token), call('/v1/models', master)].map(async (each) => (await each).status));
    expect(await statuses()).to.deep.equal([200, 200]);
    const stored = { method: 'PUT', body: JSON.stringify({ targets: [{ virtual_key: 'echo' }] }) };
    expect((await call('/admin/config', master, stored)).status).to.equal(200);
    await write({ access: [{ when: { groups: 'others' }, access: 'inference' }] });
    await eventually(async () => (await statuses())[0] === 403);
    await write({ access: [{ when: { groups: '*' }, access: 'inference' }] }); // CV95
    await eventually(() => hasLine('config file refused, the running configuration stays'));
    expect(await statuses()).to.deep.equal([403, 200]);
    await write({ name: 'again' });
    await eventually(async () => (await statuses())[0] === 200);
    expect(hasLine('identity changed')).to.equal(true);
    const audit = (await (await call('/admin/audit?action=identity.update', master)).json()) as any;
    expect(audit.data[0]).to.include({ actor: 'file', target_id: '*', outcome: 'ok' });
    expect(JSON.parse(audit.data[0].detail)).to.deep.equal({ issuers: 1, rules: 3 });
    const shown = (await (await call('/admin/identity', master)).json()) as any;
    expect(shown.source).to.equal(path);
  });
});
