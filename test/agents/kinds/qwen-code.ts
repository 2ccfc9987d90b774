import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Agent, COPY, MAKE, type Mode, PROMPT } from '../mode.ts';
import { type Call, LAST, SAID, THOUGHT } from '../script.ts';
import type { Scene } from '../scene.ts';

const shell = (command: string): Call => ({
  tool: 'run_shell_command',
  args: { command, description: 'makes a file, forbi', is_background: false },
});
const NAME = 'qwen-agent-model';

/** One of the protocols that Qwen Code has; each has variables of its own. */
const modeOf = (
  auth: string,
  more: Pick<Mode, 'targets' | 'wire'>,
  variables: (url: string, key: string) => Readonly<Record<string, string>>,
): Mode => ({
  name: auth,
  asks: NAME,
  hasSession: false,
  ...more,
  async prepare({ home }) {
    await mkdir(join(home, '.qwen'));
    await writeFile(
      join(home, '.qwen', 'settings.json'),
      JSON.stringify({
        security: { auth: { selectedType: auth } },
        privacy: { usageStatisticsEnabled: false },
        general: { disableAutoUpdate: true, enableAutoUpdate: false },
        model: { name: NAME },
      }),
    );
  },
  args: () => ['--auth-type', auth, '--model', NAME, '--yolo', '-p', PROMPT],
  variables: ({ recorder, key }: Scene) => variables(recorder.url, key),
  turns: (tools) =>
    tools.includes('run_shell_command')
      ? [
          { thought: THOUGHT, say: SAID, calls: [shell(MAKE)] },
          { thought: THOUGHT, say: SAID, calls: [shell(COPY), shell('cat made.txt')] },
          LAST,
        ]
      : undefined,
});

/** Source: the package's own documentation, `configuration/auth.md` and `model-providers.md`, 2026-11-26. */
export const QWEN_CODE: Agent = {
  name: 'Qwen Code',
  aliases: ['qwen-code', 'qwen-code-older'],
  modes: [
    modeOf('openai', { targets: ['deepseek', 'openai', 'gemini', 'bedrock'], wire: undefined }, (url, key) => ({
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_API_KEY: key,
      OPENAI_MODEL: NAME,
    })),
    modeOf(
      'anthropic',
      { targets: ['anthropic', 'openai', 'gemini', 'deepseek', 'bedrock'], wire: 'messages' },
      (url, key) => ({
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: key,
        ANTHROPIC_MODEL: NAME,
      }),
    ),
  ],
};
