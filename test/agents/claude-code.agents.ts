import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Agent, benchWith, installBefore, runAgent } from './agent.ts';
import type { Step } from './scripted.ts';

/** The version that was looked at. */
const CLAUDE: Agent = {
  packageName: '@anthropic-ai/claude-code',
  version: '2.1.197',
  bin: 'claude',
  afterwards: 'install.cjs',
};
const NAME = 'claude-opus-4-8';
const TARGETS = { anthropic: 'claude-own', openai: 'gpt-own', deepseek: 'deepseek-chat', gemini: 'gemini-own' };

/** Two commands; requests without tools want a title. */
function stepsOf(tools: readonly string[]): readonly Step[] {
  if (!tools.includes('Bash')) return [{ say: 'a title' }];
  const bash = (command: string): Step => ({ tool: 'Bash', args: { command, description: 'makes a file' } });
  return [bash('echo made > made.txt && cat made.txt'), bash('cat made.txt > copied.txt'), { say: 'all is done' }];
}

/** One search for a tool that is not offered at first. */
function searchSteps(tools: readonly string[]): readonly Step[] {
  return tools.includes('ToolSearch')
    ? [{ tool: 'ToolSearch', args: { query: 'select:WebFetch', max_results: 5 } }, { say: 'all is done' }]
    : [{ say: 'a title' }];
}

describe(`Claude Code ${CLAUDE.version}`, () => {
  installBefore(CLAUDE);

  for (const [target, model] of Object.entries(TARGETS)) {
    it(`finishes a task with two commands through ${target}`, async () => {
      const bench = await benchWith(target, model, NAME, stepsOf, (url) =>
        target === 'anthropic' ? `${url}/v1` : url,
      );
      const said = await runAgent(CLAUDE, ['-p', 'make the files', '--model', NAME, '--allowedTools', 'Bash'], bench, {
        ANTHROPIC_BASE_URL: bench.gateway.url,
        ANTHROPIC_AUTH_TOKEN: bench.gateway.key,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      });
      expect(said).to.include('all is done');
      for (const file of ['made.txt', 'copied.txt'])
        expect(await readFile(join(bench.work, file), 'utf8')).to.equal('made\n');
      expect(bench.upstream.seen.filter(({ text }) => text.includes('call_step_2'))).to.have.length(1);
    });

    it(`gets a tool that its search has found through ${target}, without a failed call`, async () => {
      const bench = await benchWith(target, model, NAME, searchSteps, (url) =>
        target === 'anthropic' ? `${url}/v1` : url,
      );
      const said = await runAgent(CLAUDE, ['-p', 'look for a tool', '--model', NAME], bench, {
        ANTHROPIC_BASE_URL: bench.gateway.url,
        ANTHROPIC_AUTH_TOKEN: bench.gateway.key,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        ENABLE_TOOL_SEARCH: 'true',
      });
      expect(said).to.include('all is done');
      const answers = bench.upstream.seen.filter(({ text }) => text.includes('call_step_1'));
      expect(answers, 'it asks once behind its search').to.have.length(1);
      expect(answers[0]?.text).to.include(
        target === 'anthropic' ? '"type":"tool_reference","tool_name":"WebFetch"' : 'Tool loaded: WebFetch',
      );
    });
  }
});
