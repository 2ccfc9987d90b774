import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Agent, COPY, MAKE, type Mode, PROMPT } from '../mode.ts';
import { type Call, LAST, SAID, THOUGHT, type Turn } from '../script.ts';

const PATCH = '*** Begin Patch\n*** Add File: copied.txt\n+made\n*** End Patch\n';

/** A command, then a patch. Newer models get both inside a tool that runs a script. */
function turnsOf(tools: readonly string[]): readonly Turn[] | undefined {
  if (tools.includes('functions__exec'))
    return turnsWith(inScript('exec_command', { cmd: MAKE }), inScript('apply_patch', PATCH));
  if (!tools.includes('exec_command')) return undefined;
  const command = (cmd: string): Call => ({ tool: 'exec_command', args: { cmd } });
  return turnsWith(
    command(MAKE),
    tools.includes('apply_patch') ? { tool: 'apply_patch', args: { input: PATCH } } : command(COPY),
  );
}

const inScript = (tool: string, args: unknown): Call => ({
  tool: 'functions__exec',
  args: { input: `text(JSON.stringify(await tools.${tool}(${JSON.stringify(args)}))) // forbi` },
});
const turnsWith = (...calls: readonly Call[]): readonly Turn[] => [
  ...calls.map((call) => ({ thought: THOUGHT, say: SAID, calls: [call] })),
  LAST,
];

/** Codex knows models by name: one takes `apply_patch` as a tool, for the other all tools come with the input. */
const modeOf = (asks: string): Mode => ({
  name: `Responses, as ${asks}`,
  asks,
  targets: ['openai', 'deepseek', 'anthropic', 'gemini', 'bedrock'],
  forwarded: ['openai'],
  hasSession: true,
  wire: 'responses',
  async prepare({ home, recorder }) {
    await mkdir(join(home, '.codex'));
    await writeFile(
      join(home, '.codex', 'config.toml'),
      [
        `model = "${asks}"`,
        'model_provider = "gateway"',
        'check_for_update_on_startup = false',
        '[analytics]',
        'enabled = false',
        '[model_providers.gateway]',
        'name = "gateway"',
        `base_url = "${recorder.url}/v1"`,
        'wire_api = "responses"',
        'env_key = "GATEWAY_KEY"',
        'request_max_retries = 0',
        'stream_max_retries = 0',
        '',
      ].join('\n'),
    );
  },
  args: ({ work }) => [
    'exec',
    '--skip-git-repo-check',
    '--dangerously-bypass-approvals-and-sandbox',
    '-C',
    work,
    PROMPT,
  ],
  variables: ({ key }) => ({ GATEWAY_KEY: key }),
  turns: turnsOf,
});

/** Source: the page on configuration of openai/codex, 2026-11-26. */
export const CODEX: Agent = {
  name: 'Codex',
  aliases: ['codex', 'codex-older'],
  modes: ['gpt-5.5', 'gpt-5.6-sol'].map(modeOf),
};
