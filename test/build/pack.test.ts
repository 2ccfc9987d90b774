import { execFile, spawn } from 'node:child_process';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { EXTERNAL } from '../../build/bundle.ts';
import { packedManifest } from '../../build/manifest.ts';
import {
  atEnd,
  chatReply,
  forSuite,
  isSoak,
  MASTER_KEY,
  replyJson,
  stubUpstream,
  temporaryFolder,
} from '../kit/index.ts';
import { packModules } from './module-package.ts';
import { packCopy, type Packed } from './pack-copy.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const { PATH, HOME } = process.env;

/** A module that a third party wrote beside its configuration. */
const REFUSES = `import Joi from 'joi';
import { defineProvider, GatewayError } from 'gw/contract';
import { commonTranslators } from 'gw/common-wire';

const { chat } = commonTranslators(['chat'], {});
const toUpstream = () => { throw new GatewayError('invalid_request', Joi.isSchema(Joi.object()) ? 'refused by a third party' : 'no joi'); };
export default defineProvider({
  name: 'refuses', wire: 'common', params: {}, connection: { env: ['REFUSES_KEY'], baseUrl: 'http://127.0.0.1:9', authorize: () => ({}) },
  translators: { chat: { ...chat, toUpstream } },
});
`;

/** Starts what was unpacked, until it tells its address. */
async function serve(bin: string, cwd: string, variables: Readonly<Record<string, string>> = {}): Promise<string> {
  const child = spawn(process.execPath, [bin, 'serve'], {
    cwd,
    env: { PATH, HOME, PORT: '0', MASTER_KEY, REFUSES_KEY: 'sk-refuses', ...variables },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  atEnd(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const address = Promise.withResolvers<string>();
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    const port = /Address: +http:\/\/localhost:(\d+)\n/.exec(stderr)?.[1];
    if (port !== undefined) address.resolve(`http://127.0.0.1:${port}`);
  });
  void exited.then(() => address.reject(new Error(`it ended before it served:\n${stderr}`)));
  return address.promise;
}

/** It finds its configuration, and has no dependency beside it: a module of a folder gets contract, common wire and joi from the bundle, each the one instance. */
async function expectRefusal({ folder, bin }: Packed): Promise<void> {
  await mkdir(join(folder, 'providers/refuses'), { recursive: true });
  await writeFile(join(folder, 'providers/refuses/index.ts'), REFUSES);
  await writeFile(
    join(folder, 'config.yaml'),
    'strategy: {mode: single}\ntargets: [{virtual_key: refuses, models: [m]}]\n',
  );
  const url = await serve(bin, folder);
  const headers = { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] });
  const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  // An error of another instance of the contract would count as a fault of the module.
  expect([response.status, error.code, error.message]).to.deep.equal([
    400,
    'invalid_request',
    'refused by a third party',
  ]);
}

async function expectExample({ folder, bin }: Packed): Promise<void> {
  const example = join(folder, 'example');
  await cp(join(ROOT, 'examples/custom-provider'), example, { recursive: true });
  const { stdout } = await run('sh', [join(example, 'run.sh')], {
    env: { PATH: `${dirname(process.execPath)}:${PATH}`, HOME, GW: bin, GW_EXAMPLES: join(ROOT, 'examples') },
  });
  expect([...stdout.matchAll(/\(status (\d+)/g)].map(([, status]) => status)).to.deep.equal([
    '200',
    '200',
    '400',
    '200',
  ]);
}

async function expectCommands({ folder, bin }: Packed): Promise<void> {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const { stdout } = await run(process.execPath, [bin, 'version'], { cwd: folder });
  expect(stdout).to.match(new RegExp(`^Version: ${version}\nCommit: +none\nBuilt: +\\d{4}-`));
}

/** What an install brings, and a list of all that is in the package. */
async function expectMaterials({ bin }: Packed): Promise<void> {
  const read = async (path: string): Promise<any> => JSON.parse(await readFile(path, 'utf8'));
  const { packages } = await read(join(dirname(bin), '../npm-shrinkwrap.json'));
  const { packages: locked } = await read(join(ROOT, 'package-lock.json'));
  const { '': own, ...others } = packages as Record<string, object>;
  expect(Object.keys((own as { dependencies: object }).dependencies)).to.deep.equal([...EXTERNAL]);
  for (const [folder, entry] of Object.entries(others)) expect(entry, folder).to.deep.equal(locked[folder]);
  const { components, specVersion } = await read(join(dirname(bin), 'sbom.cdx.json'));
  expect(specVersion).to.equal('1.6');
  const named = new Set(
    (components as { name: string; version: string }[]).map(({ name, version }) => `${name} ${version}`),
  );
  const licenses = await readFile(join(dirname(bin), 'LICENSES.txt'), 'utf8');
  const bundled = [...licenses.matchAll(/(?:^|\n-{80}\n\n)(\S+ \d\S*) \(/g)].map(([, name]) => name);
  expect(bundled.length).to.be.greaterThan(20);
  expect(bundled.filter((name) => !named.has(name!))).to.deep.equal([]);
}

/** A server of its own takes a gateway from the package, with the types that it is declared by. */
async function expectEmbedded({ folder, bin }: Packed): Promise<void> {
  const script = join(folder, 'embedded.mjs');
  await writeFile(
    script,
    `import { createGateway } from 'gw';
const config = { strategy: { mode: 'single' }, targets: [{ virtual_key: 'echo', models: ['m'] }] };
const gateway = await createGateway({ config, env: { MASTER_KEY: 'gw_a' }, log: () => {} });
process.stdout.write(JSON.stringify([gateway.isReady, await gateway.fetchModels()]));
await gateway.drain(0);
`,
  );
  const { stdout } = await run(process.execPath, [script], { cwd: folder });
  expect(stdout)
    .to.match(/^\[true,\[/)
    .and.to.include('"m"');
  const types = join(dirname(bin), 'types');
  const files = new Set(await readdir(types, { recursive: true }));
  expect(files).to.include('host/embed/create-gateway.d.ts');
  for (const file of files) {
    if (!file.endsWith('.d.ts')) continue;
    const text = await readFile(join(types, file), 'utf8');
    const named = [...text.matchAll(/^(?:import|export) .* from '(\.[^']+)\.ts';$/gm)].map(
      ([, path = '']) => `${posix.join(posix.dirname(file), path)}.d.ts`,
    );
    expect(
      named.filter((path) => !files.has(path)),
      file,
    ).to.deep.equal([]);
  }
}

async function expectFiles({ bin }: Packed): Promise<void> {
  const files = await readdir(dirname(bin), { recursive: true });
  expect(files.filter((file) => /^compile-cache.*[0-9a-f]{8}$/.test(file))).to.not.have.lengthOf(0);
  const licenses = await readFile(join(dirname(bin), 'LICENSES.txt'), 'utf8');
  expect(licenses).to.match(/^joi \d/m);
  expect(licenses, 'of what the dashboard is made of').to.match(/^## react - \d/m);
}

/** Without any package of the front end. */
async function expectDashboard({ folder, bin }: Packed): Promise<void> {
  const url = await serve(bin, folder);
  const page = await fetch(`${url}/overview`, { headers: { accept: 'text/html' } });
  const [, script = ''] = /<script type="module"[^>]* src="([^"]+)"/.exec(await page.text()) ?? [];
  const asset = await fetch(url + script, { headers: { 'accept-encoding': 'br' } });
  expect([page.status, asset.status, asset.headers.get('content-encoding')]).to.deep.equal([200, 200, 'br']);
}

/** A configuration of the three modules of the package, in an empty folder that holds nothing but what npm put there. */
async function installBoth(packed: Packed, modules: string): Promise<string> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'package.json'), '{ "private": true }');
  await run(
    'npm',
    ['install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', packed.archive, modules],
    { cwd: folder },
  );
  const plugin = '{ name: third-guard, stage: before_request, enabled: true, config: { words: [forbidden] } }';
  await writeFile(
    join(folder, 'config.yaml'),
    `strategy: { mode: third-first, settings: { first: third } }\ntargets: [{ virtual_key: echo, models: [m] }, { virtual_key: third, models: [m] }]\nmodules: [gw-third]\nplugins: [${plugin}]\n`,
  );
  return folder;
}

describe('the package that npm pack makes', function packed() {
  this.timeout(480_000);
  if (!isSoak()) return;
  const installed = forSuite(async () => packCopy(await temporaryFolder(), await temporaryFolder()));

  it('serves, takes modules beside its configuration, says what it is, and brings compiled code and licences with it', async () => {
    await expectFiles(installed());
    await expectMaterials(installed());
    await expectEmbedded(installed());
    await expectCommands(installed());
    await expectDashboard(installed());
    await expectRefusal(installed());
    await expectExample(installed());
  });

  it('has types that a package of three modules is built with, writing into its own dist alone, and serves it installed beside itself', async () => {
    const modules = await packModules(installed(), await temporaryFolder());
    const folder = await installBoth(installed(), modules);
    const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('from the third')));
    const url = await serve(join(folder, 'node_modules/gw/dist/gw.js'), folder, {
      THIRD_API_KEY: 'sk-third',
      THIRD_BASE_URL: stub.url,
    });
    const ask = async (content: string): Promise<string> => {
      const headers = { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' };
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }),
      });
      return `${response.status} ${response.headers.get('x-gateway-target')} ${await response.text()}`;
    };
    expect(await ask('hello'))
      .to.match(/^200 third /)
      .and.to.include('from the third');
    expect(await ask('a forbidden word'))
      .to.match(/^400 /)
      .and.to.include('it holds a word that is not wanted');
    expect(stub.seen.map(({ headers }) => headers.authorization)).to.deep.equal(['Bearer sk-third']);
  });
});

describe('the manifest of the package', () => {
  const source = {
    version: '1.2.3',
    name: 'gw',
    dependencies: { joi: '^1.0.0', ...Object.fromEntries(EXTERNAL.map((name) => [name, `^${name.length}.0.0`])) },
    devDependencies: { mocha: '1' },
    scripts: { postpack: 'node p.ts', test: 'mocha' },
  };

  it('keeps as dependencies what is not in the bundle, and names built files alone', () => {
    const { dependencies, devDependencies, exports, bin, gw } = packedManifest(source, {
      commit: 'abc',
      built: 'now',
    }) as Record<string, any>;
    expect(Object.keys(dependencies)).to.deep.equal([...EXTERNAL]);
    expect(devDependencies).to.equal(undefined);
    const built = Object.values(exports).map((entry) => (entry as { default?: string }).default ?? String(entry));
    expect([bin.gw, ...built].filter((path) => !/\.js(on)?$/.test(path))).to.deep.equal([]);
    expect(exports['./testing'].types).to.match(/\.d\.ts$/);
    expect(gw).to.deep.equal({ version: '1.2.3', commit: 'abc', built: 'now' });
  });

  it('exports what the checkout exports', async () => {
    const checkout = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { exports: object };
    expect(
      Object.keys((packedManifest(source, { commit: '', built: '' }) as { exports: object }).exports),
    ).to.deep.equal(Object.keys(checkout.exports));
  });

  it('is refused without a version of what it leaves outside', () => {
    expect(() => packedManifest({ ...source, dependencies: {} }, { commit: '', built: '' })).to.throw(EXTERNAL[0]);
  });
});
