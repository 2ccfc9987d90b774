import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { BUILTINS, MODULES } from '../../builtins/manifest.ts';
import { systemClock } from '../../host/common/clock.ts';
import { createHost } from '../../host/create-host.ts';
import { startGateway } from '../../host/start/start-gateway.ts';
import { atEnd, MASTER_KEY, temporaryFolder } from '../kit/index.ts';

type Line = Readonly<Record<string, unknown>>;

const TARGET = 'targets: [{ virtual_key: echo }]\nstrategy: { mode: single }\n';

/** Starts a whole gateway in this process, on the configuration it is given; its log. */
async function startWith(
  config: string | undefined,
  variables: Readonly<Record<string, string>> = {},
): Promise<readonly Line[]> {
  const folder = await temporaryFolder();
  if (config !== undefined) await writeFile(join(folder, 'config.yaml'), config);
  const lines: Line[] = [];
  const host = createHost({
    variables: {
      PORT: '0',
      MASTER_KEY,
      ...(config !== undefined && { GATEWAY_CONFIG: join(folder, 'config.yaml') }),
      ...variables,
    },
    workingDirectory: folder,
    installDirectory: folder,
    build: { version: 'test', commit: 'none', built: 'unknown' },
    platform: { node: process.version, os: process.platform, arch: process.arch },
    clock: systemClock,
    random: Math.random,
    modules: MODULES,
    builtins: BUILTINS,
    lines: {
      write: (line) => {
        lines.push(JSON.parse(line) as Line);
      },
    },
  });
  const gateway = await startGateway(host);
  atEnd(() => gateway?.stop());
  return lines;
}

const ruled = (lines: readonly Line[], rule: string): readonly Line[] => lines.filter((line) => line['rule'] === rule);

describe('what a start warns of', () => {
  for (const written of ['v2', 'gw.example/v1']) {
    it(`an apiVersion that is not v1: ${written}`, async () => {
      const [line, ...more] = ruled(await startWith(`apiVersion: ${written}\n${TARGET}`), 'WN01');
      expect(more).to.deep.equal([]);
      expect(line).to.include({ level: 'WARN', msg: 'apiVersion is not v1', api_version: written });
    });
  }

  for (const written of ['apiVersion: v1\n', '']) {
    it(`no apiVersion that is v1, or absent: ${JSON.stringify(written)}`, async () => {
      expect(ruled(await startWith(written + TARGET), 'WN01')).to.deep.equal([]);
    });
  }

  it('no file at all: there is nothing to say of its version', async () => {
    expect(ruled(await startWith(undefined), 'WN01')).to.deep.equal([]);
  });

  it('no provider that has its credential, unless one has', async () => {
    expect(ruled(await startWith(TARGET), 'WN08')[0]).to.include({ level: 'WARN' });
    expect(ruled(await startWith(TARGET, { OPENAI_API_KEY: 'sk-none' }), 'WN08')).to.deep.equal([]);
  });

  it('targets without a credential: an error when all lack one, a warning when some do', async () => {
    const two = 'targets: [{ virtual_key: openai }, { virtual_key: echo }]\n';
    const all = 'targets: [{ virtual_key: openai }, { virtual_key: anthropic }]\n';
    const targetLines = async (config: string): Promise<readonly Line[]> =>
      (await startWith(config)).filter(({ targets, level }) => typeof targets === 'string' && level !== 'INFO');
    expect(await targetLines(two)).to.have.length(1);
    expect((await targetLines(two))[0]).to.include({ level: 'WARN', targets: 'openai', set: 'OPENAI_API_KEY' });
    expect((await targetLines(all))[0]).to.include({
      level: 'ERROR',
      targets: 'openai, anthropic',
      set: 'OPENAI_API_KEY, ANTHROPIC_API_KEY',
    });
    expect(await targetLines(TARGET)).to.deep.equal([]);
  });
});
