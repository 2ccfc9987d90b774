import { writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { read } from '../architecture/source.ts';
import { forSuite, inSoak, MASTER_KEY, runGw, some, startGateway, temporaryFolder } from '../kit/index.ts';

const LOADED = 'packages loaded: '; // as test/kit/loaded.ts writes it
const HOOK = new URL('../kit/loaded.ts', import.meta.url).href;
const DEPENDENCIES = new Set(
  Object.keys((JSON.parse(read('package.json')) as { readonly dependencies: object }).dependencies),
);

/** What every gateway needs from its first moment. A package that only some configurations use does not belong here: the code that uses it imports it then. */
const ALWAYS = [
  'cac',
  'cosmiconfig',
  'ipaddr.js',
  'joi',
  'leven',
  'pino',
  'safe-stable-stringify',
  'tapable',
  'undici',
  'yaml',
];

/** Those among what a process said it had loaded. */
function dependenciesIn(stderr: string): string[] {
  const line = stderr.split('\n').find((each) => each.startsWith(LOADED));
  return (line ?? '')
    .slice(LOADED.length)
    .split(' ')
    .filter((name) => DEPENDENCIES.has(name));
}

/** The dependencies that a gateway has loaded by its end, requests or not. */
async function loadedBy(
  config?: string,
  use: (url: string, key: string) => Promise<void> = async () => {},
): Promise<string[]> {
  const cwd = await temporaryFolder();
  if (config !== undefined) await writeFile(`${cwd}/config.yaml`, config);
  const gateway = await startGateway({ cwd, isCheckout: true, variables: { NODE_OPTIONS: `--import ${HOOK}` } });
  await use(gateway.url, gateway.key);
  expect(await gateway.stop()).to.equal(0);
  return dependenciesIn(gateway.stderr());
}

const RULE = '{type: prompt_regex, value: "^hello", target_key: echo}';
const WITH_RULE = `targets: [{virtual_key: echo}]\nstrategy: {mode: content-based, content_conditions: [${RULE}]}\n`;

async function look(url: string, key: string): Promise<void> {
  await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${key}` } })).text();
}

async function upload(url: string, key: string): Promise<void> {
  const form = new FormData();
  form.append('model', 'm');
  form.append('file', new Blob(['sound']), 'a.wav');
  const headers = { authorization: `Bearer ${key}` };
  await (await fetch(`${url}/v1/audio/transcriptions`, { method: 'POST', headers, body: form })).text();
}

describe('the packages that a gateway loads', () => {
  it('grow by what the configuration, a look at the figures and a request use', async () => {
    const loaded = await loadedBy(WITH_RULE, async (url, key) => {
      await look(url, key);
      await upload(url, key);
    });
    expect(loaded.filter((name) => !name.startsWith('@opentelemetry/'))).to.deep.equal(
      [...ALWAYS, 're2js', 'prom-client', 'multer'].toSorted(),
    );
  });

  inSoak('grow by what each of them uses, and by nothing else', async () => {
    expect(await loadedBy(WITH_RULE)).to.deep.equal([...ALWAYS, 're2js'].toSorted());
    const figures = await loadedBy(undefined, look);
    expect(figures.filter((name) => !name.startsWith('@opentelemetry/'))).to.deep.equal(
      [...ALWAYS, 'prom-client'].toSorted(),
    );
    expect(await loadedBy(undefined, upload)).to.deep.equal([...ALWAYS, 'multer'].toSorted());
  });

  inSoak(
    'grow by those that make spans when there is an address to send them to, over HTTP without those of gRPC',
    async () => {
      const traces = ['@opentelemetry/api', '@opentelemetry/resources', '@opentelemetry/sdk-trace'];
      const config = (protocol: string): string =>
        `targets: [{virtual_key: echo}]\nobservability: {tracing: {endpoint: "127.0.0.1:9", protocol: ${protocol}}}\n`;
      expect(await loadedBy(config('http'))).to.have.members([
        ...ALWAYS,
        ...traces,
        '@opentelemetry/exporter-trace-otlp-proto',
      ]);
      expect(await loadedBy(config('grpc'))).to.have.members([
        ...ALWAYS,
        ...traces,
        '@opentelemetry/exporter-trace-otlp-grpc',
        '@grpc/grpc-js',
      ]);
      expect(
        await loadedBy('targets: [{virtual_key: echo}]\nobservability: {tracing: {enabled: true}}\n'),
      ).to.deep.equal(ALWAYS);
    },
  );
});

describe('what a gateway loads, what Node loads of itself for it, and what a start asks of V8', () => {
  /** stderr of a gateway that has ended. */
  const told = forSuite(async () => {
    const gateway = await startGateway({ isCheckout: true, variables: { NODE_OPTIONS: `--import ${HOOK}` } });
    expect(await gateway.stop()).to.equal(0);
    return gateway.stderr();
  });

  it('holds of packages at a plain start those that every gateway needs', () => {
    expect(dependenciesIn(told())).to.deep.equal(ALWAYS);
  });

  it('does not hold its fetch and WebSocket, a tenth of a start: what needs node:http takes it from common/node-http.ts', () => {
    expect(told())
      .to.match(/own modules loaded: .*\bhttp\b/)
      .and.not.match(/own modules loaded: .*undici/);
  });

  it('holds neither HTTP/2, which no upstream is spoken to in, nor what asks questions', () => {
    expect(told())
      .to.match(/own modules loaded: .*\bhttp\b/)
      .and.not.match(/own modules loaded: .*\b(http2|readline)\b/);
  });

  it('leaves out the part of joi that checks preferences, which `.messages()` needs: schemas of shipped modules find words with `helpers.message()`', () => {
    expect(told())
      .to.match(/files loaded: .*node_modules\/joi\/lib\/validator\.js/)
      .and.not.match(/files loaded: .*node_modules\/joi\/lib\/schemas\.js/);
  });

  it('is all loaded before a flag is set, since V8 takes what Node brings of it compiled only until then', () => {
    const late = /^own modules loaded under the flags of a start: (.*)$/m.exec(told())?.[1];
    expect(late?.split(' ').filter((name) => !name.startsWith('internal/deps/amaro'))).to.deep.equal(['']);
  });

  it('leaves out baseline code from the background at all times, garbage collection in steps and optimized code until the gateway is up; compiled code is written under the flags of a start', () => {
    const flags = Array.from(told().matchAll(/^flag set: (.*)$/gm), ([, flag]) => flag);
    const ofStart = ['--no-incremental-marking', '--no-turbofan', '--no-maglev'];
    const changes = flags.slice(2);
    expect(flags.slice(0, 2)).to.deep.equal(['--no-allocation-site-pretenuring', '--no-concurrent-sparkplug']);
    expect(changes.slice(0, 3)).to.deep.equal(ofStart);
    // The start ends by the clock too where it takes long, and what was compiled is written before the stop too where that comes late.
    for (const part of [changes.slice(3, 6), changes.slice(-6, -3)])
      expect(part).to.deep.equal(['--incremental-marking', '--turbofan', '--maglev']);
    expect(changes.slice(-3)).to.deep.equal(ofStart);
  });
});

describe('what a command loads that starts no gateway', () => {
  const linesOf = (stderr: string, start: string): string[] =>
    (stderr.split('\n').find((line) => line.startsWith(start)) ?? '').slice(start.length).split(' ');

  it('is the command line, and what the command itself runs: no provider, strategy, plugin, store or router', async () => {
    const { url } = await startGateway();
    const variables = { NODE_OPTIONS: `--import ${HOOK}`, GW_URL: url, MASTER_KEY };
    for (const args of some(
      [
        ['--help'],
        ['help', 'admin'],
        ['init', '--help'],
        ['version'],
        ['status'],
        ['plugins'],
        ['admin', 'keys', 'list'],
        ['bogus'],
      ],
      { every: 8, from: 4 },
    )) {
      const { stderr } = await runGw(args, { variables, isCheckout: true });
      const files = linesOf(stderr, 'files loaded: ');
      expect(files, args.join(' ')).to.include('builtins/cli/commands.ts');
      expect(
        files.filter((file) =>
          /^(providers|strategies|plugins)\/|^builtins\/(?!cli\/)|^host\/(?!cli|common|contract|log|config|main|gw|compile-cache|own-files|stop-signal|environment\/build-info)/.test(
            file,
          ),
        ),
        args.join(' '),
      ).to.deep.equal([]);
      expect(linesOf(stderr, LOADED), args.join(' ')).to.have.members(['cac', 'leven']);
    }
  });
});
