import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse } from 'yaml';
import { parseDuration } from '../../host/contract/duration.ts';
import { inSoak, MASTER_KEY, requireTool, startGateway, temporaryFolder } from '../kit/index.ts';
import { read } from '../architecture/source.ts';

const FOLDER = fileURLToPath(new URL('../../examples/deploy/compose/', import.meta.url));
const FILES = globSync('compose*.yaml', { cwd: FOLDER }).toSorted();
const run = promisify(execFile);

interface Service {
  readonly image: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly [key: string]: unknown;
}

interface Document {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets?: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes?: object;
}

const documentOf = (file: string): Document =>
  parse(readFileSync(join(FOLDER, file), 'utf8'), { merge: true }) as Document;

/** What every gateway runs with. */
const HARDENED = {
  read_only: true,
  user: '65532:0',
  cap_drop: ['ALL'],
  security_opt: ['no-new-privileges:true'],
  tmpfs: ['/tmp'],
  restart: 'unless-stopped',
  pids_limit: 256,
};

describe('compose files', () => {
  const all = FILES.map((file) => [file, documentOf(file)] as const);
  const services = all.flatMap(([file, { services: found, secrets = {}, volumes = {} }]) =>
    Object.entries(found).map(([name, service]) => ({ at: `${file}: ${name}`, name, service, secrets, volumes })),
  );
  const gateways = services.filter(({ name }) => name === 'gw');

  it('run each gateway without rights, and give it as long to end as it may take', () => {
    expect(gateways).to.have.lengthOf(2);
    for (const { at, service } of gateways) {
      expect(service, at).to.deep.include(HARDENED);
      const { GW_SHUTDOWN_TIMEOUT = '15s', GW_DRAIN_DELAY = '0s' } = service.environment ?? {};
      const needed = (parseDuration(GW_SHUTDOWN_TIMEOUT) ?? 0) + (parseDuration(GW_DRAIN_DELAY) ?? 0) + 15_000;
      expect(parseDuration(String(service['stop_grace_period'])), at).to.equal(needed);
      expect(parseDuration(service.environment?.['GW_GRACE_PERIOD'] ?? ''), at).to.equal(needed);
    }
  });

  it('listen on this machine alone, by images of a version', () => {
    for (const { at, service } of services) {
      expect(service.image, at)
        .to.match(/:[^:]*\d/)
        .and.to.not.match(/:latest$/);
      for (const port of service.ports ?? []) expect(port, at).to.match(/^127\.0\.0\.1:/);
    }
  });

  it('set variables that the reference has, and give secrets as files that are declared', () => {
    const page = read('docs/configuration.md');
    for (const { at, service, secrets } of gateways)
      for (const [name, value] of Object.entries(service.environment ?? {})) {
        const base = name.replace(/_FILE$/, '');
        expect(page.includes(`\`${base}\``), `${at} ${name}`).to.equal(true);
        if (base === name) continue;
        const secret = /^\/run\/secrets\/(\w+)$/.exec(value)?.[1] ?? '';
        expect(service.secrets, `${at} ${name}`).to.include(secret);
        expect(secrets[secret]?.file, `${at} ${name}`).to.equal(`./secrets/${secret}`);
      }
    for (const [file] of all)
      expect(readFileSync(join(FOLDER, file), 'utf8'), file).to.not.match(/gw_[0-9a-f]{8}|sk-\w{8}|:\/\/\w+:\w+@/);
  });

  it('mount what is there', () => {
    for (const { at, service, volumes } of services)
      for (const mount of service.volumes ?? []) {
        const [from = ''] = mount.split(':');
        const isThere = from.startsWith('.') ? existsSync(join(FOLDER, from)) : Object.hasOwn(volumes, from);
        expect(isThere, `${at}: ${mount}`).to.equal(true);
      }
  });

  inSoak('start a gateway with what is mounted and set, which is ready', async () => {
    const folder = await temporaryFolder();
    await cp(join(FOLDER, 'config'), join(folder, 'etc'), { recursive: true });
    await mkdir(join(folder, 'data'));
    await writeFile(join(folder, 'master_key'), `${MASTER_KEY}\n`);
    await writeFile(join(folder, 'openai_api_key'), 'sk-none\n');
    const { environment = {} } = documentOf('compose.yaml').services['gw'] ?? {};
    const variables = Object.fromEntries(
      Object.entries({ GW_DATA_DIR: '/data', ...environment }).map(([name, value]) => [
        name,
        value
          .replace('/run/secrets', folder)
          .replace('/etc/gw', join(folder, 'etc'))
          .replace('/data', join(folder, 'data')),
      ]),
    );
    const { url } = await startGateway({ variables: { ...variables, MASTER_KEY: '' }, cwd: folder });
    expect((await fetch(`${url}/readyz?ignore=targets,mcp`)).status).to.equal(200);
    const models = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${MASTER_KEY}` } });
    expect(models.status).to.equal(200);
  });

  inSoak('are what Compose itself reads, and an unknown key is refused', async function real() {
    requireTool(this, 'docker-compose');
    const folder = join(await temporaryFolder(), 'deploy');
    await cp(join(FOLDER, '..'), folder, { recursive: true });
    const compose = (...files: readonly string[]): Promise<unknown> =>
      run('docker-compose', [...files.flatMap((file) => ['-f', file]), 'config', '-q'], {
        cwd: join(folder, 'compose'),
      });
    await compose('compose.yaml');
    await compose('compose.postgres.yaml');
    await compose('compose.yaml', 'compose.observability.yaml');
    await writeFile(join(folder, 'compose/wrong.yaml'), 'services: { gw: { image: a, read_onyl: true } }\n');
    const refused = await compose('wrong.yaml').catch((error: unknown) => error);
    expect(String((refused as { stderr?: string }).stderr)).to.include('read_onyl');
  });
});
