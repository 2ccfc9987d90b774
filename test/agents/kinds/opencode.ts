import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Agent, COPY, MAKE, type Mode, PROMPT } from '../mode.ts';
import { type Call, LAST, SAID, THOUGHT } from '../script.ts';

const bash = (command: string): Call => ({ tool: 'bash', args: { command, description: 'makes a file, forbi' } });

/** What one of the AI SDK's providers, which opencode brings along, is set to. */
const modeOf = (name: string, npm: string, asks: string, more: Pick<Mode, 'targets' | 'wire'>): Mode => ({
  name,
  asks,
  hasSession: true,
  ...more,
  async prepare({ home, recorder, key }) {
    const folder = join(home, '.config', 'opencode');
    await mkdir(folder, { recursive: true });
    await writeFile(
      join(folder, 'opencode.json'),
      JSON.stringify({
        autoupdate: false,
        share: 'disabled',
        permission: 'allow',
        provider: {
          gateway: {
            npm,
            options: { baseURL: `${recorder.url}/v1`, apiKey: key },
            models: {
              [asks]: { name: asks, reasoning: true, tool_call: true, limit: { context: 200_000, output: 8_192 } },
            },
          },
        },
      }),
    );
  },
  args: () => ['run', '--model', `gateway/${asks}`, PROMPT],
  variables: () => ({
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  }),
  turns: (tools) =>
    tools.includes('bash')
      ? [
          { thought: THOUGHT, say: SAID, calls: [bash(MAKE)] },
          { thought: THOUGHT, say: SAID, calls: [bash(COPY), bash('cat made.txt')] },
          LAST,
        ]
      : undefined,
});

/** Source: opencode.ai, "Providers" and "Config", 2026-11-26. */
export const OPENCODE: Agent = {
  name: 'opencode',
  aliases: ['opencode', 'opencode-older'],
  modes: [
    modeOf('@ai-sdk/openai-compatible', '@ai-sdk/openai-compatible', 'agent-model', {
      targets: ['deepseek', 'openai', 'gemini', 'anthropic', 'bedrock'],
      wire: undefined,
    }),
    modeOf('@ai-sdk/anthropic', '@ai-sdk/anthropic', 'claude-agent-model', {
      targets: ['anthropic', 'openai', 'gemini'],
      wire: 'messages',
    }),
  ],
};
