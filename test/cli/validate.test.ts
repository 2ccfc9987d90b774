import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import Joi from 'joi';
import { definePlugin, type Surface, SURFACES } from 'gw/contract';
import { parse } from 'yaml';
import { defineBuiltin } from '../../host/builtin.ts';
import { runGw, temporaryFolder } from '../kit/index.ts';
import { commandHost, validateJson, validateText } from './commands.ts';

const filter = (more: object): object => ({
  name: 'word-filter',
  enabled: true,
  stage: 'before_request',
  config: { blocked_words: ['a'] },
  ...more,
});
const withPlugins = (...plugins: object[]): object => ({ targets: [{ virtual_key: 'echo' }], plugins });

/** The coverage table of an output: header, rule, rows; and the warnings under it. */
function readCoverage(stdout: string): { header: string; dashes: string; rows: string[][]; warnings: string[] } {
  const lines = stdout.trimEnd().split('\n');
  const [header = '', dashes = '', ...rest] = lines.slice(lines.findIndex((line) => line.startsWith('SURFACE')));
  const isWarning = (line: string): boolean => line.startsWith('warning');
  return {
    header,
    dashes,
    rows: rest.filter((line) => !isWarning(line)).map((line) => line.split(/ {3,}/)),
    warnings: rest.filter(isWarning),
  };
}

/** Serves further surfaces, as a later version will. */
const moreSurfaces = (...surfaces: Surface[]) =>
  defineBuiltin({
    name: 'more-surfaces',
    apply: ({ hooks }) =>
      hooks.surfaces.tap('test', (named) => {
        for (const surface of surfaces) named.add(surface);
      }),
  });

describe('gw validate', () => {
  it('sums up a valid configuration', async () => {
    const { code, stdout, stderr } = await validateJson({
      strategy: { mode: 'fallback' },
      targets: [{ virtual_key: 'openai' }, { virtual_key: 'echo' }],
      aliases: { a: 'b', c: 'd' },
      plugins: [filter({}), { name: 'max-token', enabled: false }],
    });
    expect(code).to.equal(0);
    expect(stderr).to.equal('');
    expect(stdout.split('\n').slice(0, 7)).to.deep.equal([
      '[OK] Config is valid',
      'Strategy: fallback',
      'Targets: 2',
      'Providers: openai, echo',
      'Plugins: word-filter (enabled), max-token (disabled)',
      'Aliases: 2',
      '',
    ]);
  });

  it('leaves out what there is none of', async () => {
    const { stdout } = await validateJson({ targets: [{ virtual_key: 'echo' }] });
    expect(stdout.split('\n').slice(0, 5)).to.deep.equal([
      '[OK] Config is valid',
      'Strategy: single',
      'Targets: 1',
      'Providers: echo',
      '',
    ]);
  });

  for (const format of ['json', 'yaml']) {
    it(`prints the normalized configuration as ${format}, secrets and references as they are written`, async () => {
      const settings = { blocked_words: ['${WORD}', 'sk-abcdefghijklmnopqrstuvwxyz'] };
      const { code, stdout, stderr } = await validateText(
        `targets: [{virtual_key: echo, models: [1.10]}]\nplugins:\n  - {name: word-filter, stage: before_request, enabled: yes, config: ${JSON.stringify(settings)}}\n`,
        'config.yaml',
        { args: ['--format', format], variables: { WORD: 'resolved' } },
      );
      expect(code).to.equal(0);
      expect(stderr).to.equal('');
      expect(format === 'json' ? JSON.parse(stdout) : parse(stdout)).to.deep.equal({
        apiVersion: 'v1',
        strategy: { mode: 'single' },
        targets: [{ virtual_key: 'echo', models: ['1.10'] }],
        plugins: [{ name: 'word-filter', stage: 'before_request', enabled: true, config: settings }],
      });
    });

    it(`prints ${format} that is valid and means the same again`, async () => {
      const first = await validateJson(withPlugins(filter({}), filter({ stage: 'after_request' })), {
        args: ['--format', format],
      });
      const second = await validateText(first.stdout, `config.${format}`, { args: ['--format', format] });
      expect(second.stdout).to.equal(first.stdout);
    });
  }

  it('indents JSON by two', async () => {
    const { stdout } = await validateJson({ targets: [{ virtual_key: 'echo' }] }, { args: ['--format', 'json'] });
    expect(stdout).to.equal(`${JSON.stringify(JSON.parse(stdout), null, 2)}\n`);
  });

  for (const format of ['table', 'json', 'yaml']) {
    it(`tells problems on stderr alone, with --format ${format} too`, async () => {
      const { code, stdout, stderr } = await validateJson(
        { targets: [{ virtual_key: 'nosuch' }] },
        { args: ['--format', format] },
      );
      expect(code).to.equal(1);
      expect(stdout).to.equal('');
      expect(stderr).to.match(/^Error: validation failed:\n {2}targets\[0\]\.virtual_key: BV01: /);
    });
  }

  it('is the same from a real process: report on one stream, nothing on the other', async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'good.yaml'), 'targets: [{virtual_key: echo}]\n');
    await writeFile(join(cwd, 'bad.yaml'), 'targets: [{virtual_key: echo, weightt: 1}]\n');
    const good = await runGw(['validate', 'good.yaml'], { cwd });
    expect(good).to.include({ code: 0, stderr: '' });
    expect(good.stdout).to.match(/^\[OK\] Config is valid\n/);
    const bad = await runGw(['validate', join(cwd, 'bad.yaml')], { cwd: '/' });
    expect(bad).to.include({ code: 1, stdout: '' });
    expect(bad.stderr).to.match(
      /^Error: load config:\n {2}targets\[0\]\.weightt: DC01: .*; fix: did you mean "weight"\? \(line 1\)\n$/,
    );
    expect(await readdir(cwd)).to.have.members(['good.yaml', 'bad.yaml']);
  });

  it('does not need what the environment would have to hold to start', async () => {
    const variables = {
      GATEWAY_ENV: 'production',
      ALLOW_UNAUTHENTICATED_PROXY: 'true',
      TRUSTED_PROXIES: 'nonsense',
      PORT: 'nonsense',
    };
    expect((await validateJson({ targets: [{ virtual_key: 'openai' }] }, { variables })).code).to.equal(0);
  });

  it('writes no log', async () => {
    expect(
      (await validateJson({ targets: [{ virtual_key: 'openai' }] }, { variables: { LOG_LEVEL: 'debug' } })).lines,
    ).to.deep.equal([]);
  });
});

describe('the coverage table of gw validate', () => {
  it('has a row per tag of a served surface and stage, in columns', async () => {
    const served = [
      ...new Set(commandHost({ cwd: await temporaryFolder() }).surfaces.map((surface) => SURFACES[surface].tag)),
    ];
    const { header, dashes, rows } = readCoverage((await validateJson(withPlugins())).stdout);
    expect(header.split(/ {3,}/)).to.deep.equal(['SURFACE', 'STAGE', 'READ BY']);
    expect(dashes.split(/ {3,}/)).to.deep.equal(['-------', '-----', '-------']);
    expect(rows.map(([tag, stage]) => `${tag} ${stage}`)).to.deep.equal(
      served.flatMap((tag) => [`${tag} before_request`, `${tag} after_request`]),
    );
  });

  it('names the enabled plugins that read each body', async () => {
    const { stdout } = await validateJson(
      withPlugins(
        filter({}),
        filter({ stage: 'after_request' }),
        { name: 'max-token', stage: 'before_request', enabled: true },
        { name: 'nosuch' },
      ),
    );
    const { rows, warnings } = readCoverage(stdout);
    expect(rows).to.deep.include(['chat', 'before_request', 'word-filter, max-token']);
    expect(rows).to.deep.include(['chat', 'after_request', 'word-filter']);
    expect(warnings).to.deep.equal([]);
  });

  it('warns of each body that no content guardrail reads while another is guarded', async () => {
    const { warnings } = readCoverage((await validateJson(withPlugins(filter({})))).stdout);
    expect(warnings.join('\n')).to.match(/^warning .*chat.*after_request/m);
    expect(warnings.join('\n')).to.not.contain('before_request');
  });

  it('does not warn where no guardrail reads content: none at all, an observing one, one without words, limits alone', async () => {
    for (const plugins of [
      [],
      [filter({ config: { blocked_words: ['a'], observe: true } })],
      [filter({ config: {} })],
      [{ name: 'max-token', stage: 'before_request', enabled: true }],
    ]) {
      expect(readCoverage((await validateJson(withPlugins(...plugins))).stdout).warnings).to.deep.equal([]);
    }
  });

  it('marks the answers of pass-through and responses as recorded', async () => {
    const { stdout } = await validateJson(withPlugins(filter({}), filter({ stage: 'after_request' })), {
      builtins: [moreSurfaces('passthrough', 'responses')],
    });
    const marked = readCoverage(stdout)
      .rows.filter(([, , readers]) => readers?.includes('recorded'))
      .map(([tag, stage]) => `${tag} ${stage}`);
    expect(marked).to.have.members(['passthrough after_request', 'responses after_request']);
  });

  it('shows both modes of responses in one row where some are translated', async () => {
    const plugins = [filter({}), filter({ stage: 'after_request' })];
    const rowsWith = async (more: object): Promise<readonly string[][]> => {
      const { stdout } = await validateJson({ ...withPlugins(...plugins), ...more });
      return readCoverage(stdout).rows.filter(([tag]) => tag === 'responses');
    };
    const forwarded = [
      ['responses', 'before_request', 'word-filter'],
      ['responses', 'after_request', 'word-filter (recorded)'],
    ];
    expect(await rowsWith({})).to.deep.equal(forwarded);
    const both = [
      ['responses', 'before_request', 'word-filter; translated: word-filter'],
      ['responses', 'after_request', 'word-filter (recorded); translated: word-filter'],
    ];
    expect(await rowsWith({ responses: { translate: 'auto' } })).to.deep.equal(both);
    expect(await rowsWith({ targets: [{ virtual_key: 'echo', responses: 'translate' }] })).to.deep.equal(both);
  });

  it('says refused for audio in front of a content guardrail, which cannot read it, and not in front of others', async () => {
    const rowsWith = async (...plugins: object[]): Promise<string[][]> =>
      readCoverage((await validateJson(withPlugins(...plugins))).stdout).rows;
    expect(await rowsWith(filter({}))).to.deep.include(['audio.transcriptions', 'before_request', 'refused']);
    expect(await rowsWith({ name: 'max-token', stage: 'before_request', enabled: true })).to.deep.include([
      'audio.transcriptions',
      'before_request',
      'max-token',
    ]);
  });

  it('says refused where a content guardrail leaves a surface out', async () => {
    const chatOnly = definePlugin<object>({
      name: 'chat-only',
      type: 'guardrail',
      summary: 'For this test',
      stages: ['before_request'],
      surfaces: ['chat'],
      settings: Joi.object({}),
      create: () => ({ before_request: () => undefined }),
    });
    const config = withPlugins({ name: 'chat-only', stage: 'before_request', enabled: true });
    const { rows } = readCoverage(
      (await validateJson(config, { modules: [chatOnly], builtins: [moreSurfaces('embeddings')] })).stdout,
    );
    expect(rows).to.deep.include(['chat', 'before_request', 'chat-only']);
    expect(rows).to.deep.include(['embeddings', 'before_request', 'refused']);
  });
});
