import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import {
  chatReply,
  MASTER_KEY,
  replyJson,
  startHost,
  stubUpstream,
  temporaryFolder,
  type TestHost,
} from '../kit/index.ts';
import { runCommand, validateJson } from './commands.ts';

const NOWHERE = 'http://127.0.0.1:9';

/** Refuses the credential that ends in `bad`. */
const server = () =>
  stubUpstream((request, response) => {
    if (request.headers.authorization?.endsWith('bad') === true)
      replyJson(response, 401, { error: { message: 'invalid key', code: 'invalid_api_key' } });
    else if (request.method === 'GET') replyJson(response, 200, { data: [{ id: 'live' }, { id: 'other' }] });
    else replyJson(response, 200, chatReply('hi'));
  });

const FLEET = {
  providers: {
    'gpu-1': { kind: 'openai-compatible', base_url: 'http://10.0.0.11:8000/v1' },
    pool: {
      kind: 'openai',
      credentials: [
        { name: 'team-a', api_key: '${KEY_A}' },
        { name: 'team-b', api_key: '${file:/run/secrets/b}' },
      ],
    },
    claude: { kind: 'bedrock', settings: { region: 'eu-central-1' } },
  },
  targets: [{ virtual_key: 'gpu-1' }, { virtual_key: 'pool' }, { virtual_key: 'claude' }],
  models: [
    {
      name: 'smart',
      routes: [
        { target: 'gpu-1', model: 'qwen', weight: 1 },
        { target: 'pool', weight: 2 },
      ],
      strategy: { mode: 'loadbalance' },
      fallbacks: ['rest', 'gpt-5'],
    },
    { name: 'rest', routes: [{ target: 'claude', model: 'm' }] },
  ],
};

describe('gw validate with instances and groups', () => {
  it('shows each of them in a table, and nothing is resolved', async () => {
    const { code, stdout, stderr } = await validateJson(FLEET);
    expect([code, stderr]).to.deep.equal([0, '']);
    expect(stdout.slice(0, stdout.indexOf('SURFACE'))).to.equal(`[OK] Config is valid
Strategy: single
Targets: 3
Providers: gpu-1, pool, claude

INSTANCE   KIND                ADDRESS          CREDENTIALS
--------   ----                -------          -----------
gpu-1      openai-compatible   10.0.0.11:8000   default
pool       openai              api.openai.com   team-a, team-b
claude     bedrock             of its kind      default

GROUP   ROUTES             STRATEGY      FALLBACKS
-----   ------             --------      ---------
smart   gpu-1@qwen, pool   loadbalance   rest, gpt-5
rest    claude@m           fallback      -

`);
  });

  it('says what to write in the place of a proxy that is none, and of half a set of secrets', async () => {
    const { code, stderr } = await validateJson({
      providers: {
        near: { kind: 'openai-compatible', base_url: NOWHERE, proxy: { url: 'socks5://proxy:1080' } },
        claude: { kind: 'bedrock', settings: { region: 'eu-central-1' }, access_key_id: '${ID}' },
      },
      targets: [{ virtual_key: 'near' }],
    });
    expect(code).to.equal(1);
    expect(stderr)
      .to.match(
        /CV53: the proxy of "near" is not an http or https address; fix: write its address, such as http:\/\/proxy/,
      )
      .and.match(
        /BV12: "claude" has access_key_id, which is not one of the sets of its kind; fix: bedrock takes api_key; or /,
      );
  });

  it('shows neither where there is none', async () => {
    const { stdout } = await validateJson({ targets: [{ virtual_key: 'echo' }] });
    expect(stdout).not.to.match(/INSTANCE|GROUP/);
    const { stdout: groups } = await validateJson({
      targets: [{ virtual_key: 'echo' }],
      models: [{ name: 'm', routes: [{ target: 'echo' }] }],
    });
    expect(groups)
      .to.match(/^m {7}echo/m)
      .and.not.match(/INSTANCE/);
  });
});

describe('gw init and the fleet', () => {
  it('shows an instance and a group in comments, behind what it wrote before', async () => {
    for (const OPENAI_API_KEY of ['', 'a']) {
      const cwd = await temporaryFolder();
      await runCommand(['init'], { cwd, variables: { OPENAI_API_KEY } });
      const text = await readFile(join(cwd, 'config.yaml'), 'utf8');
      expect(text.slice(text.indexOf('      blocked_words: [forbidden]\n'))).to.equal(`      blocked_words: [forbidden]

## A server of your own that speaks the OpenAI wire. Add "- virtual_key: local" to the targets, and its models are served.
# providers:
#   local:
#     kind: openai-compatible
#     base_url: http://localhost:8000

## One name for clients, and what serves it; "- target: local" may stand here once it is a target. See docs/fleet.md.
# models:
#   - name: smart
#     routes:
#       - target: openai
#         model: name-of-a-model
`);
      const uncommented = text.replaceAll(/^( *)# ?/gm, '$1');
      expect(parse(uncommented)).to.have.nested.property('providers.local.kind', 'openai-compatible');
      await writeFile(join(cwd, 'config.yaml'), uncommented);
      expect((await runCommand(['validate', 'config.yaml'], { cwd })).stderr).to.equal('');
    }
  });
});

describe('gw doctor with instances and groups', () => {
  async function doctor(config: object, args: string[] = [], variables: Record<string, string> = {}): Promise<string> {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'config.json'), JSON.stringify(config));
    const options = { cwd, variables: { GW_URL: NOWHERE, PORT: '0', ...variables } };
    const { code, stdout, stderr, lines } = await runCommand(['doctor', ...args], options);
    expect([code, stderr, lines]).to.deep.equal([0, '', []]);
    return stdout;
  }
  const section = (text: string, title: string): string[] | undefined =>
    text
      .split('\n\n')
      .map((each) => each.split('\n'))
      .find(([first]) => first === title)
      ?.slice(1)
      .map((line) => line.trim());

  it('says of each reference whether it is set, readable and kept from others, and of each server whether it answers', async () => {
    const upstream = await server();
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'in'));
    await writeFile(join(folder, 'in/open'), 'secret-value-1');
    await chmod(join(folder, 'in/open'), 0o644);
    await writeFile(join(folder, 'in/closed'), 'secret-value-2', { mode: 0o600 });
    const shown = await doctor(
      {
        providers: {
          near: {
            kind: 'openai-compatible',
            base_url: upstream.url,
            headers: { 'X-Key': '${HEADER_KEY}' },
            credentials: [
              { name: 'a', api_key: '${KEY_A}' },
              { name: 'b', api_key: `\${file:${folder}/in/open}` },
              { name: 'c', api_key: `\${file:${folder}/in/closed}` },
              { name: 'd', api_key: `\${file:${folder}/in/absent}` },
              { name: 'e', api_key: '${KEY_E}' },
            ],
          },
          far: { kind: 'openai-compatible', base_url: NOWHERE },
        },
        targets: [{ virtual_key: 'near' }, { virtual_key: 'far' }],
      },
      [],
      { GW_SECRET_DIRS: join(folder, 'in'), KEY_A: 'secret-value-3', HEADER_KEY: 'secret-value-4' },
    );
    const host = new URL(upstream.url).host;
    expect(section(shown, 'Instances')).to.deep.equal([
      '[OK] providers.near.headers.X-Key: ${HEADER_KEY} is set',
      '[OK] providers.near.credentials[0].api_key: ${KEY_A} is set',
      `[!] providers.near.credentials[1].api_key: ${folder}/in/open can be read by every user of this machine; run chmod o-r`,
      `[OK] providers.near.credentials[2].api_key: ${folder}/in/closed is readable`,
      `[X] providers.near.credentials[3].api_key: ${folder}/in/absent: no such file; the credential is not used until it is mended`,
      '[X] providers.near.credentials[4].api_key: ${KEY_E}: not set; the credential is not used until it is mended',
      `[OK] near: ${host} accepts connections`,
      '[!] far: 127.0.0.1:9 cannot be reached: ECONNREFUSED; check base_url, proxy and the server',
    ]);
    expect(upstream.seen, 'nothing is sent').to.have.length(0);
    expect(shown).not.to.match(/secret-value/);
  });

  it('says of a link that leads out of the secret directories that it does', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'in'));
    await writeFile(join(folder, 'outside'), 'secret-value-5');
    await symlink(join(folder, 'outside'), join(folder, 'in/key'));
    const near = { kind: 'openai-compatible', base_url: NOWHERE, api_key: `\${file:${folder}/in/key}` };
    const shown = await doctor({ providers: { near }, targets: [{ virtual_key: 'near' }] }, [], {
      GW_SECRET_DIRS: join(folder, 'in'),
    });
    expect(section(shown, 'Instances')?.[0]).to.equal(
      `[X] providers.near.api_key: ${folder}/in/key: outside the secret directories (GW_SECRET_DIRS is ${folder}/in; a link may not lead out of it); the credential is not used until it is mended`,
    );
    expect(shown).not.to.include('secret-value-5');
  });

  it('does not warn of the environment where the configuration declares instances', async () => {
    const near = { kind: 'openai-compatible', base_url: NOWHERE };
    const shown = await doctor({ providers: { near }, targets: [{ virtual_key: 'near' }] });
    expect(section(shown, 'Provider API Keys')?.at(-1)).to.equal('[-] no provider API keys detected');
  });

  it('names instances without a target and groups without a registered route', async () => {
    const shown = await doctor({
      providers: { idle: { kind: 'openai-compatible', base_url: NOWHERE } },
      targets: [{ virtual_key: 'groq' }],
      models: [{ name: 'fast', routes: [{ target: 'groq', model: 'm' }] }],
    });
    const found = section(shown, 'Instances and groups') ?? [];
    expect(found.map((line) => /^\[!\] (\S+): (WN\d+)/.exec(line)?.slice(1))).to.deep.equal([
      ['providers.idle', 'WN19'],
      ['models[0]', 'WN21'],
    ]);
    expect(found[1]).to.match(/"fast" is registered: groq; fix: /);
  });

  it('has none of these sections without the blocks', async () => {
    const shown = await doctor({ targets: [{ virtual_key: 'echo' }] });
    expect(shown).not.to.match(/Instances|Models by credential/);
    const probed = await doctor({ targets: [{ virtual_key: 'echo' }] }, ['--probe']);
    expect(section(probed, 'Models by credential')).to.deep.equal(['[-] the configuration declares no provider']);
  });

  it('lists models once per credential with --probe, and says which credential is refused', async () => {
    const upstream = await server();
    const shown = await doctor(
      {
        providers: {
          near: {
            kind: 'openai-compatible',
            base_url: upstream.url,
            credentials: [
              { name: 'good', api_key: '${GOOD}' },
              { name: 'bad', api_key: '${BAD}' },
              { name: 'absent', api_key: '${ABSENT}' },
            ],
          },
          azure: { kind: 'azure-openai', base_url: 'http://127.0.0.1:9', api_key: '${GOOD}' },
        },
        targets: [{ virtual_key: 'near' }, { virtual_key: 'azure' }],
      },
      ['--probe'],
      { GOOD: 'secret-value-good', BAD: 'secret-value-bad' },
    );
    const found = section(shown, 'Models by credential') ?? [];
    expect(found.slice(0, 3)).to.deep.equal([
      '[OK] near, credential good: 2 models',
      found[1],
      '[X] near, credential absent: it cannot be used, see above',
    ]);
    expect(found[1]).to.match(/^\[X\] near, credential bad: /);
    expect(upstream.seen.map(({ method, url }) => `${method} ${url}`)).to.deep.equal([
      'GET /v1/models',
      'GET /v1/models',
    ]);
    expect(shown).not.to.match(/secret-value/);
  });
});

describe('gw status and gw admin providers list with instances', () => {
  async function start(isDeclared: boolean): Promise<TestHost> {
    const upstream = await server();
    const near = {
      kind: 'openai-compatible',
      base_url: upstream.url,
      models: ['m'],
      credentials: [
        { name: 'a', api_key: '${GOOD}' },
        { name: 'b', api_key: '${GOOD}' },
        { name: 'c', api_key: '${ABSENT}' },
      ],
    };
    const variables = { GOOD: 'secret-value-good' };
    return startHost(
      isDeclared
        ? { providers: { near }, targets: [{ virtual_key: 'near' }, { virtual_key: 'echo' }] }
        : { targets: [{ virtual_key: 'echo' }] },
      { variables },
    );
  }
  const run = async ({ url }: TestHost, ...args: string[]): Promise<string> =>
    (await runCommand(args, { variables: { GW_URL: url, GW_API_KEY: MASTER_KEY } })).stdout;

  it('say the kind, and how many credentials are ready', async () => {
    const t = await start(true);
    const list = await run(t, 'admin', 'providers', 'list');
    expect(list.split('\n')[0]?.split(/ {3,}/)).to.deep.equal(['PROVIDER', 'MODELS', 'KIND', 'CREDENTIALS']);
    expect(list).to.match(/^near +1 +openai-compatible +2\/3 ready$/m);
    expect(await run(t, 'status')).to.match(/ near .*kind openai-compatible {3}credentials 2\/3 ready/);
  });

  it('say neither where no instance is declared', async () => {
    const t = await start(false);
    expect((await run(t, 'admin', 'providers', 'list')).split('\n')[0]).to.equal('PROVIDER   MODELS');
    expect(await run(t, 'status')).not.to.match(/kind|credentials/);
  });
});

describe('the banner with instances and groups', () => {
  async function start(config: object): Promise<{ shown: string; lines: Record<string, any>[] }> {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'config.json'), JSON.stringify(config));
    const { stderr, lines } = await runCommand(['serve'], { cwd, variables: { PORT: '0', MASTER_KEY } });
    return { shown: stderr, lines };
  }

  it('counts both, names what has no usable credential, and asks the first group that something serves', async () => {
    const near = { kind: 'openai-compatible', base_url: NOWHERE, models: ['m'] };
    const { shown, lines } = await start({
      providers: { near, closed: { ...near, api_key: '${ABSENT}' } },
      targets: [{ virtual_key: 'near' }, { virtual_key: 'closed' }],
      models: [
        { name: 'unserved', routes: [{ target: 'closed' }] },
        { name: 'hidden', listed: false, routes: [{ target: 'near' }] },
        { name: 'oss/*', routes: [{ target: 'near', model: '*' }] },
        { name: 'smart', routes: [{ target: 'near' }] },
      ],
    });
    expect(shown)
      .to.match(/^ {2}\[OK\] near$/m)
      .and.match(/^ {2}\[-\] closed \(no credential of it can be used\)$/m)
      .and.match(/^ {2}1 providers \| strategy single \| 0 plugins \| 2 instances \| 4 groups$/m)
      .and.contain('-d \'{"model":"smart",');
    expect(lines.find(({ rule }) => rule === 'WN02')).to.include({
      targets: 'closed',
      set: 'providers.closed.api_key',
    });
    const absent = lines.find(({ rule }) => rule === 'WN02');
    expect(absent).to.include({ targets: 'closed', set: 'providers.closed.api_key' });
  });

  it('counts one as one, and asks a model where no group is served', async () => {
    const { shown } = await start({
      providers: { near: { kind: 'openai-compatible', base_url: NOWHERE, models: ['m'] } },
      targets: [{ virtual_key: 'near' }, { virtual_key: 'groq' }],
      models: [{ name: 'unserved', routes: [{ target: 'groq' }] }],
    });
    expect(shown)
      .to.match(/ \| 1 instance \| 1 group$/m)
      .and.contain('-d \'{"model":"m",');
  });
});
