import { join } from 'node:path';
import { expect } from 'chai';
import { eventually, forSuite, startGateway } from '../../kit/index.ts';
import { writeTree } from '../../registry/support.ts';
import { plugin, provider, strategy } from './bad-module.ts';

/** Whose function leaves something behind that fails, the function's body, and what the error says. A plugin does so for the requests of one user. */
const LEFT_BEHIND: readonly (readonly [does: string, body: string, error: string, hasPlace: boolean])[] = [
  ['throws in a timer', "setTimeout(() => { throw new Error('late'); }, 5);", 'late', true],
  ['throws nothing in a microtask', 'queueMicrotask(() => { throw undefined; });', 'undefined was thrown', false],
  ['rejects with nothing waiting', "void Promise.reject(new Error('floating'));", 'floating', true],
  ['rejects with nothing', 'void Promise.reject();', 'undefined was thrown', false],
  [
    'emits an error without a listener',
    "setImmediate(() => new EventEmitter().emit('error', new Error('emitted')));",
    'emitted',
    true,
  ],
  ['opens a socket without a listener', "connect(1, '127.0.0.1');", 'ECONNREFUSED', false],
];
const nameOf = (does: string): string => does.replaceAll(' ', '-');
const IMPORTS = "import { EventEmitter } from 'node:events';\nimport { connect } from 'node:net';\n";

const FILES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    LEFT_BEHIND.map(([does, body]) => [
      `plugins/${nameOf(does)}.ts`,
      plugin(
        nameOf(does),
        `create: () => ({ before_request(e) { if (e.request.user === '${nameOf(does)}') { ${body} } } })`,
        IMPORTS,
      ),
    ]),
  ),
  'plugins/at-load.ts': plugin('at-load', '', "setTimeout(() => { throw new Error('from the top level'); }, 50);\n"),
  'plugins/at-load-connects.ts': plugin('at-load-connects', '', `${IMPORTS}connect(1, '127.0.0.1');\n`),
  'plugins/at-load-removes.ts': plugin('at-load-removes', '', "delete process.env['ACME_API_KEY'];\n"),
  'plugins/at-load-spawns.ts': plugin(
    'at-load-spawns',
    '',
    "import { spawn } from 'node:child_process';\nspawn('/no/such/program');\n",
  ),
  'listed.ts': strategy('listed', '').replace('export default', `${IMPORTS}connect(1, '127.0.0.1');\nexport default`),
  'plugins/in-create/helper.ts':
    "export const later = (): void => { setTimeout(() => { throw new Error('from a helper'); }, 20); };\n",
  'plugins/in-create/index.ts': plugin(
    'in-create',
    'create: () => { later(); return { before_request() {} }; }',
    "import { later } from './helper.ts';\n",
  ),
  'strategies/own.ts': strategy(
    'own',
    "create: () => (targets, { user }) => { if (user === 'own') setTimeout(() => { throw new Error('ranked late'); }, 1); return targets; }",
  ),
  'providers/acme/index.ts': provider('acme', '', "open: () => { connect(1, '127.0.0.1'); return {}; }").replace(
    'export default',
    "import { connect } from 'node:net';\nexport default",
  ),
};

describe('modules that fail in the background', () => {
  const run = forSuite(async () => {
    const plugins = Object.keys(FILES)
      .flatMap((file) => /^plugins\/([\w-]+?)(?:\.ts|\/index\.ts)$/.exec(file)?.[1] ?? [])
      .map((name) => ({ name, stage: 'before_request', enabled: true }));
    const folder = await writeTree({
      'config.json': JSON.stringify({
        modules: ['./listed.ts'],
        strategy: { mode: 'own' },
        targets: [{ virtual_key: 'echo', models: ['m'] }],
        plugins,
      }),
      ...FILES,
    });
    const gateway = await startGateway({
      variables: { GATEWAY_CONFIG: join(folder, 'config.json'), ACME_API_KEY: 'k' },
    });
    const post = async (user: string): Promise<{ status: number; id: string }> => {
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }], user }),
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      });
      await response.text();
      return { status: response.status, id: response.headers.get('x-request-id') ?? '' };
    };
    const line = async (kind: string, name: string): Promise<Record<string, unknown>> => {
      const find = (): Record<string, unknown> | undefined =>
        gateway.lines.find((each) => each['msg'] === `${kind} failed in the background` && each[kind] === name);
      await eventually(() => find() !== undefined);
      return find() ?? {};
    };
    return { folder, gateway, post, line };
  });

  for (const [does, , error, hasPlace] of LEFT_BEHIND) {
    it(`are named with the request, and everything goes on: a plugin that ${does}`, async () => {
      const { folder, post, line } = run();
      const { status, id } = await post(nameOf(does));
      expect(status).to.equal(200);
      const told = await line('plugin', nameOf(does));
      expect(told).to.include({ level: 'ERROR', trace_id: id });
      expect(String(told['error'])).to.include(error);
      if (hasPlace)
        expect(String(told['at'])).to.match(
          new RegExp(`^${RegExp.escape(join(folder, `plugins/${nameOf(does)}.ts`))}:\\d+:\\d+$`),
        );
      expect((await post('another')).status).to.equal(200);
    });
  }

  it('are named without a request where they were loaded or made, by their other files too', async () => {
    const { folder, line } = run();
    expect(await line('plugin', 'at-load'))
      .to.include({ error: 'from the top level' })
      .and.not.have.property('trace_id');
    expect(
      String((await line('plugin', 'at-load-connects'))['error']),
      'nothing of the module is in the stack',
    ).to.include('ECONNREFUSED');
    expect(String((await line('plugin', 'at-load-spawns'))['error'])).to.include('ENOENT');
    expect(String((await line('strategy', 'listed'))['error'])).to.include('ECONNREFUSED');
    const made = await line('plugin', 'in-create');
    expect([made['error'], String(made['at']).startsWith(join(folder, 'plugins/in-create/helper.ts:'))]).to.deep.equal([
      'from a helper',
      true,
    ]);
    expect(String((await line('provider', 'acme'))['error'])).to.include('ECONNREFUSED');
  });

  it('change nothing of the environment that the gateway started with', async () => {
    const { gateway } = run();
    const { providers } = (await (await fetch(`${gateway.url}/health`)).json()) as { providers: { name: string }[] };
    expect(providers.map(({ name }) => name)).to.include('acme');
  });

  it('are strategies as well', async () => {
    const { post, line } = run();
    expect((await post('own')).status).to.equal(200);
    expect(await line('strategy', 'own')).to.include({ error: 'ranked late' });
  });

  it('leave a gateway that stops as it should', async () => {
    const { gateway } = run();
    expect(gateway.lines.filter(({ msg }) => /the process ends|was not handled/.test(String(msg)))).to.deep.equal([]);
    expect(await gateway.stop()).to.equal(0);
  });
});
