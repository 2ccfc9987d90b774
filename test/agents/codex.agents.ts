import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Agent, benchWith, installBefore, runAgent } from './agent.ts';
import type { Step } from './scripted.ts';

/** The version that was looked at. */
const CODEX: Agent = { packageName: '@openai/codex', version: '0.169.0', bin: 'codex' };

const PATCH = '*** Begin Patch\n*** Add File: patched.txt\n+patched\n*** End Patch\n';
const COMMAND = 'echo made > made.txt && cat made.txt';

/** A command, then a patch. Newer models get both inside a tool that runs a script. */
function stepsOf(tools: readonly string[]): readonly Step[] {
  const done = { say: 'all is done' };
  if (!tools.includes('functions__exec'))
    return [{ tool: 'exec_command', args: { cmd: COMMAND } }, { tool: 'apply_patch', args: { input: PATCH } }, done];
  const script = (call: string): Step => ({
    tool: 'functions__exec',
    args: { input: `text(JSON.stringify(await tools.${call}))` },
  });
  return [
    script(`exec_command(${JSON.stringify({ cmd: COMMAND })})`),
    script(`apply_patch(${JSON.stringify(PATCH)})`),
    done,
  ];
}

/** Codex knows two models by name: one takes `apply_patch` as a tool, for the other all tools come with the input. */
const MODELS = ['gpt-5.5', 'gpt-5.6-sol'];
const TARGETS = { openai: 'gpt-own', deepseek: 'deepseek-chat', anthropic: 'claude-sonnet-4-6' };

describe(`Codex ${CODEX.version}`, () => {
  installBefore(CODEX);

  for (const [target, model] of Object.entries(TARGETS)) {
    for (const name of MODELS) {
      it(`finishes a task with a command and a patch as ${name} through ${target}`, async () => {
        const bench = await benchWith(target, model, name, stepsOf);
        const { gateway, upstream, home, work } = bench;
        await mkdir(join(home, '.codex'));
        await writeFile(
          join(home, '.codex', 'config.toml'),
          [
            `model = "${name}"`,
            'model_provider = "gateway"',
            '[model_providers.gateway]',
            'name = "gateway"',
            `base_url = "${gateway.url}/v1"`,
            'wire_api = "responses"',
            'env_key = "GATEWAY_KEY"',
            'request_max_retries = 0',
            'stream_max_retries = 0',
            '',
          ].join('\n'),
        );
        const said = await runAgent(
          CODEX,
          ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', '-C', work, 'make the files'],
          bench,
          { GATEWAY_KEY: gateway.key },
        );
        expect(said).to.include('all is done');
        expect(await readFile(join(work, 'made.txt'), 'utf8')).to.equal('made\n');
        expect(await readFile(join(work, 'patched.txt'), 'utf8')).to.equal('patched\n');
        expect(upstream.seen).to.have.length(3);
      });
    }
  }
});
