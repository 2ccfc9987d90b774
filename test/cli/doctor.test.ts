import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { Client } from 'pg';
import { systemClock } from '../../host/common/clock.ts';
import { atEnd, forSuite, runGw, startPostgres, temporaryFolder } from '../kit/index.ts';
import { type CommandOptions, runCommand } from './commands.ts';

const NOWHERE = 'http://127.0.0.1:9';
const STRATEGY =
  "import Joi from 'joi';\nimport { defineStrategy } from 'gw/contract';\nexport default defineStrategy({ name: 'mine', summary: 'In their order', settings: Joi.object({}), create: () => (targets) => targets });\n";

interface Examined {
  readonly code: number | null;
  /** Lines of each section, by its title. */
  readonly sections: ReadonlyMap<string, readonly string[]>;
}

/** Modules beside a file find the contract only in the real program: with `asProcess` it is that. */
async function doctor({
  asProcess,
  ...options
}: CommandOptions & { readonly asProcess?: string } = {}): Promise<Examined> {
  const variables = { GW_URL: NOWHERE, PORT: '0', ...options.variables };
  const { code, stdout, stderr } = await (asProcess === undefined
    ? runCommand(['doctor'], { ...options, variables })
    : runGw(['doctor'], { cwd: asProcess, variables }));
  expect(stderr).to.equal('');
  const sections = stdout
    .trimEnd()
    .split('\n\n')
    .map((text) => text.split('\n'));
  return {
    code,
    sections: new Map(sections.map(([title = '', ...lines]) => [title, lines.map((line) => line.slice(2))])),
  };
}

async function answering(date?: string): Promise<string> {
  const server = createServer((_request, response) => {
    if (date !== undefined) response.setHeader('date', date);
    response.end('{"status":"ok"}');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => {
    server.on('listening', resolve);
  });
  atEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('gw doctor', () => {
  it('names a credential that no request could carry', async () => {
    const { sections } = await doctor({ variables: { GROQ_API_KEY: ' x\n', OPENAI_API_KEY: 'abcdefgh\njklmnop' } });
    expect(sections.get('Provider API Keys')).to.deep.equal([
      '[OK] groq',
      '[X] openai: OPENAI_API_KEY holds a control character, it counts as unset',
      '[-] anthropic',
      '[-] gemini',
      '[-] mistral',
      '1 found',
    ]);
  });

  it('begins with providers, configuration, master key and the gateway', async () => {
    const { code, sections } = await doctor({ variables: { GROQ_API_KEY: 'x', XAI_API_KEY: 'x' } });
    expect(code).to.equal(0);
    expect([...sections.keys()]).to.deep.equal([
      'Provider API Keys',
      'Configuration',
      'Auth',
      'Gateway Connectivity',
      'Model Catalog',
      'Stores',
      'Port',
      'Clock',
      'Modules of others',
      'File permissions',
    ]);
    expect(sections.get('Provider API Keys')).to.deep.equal([
      '[OK] groq',
      '[OK] xai',
      '[-] openai',
      '[-] anthropic',
      '[-] gemini',
      '[-] mistral',
      '2 found',
    ]);
    expect(sections.get('Gateway Connectivity')).to.deep.equal([`[X] ${NOWHERE}: the connection was refused`]);
    expect(sections.get('Stores')).to.deep.equal([
      '[-] keys: in memory, lost at a restart',
      '[-] configuration: in memory, lost at a restart',
      '[-] request log: not kept',
    ]);
  });

  it('says what a start would do with SQLite, and makes nothing', async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'gw-config.db'), '');
    await chmod(join(cwd, 'gw-config.db'), 0o644);
    await mkdir(join(cwd, 'folder'));
    const variables = {
      API_KEY_STORE_BACKEND: 'sqlite',
      API_KEY_STORE_DSN: 'none/keys.db',
      CONFIG_STORE_BACKEND: 'sqlite',
      REQUEST_LOG_STORE_BACKEND: 'sqlite',
    };
    const stores = (await doctor({ cwd, variables })).sections.get('Stores') ?? [];
    expect(stores.slice(0, 3)).to.deep.equal(
      ['none/keys.db', 'none/keys-sessions.db', 'none/keys-audit.db'].map(
        (file) => `[X] keys: ${join(cwd, file)} cannot be made: its folder does not exist, or may not be written`,
      ),
    );
    expect(stores.slice(3)).to.deep.equal([
      `[!] configuration: ${join(cwd, 'gw-config.db')} is open to other users (mode 644); run chmod 600`,
      `[OK] request log: ${join(cwd, 'gw-requests.db')} does not exist yet, a start makes it`,
    ]);
    const other =
      (
        await doctor({
          cwd,
          variables: {
            API_KEY_STORE_BACKEND: 'sqlite',
            API_KEY_STORE_DSN: ':memory:',
            CONFIG_STORE_BACKEND: 'sqlite',
            CONFIG_STORE_DSN: 'folder',
          },
        })
      ).sections.get('Stores') ?? [];
    expect(other.slice(2, 4)).to.deep.equal([
      '[!] keys: SQLite in memory, lost at a restart',
      `[X] configuration: ${join(cwd, 'folder')} may not be read and written`,
    ]);
    expect((await readdir(cwd)).toSorted()).to.deep.equal(['folder', 'gw-config.db']);
  });

  describe('with Postgres', () => {
    const dsn = forSuite(async () => (await startPostgres()).createDatabase());

    it('asks whether it answers, and shows no password', async () => {
      const variables = {
        API_KEY_STORE_BACKEND: 'postgres',
        API_KEY_STORE_DSN: dsn(),
        CONFIG_STORE_BACKEND: 'postgres',
        CONFIG_STORE_DSN: 'postgres://me:very-secret@127.0.0.1:9/gw',
      };
      const { sections } = await doctor({ variables });
      const [keys, configuration] = sections.get('Stores') ?? [];
      expect(keys).to.equal('[OK] keys: Postgres answers');
      expect(configuration)
        .to.match(/^\[X\] configuration: CONFIG_STORE_DSN: .*ECONNREFUSED/)
        .and.to.not.contain('very-secret');
      const [first, second] = sections.get('Database connections') ?? [];
      expect(first).to.match(/^\[OK\] keys: at most 10 of \d+, of which \d+ are open$/);
      expect(second).to.equal('[-] configuration: the server does not answer');
    });

    it('compares the connections of all stores of a database with what its server has', async () => {
      const store = (name: string): object => ({ [`${name}_BACKEND`]: 'postgres', [`${name}_DSN`]: dsn() });
      const variables = {
        ...store('API_KEY_STORE'),
        ...store('CONFIG_STORE'),
        ...store('REQUEST_LOG_STORE'),
        GW_PG_CONNECTIONS: '100',
      };
      const client = new Client({ connectionString: dsn() });
      await client.connect();
      const { rows } = await client.query("SELECT current_setting('max_connections')::int AS most");
      await client.end();
      const most = Number(rows[0]?.['most']);
      const isTight = 100 > most * 0.8;
      const findings = (await doctor({ variables })).sections.get('Database connections') ?? [];
      expect(findings).to.have.length(1);
      expect(findings[0]).to.match(
        isTight
          ? /^\[!\] keys, configuration, request log: WN87: this replica may hold 100 of/
          : /^\[OK\] keys, configuration, request log: at most 100 of/,
      );
    });
  });

  it('tells a port that is free from one that is not, and whose', async () => {
    const url = await answering();
    const { port } = new URL(url);
    const of = async (variables: Record<string, string>): Promise<unknown> =>
      (await doctor({ variables })).sections.get('Port');
    expect(await of({ PORT: '0' })).to.deep.equal(['[OK] any free port']);
    expect(await of({ PORT: port })).to.deep.equal([`[!] ${port} is used by another program; set PORT`]);
    expect(await of({ PORT: port, GW_URL: url })).to.deep.equal([`[OK] ${port} is used by the gateway that answers`]);
    const admin = async (variables: Record<string, string>): Promise<unknown> =>
      of({ PORT: '0', GW_ADMIN_PORT: port, ...variables });
    expect(await admin({})).to.deep.equal([
      '[OK] any free port',
      `[!] admin port ${port} is used by another program; set GW_ADMIN_PORT`,
    ]);
    expect(await admin({ GW_URL: url })).to.deep.equal([
      '[OK] any free port',
      `[OK] admin port ${port} is used, and a gateway answers`,
    ]);
    expect(await admin({ GW_ADMIN_PORT: '0' })).to.deep.equal(['[OK] any free port']);
    expect(await of({ PORT: 'http' })).to.deep.equal(['[X] PORT is "http", which is not a port number']);
  });

  it('compares clocks', async () => {
    const now = Date.parse('2026-11-22T10:00:00Z');
    const of = async (at: number, date: string): Promise<unknown> =>
      (
        await doctor({ clock: { ...systemClock, now: () => at }, variables: { GW_URL: await answering(date) } })
      ).sections.get('Clock');
    expect(await of(now, 'Sun, 22 Nov 2026 10:00:20 GMT')).to.deep.equal(['[OK] 2026-11-22 10:00:00 UTC']);
    expect(await of(now, 'Sun, 22 Nov 2026 11:00:00 GMT')).to.deep.equal([
      '[!] 2026-11-22 10:00:00 UTC; the clock of the gateway is 3600 s ahead',
    ]);
    expect(await of(0, 'Sun, 22 Nov 2026 11:00:00 GMT')).to.deep.equal([
      '[X] 1970-01-01 00:00:00 UTC is long ago: set the clock of this machine',
    ]);
  });

  it('says how old the model catalog is, and what changes it', async () => {
    const [line = ''] = (await doctor()).sections.get('Model Catalog') ?? [];
    expect(line).to.match(/^\[OK\] \d+ models, the newest entry is of 20\d\d-\d\d-\d\d, -?\d+ days? ago$/);
    const variables = {
      GW_MODEL_CATALOG_URL: 'https://u:secret@models.example/catalog.json?key=secret',
      GW_MODEL_CATALOG_OVERLAY: 'none.json',
    };
    const more = (await doctor({ variables })).sections.get('Model Catalog')?.slice(1) ?? [];
    expect(more[0]).to.match(/^\[OK\] a running gateway fetches https:\/\/[^ ]*models\.example[^ ]* every day$/);
    expect(more[1]).to.match(/^\[X\] GW_MODEL_CATALOG_OVERLAY: .*none\.json: /);
    expect(more.join('\n')).to.not.contain('secret');
  });

  it('says how old the rules of models are, and what of an overlay is not used', async () => {
    const [, line = ''] = (await doctor()).sections.get('Model Catalog') ?? [];
    expect(line).to.match(/^\[OK\] \d+ rules of models, the newest was checked on 20\d\d-\d\d-\d\d, -?\d+ days? ago$/);
    const cwd = await temporaryFolder();
    await writeFile(
      join(cwd, 'rules.json'),
      JSON.stringify({ format: 1, rules: [{ id: 'odd', models: ['m'], set: { efforts: 7 } }] }),
    );
    const variables = {
      GW_MODEL_RULES_URL: 'https://u:secret@rules.example/r.json',
      GW_MODEL_RULES_OVERLAY: 'rules.json',
    };
    const more = (await doctor({ cwd, variables })).sections.get('Model Catalog')?.slice(2).join('\n') ?? '';
    expect(more).to.match(/^\[OK\] a running gateway fetches https:\/\/rules\.example\/r\.json every day$/m);
    expect(more).to.match(/^\[OK\] GW_MODEL_RULES_OVERLAY: .*rules\.json$/m);
    expect(more).to.match(/^\[!\] model rule "odd" is left out: set\.efforts must be/m);
    expect(more).to.not.contain('secret');
  });

  it('lists modules of others, and says who may read and change the files', async () => {
    const cwd = await temporaryFolder();
    const file = join(cwd, 'config.yaml');
    const config =
      'targets: [{virtual_key: echo}]\nmcp_servers: [{name: a, url: "http://127.0.0.1:9/mcp", headers: {Authorization: literal-secret-value}}]\n';
    await mkdir(join(cwd, 'strategies', 'mine'), { recursive: true });
    await writeFile(join(cwd, 'strategies', 'mine', 'index.ts'), STRATEGY);
    await writeFile(file, config, { mode: 0o644 });
    const { code, sections } = await doctor({ asProcess: cwd });
    expect(code).to.equal(0);
    expect(sections.get('Modules of others')).to.have.lengthOf(1);
    expect(sections.get('Modules of others')?.[0]).to.match(/^\[OK\] strategy mine \(.*strategies\/mine/);
    expect(sections.get('File permissions')).to.deep.equal([
      `[!] ${file} holds secrets and may be read by other users (mode 644); run chmod 600, or write \${NAME}`,
    ]);
    await writeFile(file, config.replace('literal-secret-value', '${TOKEN}'));
    expect((await doctor({ asProcess: cwd })).sections.get('File permissions')).to.deep.equal([
      `[OK] ${file} (mode 644)`,
    ]);
    await chmod(file, 0o666);
    expect((await doctor({ asProcess: cwd })).sections.get('File permissions')).to.deep.equal([
      `[!] ${file} may be changed by other users (mode 666); run chmod 600`,
    ]);
  });

  it('is exit code 1 for an invalid configuration alone', async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'config.yaml'), 'targets: [{virtual_key: ecco}]\n');
    const bad = await doctor({ cwd });
    expect(bad.code).to.equal(1);
    expect(bad.sections.get('Configuration')?.[0]).to.match(/^\[X\] .*config\.yaml: targets\[0\]\.virtual_key: BV01: /);
    const odd = await doctor({ variables: { API_KEY_STORE_BACKEND: 'etcd', PORT: 'x' } });
    expect(odd.code).to.equal(0);
    expect(odd.sections.get('Environment')?.[0]).to.match(/^\[X\] API_KEY_STORE_BACKEND is "etcd"/);
  });
});
