import { expect } from 'chai';
import { join } from 'node:path';
import { forSuite, inSoak, MASTER_KEY, runGw, some, startGateway } from '../../kit/index.ts';
import { writeTree } from '../../registry/support.ts';
import { plugin, provider, strategy } from './bad-module.ts';
import { VARIABLES, WHILE_BUILDING } from './while-building.ts';
import { WHILE_CHECKING } from './while-checking.ts';

const SOUND = { strategy: { mode: 'fallback' }, targets: [{ virtual_key: 'echo', models: ['m'] }] };
const ENTRY = { stage: 'before_request', enabled: true };

const configured = (config: object): string => `${JSON.stringify({ ...SOUND, ...config }, undefined, 1)}\n`;

describe('configurations that do not fit their modules', () => {
  for (const { does, config, files = {}, says, keepsSilent = [] } of some(WHILE_CHECKING, { every: 12, from: 6 })) {
    it(`one that ${does}`, async () => {
      const folder = await writeTree({ 'config.json': configured(config), ...files });
      const { code, stdout, stderr } = await runGw(['validate', join(folder, 'config.json')]);
      const lines = stderr.split('\n').slice(1);
      expect([code, stdout], stderr).to.deep.equal([1, '']);
      expect(stderr).to.match(/^Error: (validation failed|load config):\n/);
      for (const pieces of says)
        expect(
          lines.some((line) => pieces.every((piece) => line.includes(piece))),
          `${pieces.join(' … ')}\n${stderr}`,
        ).to.equal(true);
      for (const piece of keepsSilent) expect(stderr).not.to.include(piece);
    });
  }
});

describe('plugins that cannot be built', () => {
  const run = forSuite(async () => {
    const plugins = WHILE_BUILDING.map(({ file, config, stage = 'before_request' }) => ({
      ...ENTRY,
      name: /plugins\/(.*)\.ts/.exec(file)?.[1],
      stage,
      ...(config && { config }),
    }));
    const folder = await writeTree({
      'config.json': configured({ plugins }),
      ...Object.fromEntries(WHILE_BUILDING.map(({ file, source }) => [file, source])),
    });
    const config = join(folder, 'config.json');
    return {
      validated: await runGw(['validate', config]),
      started: await runGw(['serve'], { variables: { GATEWAY_CONFIG: config, PORT: '0', MASTER_KEY, ...VARIABLES } }),
    };
  });

  for (const { file, does, says, shows } of WHILE_BUILDING) {
    it(`${file}: one that ${does}`, () => {
      const { stderr } = run().started;
      for (const pieces of says)
        expect(
          stderr.split('\n').filter((line) => pieces.every((piece) => line.includes(piece))),
          `${pieces.join(' … ')}\n${stderr}`,
        ).to.have.lengthOf(1);
      if (shows !== undefined) expect(stderr).to.include(shows);
    });
  }

  it('pass validate, which builds nothing, and end a start with exit code 1 and one report', () => {
    const { validated, started } = run();
    expect([validated.code, validated.stderr]).to.deep.equal([0, '']);
    expect(started.code).to.equal(1);
    expect(started.stderr).to.match(/^Error: validation failed:\n/);
    expect(started.stdout).not.to.include('gw started');
  });
});

describe('strategies that cannot be built', () => {
  const BAD: readonly (readonly [does: string, fields: string, says: string])[] = [
    ['throws in create', "create: () => { throw new Error('no table'); }", 'no table at '],
    ['waits in create', 'create: async () => (targets) => targets', 'its create returns a promise'],
    ['returns a list', 'create: () => []', 'neither a function nor an object with rank'],
    [
      'returns an object whose settled is a text',
      "create: () => ({ rank: (t) => t, settled: 'yes' })",
      'neither a function nor an object with rank',
    ],
  ];
  for (const [does, fields, says] of some(BAD, { every: 4 })) {
    it(`one that ${does}`, async () => {
      const folder = await writeTree({
        'config.json': configured({ strategy: { mode: 'own' } }),
        'strategies/own.ts': strategy('own', fields),
      });
      const { code, stderr } = await runGw(['serve'], {
        variables: { GATEWAY_CONFIG: join(folder, 'config.json'), PORT: '0', MASTER_KEY },
      });
      expect(
        [code, stderr.split('\n')[1]?.startsWith('  strategy: PB01: strategy "own" cannot be built: ')],
        stderr,
      ).to.deep.equal([1, true]);
      expect(stderr).to.include(says);
    });
  }
});

describe('modules that are bad and do not keep the gateway from serving', () => {
  const CHATTY = plugin(
    'chatty',
    "create: () => { console.log('made'); return { before_request() { console.info('asked'); process.stdout.write('written\\n'); }, dispose: () => new Promise(() => {}) }; }",
    "console.log('loaded');",
  );

  it('one that prints, and never ends its dispose: stdout holds log lines alone, and a stop names it and exits with 0', async () => {
    const folder = await writeTree({
      'config.json': configured({ plugins: [{ ...ENTRY, name: 'chatty' }] }),
      'plugins/chatty.ts': CHATTY,
    });
    const gateway = await startGateway({ variables: { GATEWAY_CONFIG: join(folder, 'config.json') } });
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] });
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', connection: 'close' },
    });
    expect([response.status, await response.text().then((text) => text.includes('hi'))]).to.deep.equal([200, true]);
    expect(await gateway.stop()).to.equal(0);
    expect(
      gateway
        .stderr()
        .split('\n')
        .filter((line) => /^(loaded|made|asked|written)$/.test(line)),
    ).to.deep.equal(['loaded', 'made', 'asked', 'written']);
    expect(
      gateway.lines.filter(({ error }) =>
        String(error).includes('dispose of the plugin "chatty" did not finish within'),
      ),
    ).to.have.lengthOf(1);
  });

  inSoak('one that prints while validate loads it: stdout holds the data that was asked for', async () => {
    const folder = await writeTree({ 'config.json': configured({}), 'plugins/chatty.ts': CHATTY });
    const { code, stdout, stderr } = await runGw(['validate', join(folder, 'config.json'), '--format', 'json']);
    expect([code, stderr]).to.deep.equal([0, 'loaded\n']);
    expect(JSON.parse(stdout)).to.include.keys('targets');
  });

  inSoak('one whose open throws: it is left out, and the others serve', async () => {
    const folder = await writeTree({
      'config.json': configured({ targets: [{ virtual_key: 'closed' }, { virtual_key: 'echo' }] }),
      'providers/closed.ts': provider('closed', '', 'open: () => { throw Object.create(null); }'),
    });
    const gateway = await startGateway({
      variables: { GATEWAY_CONFIG: join(folder, 'config.json'), ACME_API_KEY: 'k' },
    });
    expect(
      gateway.lines.filter(
        ({ level, provider: name, error }) =>
          level === 'WARN' && name === 'closed' && error === 'something without a text was thrown',
      ),
    ).to.have.lengthOf(1);
    expect((await fetch(`${gateway.url}/livez`)).status).to.equal(200);
  });
});
