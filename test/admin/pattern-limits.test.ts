import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { patternSize } from 'gw/contract';
import { validateJson } from '../cli/commands.ts';
import { type Answer, eventually, runGw, startGateway, startHost, temporaryFolder } from '../kit/index.ts';
import { ECHO, startAdmin } from './kit.ts';

/** 0.6 kB, 8 kB: each count makes a thousand instructions. */
const SMALL = Array.from({ length: 60 }, () => '[^a]{1000}');
const LARGE = Array.from({ length: 800 }, () => '[^a]{1000}');
const ONE = ['fine', `(?:${'ab'.repeat(50)}){1000}`];

const withPatterns = (...lists: readonly (readonly string[])[]): object => ({
  ...ECHO,
  plugins: lists.map((patterns) => ({
    name: 'regex-guard',
    stage: 'before_request',
    enabled: true,
    config: { patterns },
  })),
});
const TOO_LARGE = 'plugin "regex-guard": setting patterns is too large: its patterns may compile to';
const CASES = [
  [SMALL, 'plugins[0].config.patterns', TOO_LARGE, sum(SMALL)],
  [LARGE, 'plugins[0].config.patterns', TOO_LARGE, sum(LARGE)],
  [
    ONE,
    'plugins[0].config.patterns[1]',
    'plugin "regex-guard": setting patterns[1] is too large: it may compile to',
    patternSize(ONE[1] ?? ''),
  ],
] as const;

function sum(patterns: readonly string[]): number {
  return patterns.reduce((all, pattern) => all + patternSize(pattern), 0);
}

const message = (answer: Answer): string => (answer.json() as { error: { message: string } }).error.message;

describe('patterns that would compile to too much', () => {
  it('are refused by PUT and POST /admin/config/validate, with their path, size and limit', async () => {
    const t = await startAdmin();
    for (const [patterns, path, why, size] of CASES) {
      const put = await t.request('PUT', '/admin/config', withPatterns(patterns));
      expect(put.status).to.equal(400);
      expect(message(put)).to.include(path).and.to.include(`${why} ${size} instructions, the limit is 50000`);
      const checked = await t.request('POST', '/admin/config/validate', withPatterns(patterns));
      expect(checked.text).to.include('too large').and.to.include(String(size));
    }
  });

  it('are refused by `gw validate`, a start and a reload', async () => {
    for (const [patterns, path, why, size] of CASES) {
      const { code, stderr } = await validateJson(withPatterns(patterns));
      expect([code, stderr.match(/BV06/g)?.length]).to.deep.equal([1, 1]);
      expect(stderr).to.include(path).and.to.include(`${why} ${size} instructions, the limit is 50000`);
    }
    const cwd = await temporaryFolder();
    const file = join(cwd, 'config.json');
    await writeFile(file, JSON.stringify(withPatterns(LARGE)));
    const start = await runGw(['serve'], { cwd, variables: { GATEWAY_CONFIG: file, PORT: '0' } });
    expect([start.code, start.stderr.includes('instructions, the limit is 50000')]).to.deep.equal([1, true]);
    await writeFile(file, JSON.stringify(withPatterns(['fine'])));
    const gateway = await startGateway({ cwd, variables: { GATEWAY_CONFIG: file, GW_CONFIG_WATCH: 'true' } });
    await writeFile(file, JSON.stringify(withPatterns(LARGE)));
    const isRefused = (): boolean => JSON.stringify(gateway.lines).includes('instructions, the limit is 50000');
    await eventually(isRefused, 20_000);
    expect(isRefused()).to.equal(true);
  });

  it('are bounded over all plugins of a configuration', async () => {
    const lists = Array.from({ length: 6 }, (_, at) => [`x${at}`, ...SMALL.slice(0, 40)]);
    const { code, stderr } = await validateJson(withPatterns(...lists));
    expect(code).to.equal(1);
    expect(stderr)
      .to.include('plugins[4].config')
      .and.to.include('the limit is 200000')
      .and.not.include('plugins[3].config');
    expect((await validateJson(withPatterns(...lists.slice(0, 4)))).code, 'up to there they are fine').to.equal(0);
  });

  it('are bounded in the conditions of a strategy', async () => {
    const condition = (value: string): object => ({ type: 'prompt_regex', value, target_key: 'echo' });
    const conditions = [...SMALL.slice(0, 41), '(?:broken', ...SMALL.slice(0, 2)].map(condition);
    const { code, stderr } = await validateJson({
      ...ECHO,
      strategy: { mode: 'content-based', content_conditions: conditions },
    });
    expect(code).to.equal(1);
    expect(stderr).to.include('strategy.content_conditions[41].value').and.to.include('does not compile');
    expect(stderr).to.include('strategy.content_conditions[42].value').and.to.include('the limit is 50000');
    expect(stderr).not.to.include('content_conditions[40]');
  });

  it('leave what serves as it is', async () => {
    const t = await startHost(withPatterns(['secret word']));
    expect((await t.request('PUT', '/admin/config', withPatterns(LARGE))).status).to.equal(400);
    expect(
      (await t.post('/v1/chat/completions', { model: 'echo', messages: [{ role: 'user', content: 'a secret word' }] }))
        .status,
    ).to.equal(400);
  });
});
