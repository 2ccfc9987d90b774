import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Agent, benchWith, installBefore, runAgent } from './agent.ts';
import type { Step } from './scripted.ts';

/** The version that was looked at. */
const GEMINI: Agent = { packageName: '@google/gemini-cli', version: '0.61.0', bin: 'gemini' };
const NAME = 'gemini-3.8-flash';
const TARGETS = { gemini: 'gemini-own', openai: 'gpt-own', deepseek: 'deepseek-chat', anthropic: 'claude-own' };

function stepsOf(tools: readonly string[]): readonly Step[] {
  if (!tools.includes('run_shell_command')) return [{ say: 'no tools' }];
  const shell = (command: string): Step => ({
    tool: 'run_shell_command',
    args: { command, description: 'makes a file' },
  });
  return [shell('echo made > made.txt && cat made.txt'), shell('cat made.txt > copied.txt'), { say: 'all is done' }];
}

describe(`Gemini CLI ${GEMINI.version}`, () => {
  installBefore(GEMINI);

  for (const [target, model] of Object.entries(TARGETS)) {
    it(`finishes a task with two commands through ${target}`, async () => {
      const bench = await benchWith(target, model, NAME, stepsOf, (url) =>
        target === 'gemini' ? `${url}/v1beta` : target === 'anthropic' ? `${url}/v1` : url,
      );
      const { gateway, home, work, upstream } = bench;
      await mkdir(join(home, '.gemini'));
      await writeFile(
        join(home, '.gemini', 'settings.json'),
        JSON.stringify({
          security: { auth: { selectedType: 'gemini-api-key' } },
          privacy: { usageStatisticsEnabled: false },
        }),
      );
      const said = await runAgent(GEMINI, ['-p', 'make the files', '-m', NAME, '--yolo', '--skip-trust'], bench, {
        GOOGLE_GEMINI_BASE_URL: gateway.url,
        GEMINI_API_KEY: gateway.key,
      });
      expect(said).to.include('all is done');
      for (const file of ['made.txt', 'copied.txt'])
        expect(await readFile(join(work, file), 'utf8')).to.equal('made\n');
      expect(upstream.seen.length).to.be.greaterThan(2);
    });
  }
});
