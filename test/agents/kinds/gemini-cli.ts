import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Agent, COPY, MAKE, PROMPT } from '../mode.ts';
import { type Call, LAST, SAID, THOUGHT } from '../script.ts';

const NAME = 'gemini-3.8-flash';
const shell = (command: string): Call => ({
  tool: 'run_shell_command',
  args: { command, description: 'makes a file, forbi' },
});

/** Source: the page on configuration that the package brings along, 2026-11-26. */
export const GEMINI_CLI: Agent = {
  name: 'Gemini CLI',
  aliases: ['gemini-cli', 'gemini-cli-older'],
  modes: [
    {
      name: 'Gemini',
      asks: NAME,
      asksInstead: ['gemini-3.5-flash'],
      targets: ['gemini', 'openai', 'anthropic', 'deepseek', 'bedrock'],
      hasSession: false,
      wire: 'gemini',
      async prepare({ home }) {
        await mkdir(join(home, '.gemini'));
        await writeFile(
          join(home, '.gemini', 'settings.json'),
          JSON.stringify({
            security: { auth: { selectedType: 'gemini-api-key' } },
            privacy: { usageStatisticsEnabled: false },
            general: { disableAutoUpdate: true, enableAutoUpdate: false },
          }),
        );
      },
      args: () => ['-p', PROMPT, '-m', NAME, '--yolo', '--skip-trust'],
      variables: ({ recorder, key }) => ({ GOOGLE_GEMINI_BASE_URL: recorder.url, GEMINI_API_KEY: key }),
      turns: (tools) =>
        tools.includes('run_shell_command')
          ? [
              { thought: THOUGHT, say: SAID, calls: [shell(MAKE)] },
              { thought: THOUGHT, say: SAID, calls: [shell(COPY), shell('cat made.txt')] },
              LAST,
            ]
          : undefined,
    },
  ],
};
