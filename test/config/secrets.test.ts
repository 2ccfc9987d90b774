import { definePlugin, type PluginModule } from 'gw/contract';
import { expect } from 'chai';
import Joi from 'joi';
import { runCommand } from '../cli/commands.ts';
import { writeFile } from 'node:fs/promises';
import { chatReply, replyJson, startHost, stubUpstream, temporaryFolder, type TestHost } from '../kit/index.ts';

/** Says what it was given, as a careless module would. */
const chatty: PluginModule<{ address: string }> = definePlugin<{ address: string }>({
  name: 'chatty',
  type: 'guardrail',
  summary: 'Logs its settings',
  stages: ['before_request'],
  settings: Joi.object<{ address: string }, true>({ address: Joi.string().max(60).required() }),
  create: ({ address }, { log }) => {
    log.info('made', { address });
    return { before_request: () => {} };
  },
});

const SECRET = 'hunter2-hunter2-hunter2';
const entry = (address: string): object => ({
  name: 'chatty',
  type: 'guardrail',
  stage: 'before_request',
  enabled: true,
  config: { address },
});

async function start(variables: Readonly<Record<string, string>>, more: (stub: object) => object): Promise<TestHost> {
  const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
  return startHost({ targets: [stub.target('a')], ...more(stub) }, { modules: [chatty], variables });
}

describe('what a ${VAR} of the configuration stands for', () => {
  it('is in no log line, whatever its variable is called', async () => {
    const t = await start({ HOOK: SECRET }, () => ({ plugins: [entry('https://${HOOK}.example/x')] }));
    expect(t.lines.find(({ msg }) => msg === 'made')).to.include({ address: 'https://[REDACTED_SECRET].example/x' });
    t.host.log.info('elsewhere', { bytes: Buffer.from(SECRET).toString('base64') });
    expect(t.texts.join(''))
      .not.to.include(SECRET)
      .and.not.to.include(Buffer.from(SECRET).toString('base64').slice(0, 16));
  });

  it('is in no problem either', async () => {
    const t = await start({ HOOK: SECRET }, () => ({ plugins: [] }));
    const refused = await t
      .apply({ targets: [{ virtual_key: 'a' }], plugins: [entry(`\${HOOK}${'x'.repeat(50)}`)] })
      .then(
        () => '',
        (error: Error) => error.message,
      );
    expect(refused).to.include('cannot be built');
    expect(t.host.redactor.redact(refused)).not.to.include(SECRET);
  });
});

describe('a secret that stands in the configuration itself', () => {
  const config = {
    targets: [{ virtual_key: 'echo' }],
    mcp_servers: [
      {
        name: 'far',
        url: 'https://tools.example',
        headers: { 'X-Secret': 'header-secret-1', Authorization: 'Bearer bearer-secret-2', Accept: 'application/json' },
      },
      { name: 'near', command: 'tool', env: { PLACE: 'environment-secret-3', REFERENCE: '${SOMEWHERE_ELSE}' } },
    ],
    observability: {
      tracing: { headers: { 'x-team': 'tracing-secret-4' } },
      exporters: [{ name: 'e', enabled: false, config: { deep: [{ er: 'exporter-secret-5' }] } }],
    },
  };
  const secrets = [
    'header-secret-1',
    'bearer-secret-2',
    'environment-secret-3',
    'tracing-secret-4',
    'exporter-secret-5',
  ];

  it('is in no log line once the configuration was looked at', async () => {
    const t = await startHost(config);
    t.host.log.info('a line', { text: secrets.join(' ') });
    expect(t.lines.at(-1)).to.include({ msg: 'a line', text: secrets.map(() => '[REDACTED_SECRET]').join(' ') });
  });

  it('leaves what is not a secret readable', async () => {
    const t = await startHost(config);
    const plain = 'https://tools.example application/json ${SOMEWHERE_ELSE}';
    t.host.log.info('a line', { text: plain });
    expect(t.lines.at(-1)).to.include({ text: plain });
  });

  it('is in no message about a configuration that is refused', async () => {
    const cwd = await temporaryFolder();
    const [near, far] = config.mcp_servers;
    await writeFile(
      `${cwd}/config.json`,
      JSON.stringify({
        ...config,
        targets: [{ virtual_key: 'header-secret-1' }],
        mcp_servers: [near, far, { ...far, name: 'environment-secret-3' }, { ...far, name: 'environment-secret-3' }],
      }),
    );
    const { code, stderr, lines } = await runCommand(['serve'], { cwd, variables: { PORT: '0' } });
    expect(code).to.equal(1);
    expect(stderr).to.include('[REDACTED_SECRET]');
    for (const secret of secrets) expect(stderr + JSON.stringify(lines)).not.to.include(secret);
  });
});
