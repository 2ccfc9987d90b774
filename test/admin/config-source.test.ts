import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadConfigFile } from '../../host/config/load.ts';
import { applyStartConfiguration } from '../../host/start/configuration.ts';
import { fakeClock, temporaryFolder } from '../kit/index.ts';
import { type AdminHost, ECHO, startAdmin } from './kit.ts';

const sourceOf = async (t: AdminHost): Promise<Record<string, any>> => {
  const answer = await t.get('/admin/config/source');
  expect(answer.status, answer.text).to.equal(200);
  const configuration = await t.get('/admin/config');
  expect(configuration.headers.get('x-gateway-config-source')).to.equal(answer.json().in_force);
  return answer.json();
};

describe('where the configuration came from', () => {
  it('is the default, until it is written, and again once that is dropped', async () => {
    const t = await startAdmin();
    expect(await sourceOf(t)).to.deep.equal({
      in_force: 'defaults',
      version: 0,
      updated_at: null,
      actor: null,
      file: null,
      next_start: 'defaults',
      pending_restart: [],
      format: 'json',
      withheld: [],
      warnings: [],
    });
    await t.request('PUT', '/admin/config', ECHO);
    const written = await sourceOf(t);
    expect(written).to.include({ in_force: 'store', version: 1, next_start: 'defaults' });
    expect(written['actor']).to.match(/^master-key:/);
    expect(written['updated_at']).to.match(/^\d{4}-\d\d-\d\dT/);
    await t.request('DELETE', '/admin/config');
    expect(await sourceOf(t)).to.include({ in_force: 'defaults', version: 2, next_start: 'defaults' });
  });

  it('is a file, which is compared by what it means at most once in five seconds', async () => {
    const clock = fakeClock();
    const t = await startAdmin({ clock });
    const path = join(await temporaryFolder(), 'config.yaml');
    await writeFile(path, '# ours\ntargets: [{virtual_key: echo}]\n');
    await applyStartConfiguration(t.host, await loadConfigFile(path));
    const file = async (): Promise<object> => (await sourceOf(t))['file'];
    const same = { path, watched: false, differs: false, readable: true };
    expect(await sourceOf(t)).to.deep.include({ in_force: 'file', next_start: 'file', format: 'yaml', file: same });

    await writeFile(path, '# another comment\nstrategy: {mode: single}\ntargets:\n- virtual_key: echo\n');
    clock.advance(5000);
    expect(await file(), 'the same in other words').to.deep.equal(same);
    await writeFile(path, 'targets: [{virtual_key: echo}]\naliases: {a: echo-1}\n');
    expect(await file(), 'as it was a moment ago').to.deep.equal(same);
    clock.advance(5000);
    expect(await file()).to.deep.equal({ ...same, differs: true });

    await t.request('PUT', '/admin/config', { ...ECHO, aliases: { a: 'echo-1' } });
    expect(await sourceOf(t), 'compared with what serves now').to.deep.include({
      in_force: 'store',
      next_start: 'file',
      format: 'json',
      file: same,
    });
    await writeFile(path, 'targetz: [\n');
    clock.advance(5000);
    expect(await file()).to.deep.equal({ ...same, differs: null, readable: false });
  });

  it('is in a store, for every process that begins with it', async () => {
    const variables = { CONFIG_STORE_BACKEND: 'sqlite', CONFIG_STORE_DSN: join(await temporaryFolder(), 'config.db') };
    const t = await startAdmin({ variables });
    await t.request('PUT', '/admin/config', ECHO);
    expect(await sourceOf(t)).to.include({ in_force: 'store', version: 1, next_start: 'store' });
    await applyStartConfiguration(t.host, undefined);
    expect(await sourceOf(t)).to.include({ in_force: 'store', version: 1, next_start: 'store' });
    await t.request('DELETE', '/admin/config');
    expect(await sourceOf(t)).to.include({ in_force: 'defaults', version: 2, next_start: 'defaults' });
  });

  it('says what is withheld, and what waits for a restart', async () => {
    const t = await startAdmin();
    const servers = [{ name: 'a', url: 'http://127.0.0.1:9/mcp', headers: { Authorization: 'planted-4Zq7' } }];
    await t.request('PUT', '/admin/config', {
      ...ECHO,
      mcp_servers: servers,
      observability: { tracing: { enabled: true } },
    });
    const source = await sourceOf(t);
    expect(source['withheld']).to.deep.equal(['mcp_servers[0].headers']);
    expect(source['pending_restart']).to.deep.equal(['observability']);
    expect(JSON.stringify(source)).not.to.include('planted');
    await t.request('PUT', '/admin/config', ECHO);
    expect((await sourceOf(t))['pending_restart'], 'as at the start').to.deep.equal([]);
  });
});

describe('a version of the configuration', () => {
  it('is shown as the list of the history shows it, and is 404 where it is not kept', async () => {
    const t = await startAdmin();
    await t.request('PUT', '/admin/config', { ...ECHO, aliases: { a: 'echo-1' } });
    await t.request('PUT', '/admin/config', ECHO);
    const { data } = (await t.get('/admin/config/history')).json();
    for (const entry of data)
      expect((await t.get(`/admin/config/history/${entry.version}`)).json()).to.deep.equal(entry);
    for (const asked of ['0', '3', 'x', '-1', '1.0', '99999999999999999999']) {
      const answer = await t.get(`/admin/config/history/${asked}`);
      expect([answer.status, answer.json().error.code], asked).to.deep.equal([404, 'resource_not_found']);
      expect(answer.json().error.message).to.include(`"${asked}"`);
    }
  });
});

describe('schemas for forms', () => {
  it('say of the configuration which fields are not shown as they are written', async () => {
    const t = await startAdmin();
    const schema = (await t.get('/admin/config/schema')).json();
    const server = schema.properties.mcp_servers.items.properties;
    expect(server.headers['x-gw-shown']).to.equal('withheld');
    expect(server.args['x-gw-shown']).to.equal('arguments');
    expect(schema.properties.targets['x-gw-shown']).to.equal(undefined);
  });

  it('hold the stages of each plugin, those it cannot do without, and its settings', async () => {
    const t = await startAdmin();
    const { data } = (await t.get('/admin/plugins/schema')).json();
    expect(Object.keys(data)).to.deep.equal([...t.host.registry.plugins.keys()]);
    for (const [name, { stages, schema }] of Object.entries<any>(data)) {
      expect(stages, name).to.deep.equal(t.host.registry.plugins.get(name)!.stages);
      expect(schema.type, `${name} can be described`).to.equal('object');
    }
    expect(data.budget.also_needs).to.deep.equal(['before_request', 'after_request']);
    expect(data['rate-limit'].also_needs).to.deep.equal(['before_request']);
    expect(data['word-filter'].also_needs).to.deep.equal([]);
    expect(data['word-filter'].schema.properties.blocked_words.type).to.equal('array');
  });
});

describe('OPTIONS of the configuration', () => {
  it('says which patches it takes', async () => {
    const t = await startAdmin();
    const answer = await t.request('OPTIONS', '/admin/config');
    expect(answer.headers.get('accept-patch')).to.equal('application/json-patch+json');
    expect((await t.request('OPTIONS', '/admin/keys')).headers.get('accept-patch')).to.equal(null);
    expect((await t.get('/admin/config')).headers.get('accept-patch')).to.equal(null);
  });
});
