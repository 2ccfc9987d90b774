import { type Agent, COPY, MAKE, type Mode, PROMPT } from '../mode.ts';
import { type Call, LAST, SAID, THOUGHT } from '../script.ts';

const bash = (command: string): Call => ({ tool: 'Bash', args: { command, description: 'makes a file, forbi' } });

const MESSAGES: Mode = {
  name: 'Messages',
  asks: 'claude-opus-4-8',
  targets: ['anthropic', 'openai', 'gemini', 'deepseek', 'bedrock'],
  hasSession: true,
  wire: 'messages',
  args: () => ['-p', PROMPT, '--model', 'claude-opus-4-8', '--allowedTools', 'Bash'],
  variables: ({ recorder, key }) => ({
    ANTHROPIC_BASE_URL: recorder.url,
    ANTHROPIC_AUTH_TOKEN: key,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  }),
  turns: (tools) =>
    tools.includes('Bash')
      ? [
          { thought: THOUGHT, say: SAID, calls: [bash(MAKE)] },
          { thought: THOUGHT, say: SAID, calls: [bash(COPY), bash('cat made.txt')] },
          LAST,
        ]
      : undefined,
};

/** One search for a tool that is not offered at first. */
export const SEARCHING: Mode = {
  ...MESSAGES,
  name: 'Messages, with a search of tools',
  variables: (scene) => ({ ...MESSAGES.variables(scene), ENABLE_TOOL_SEARCH: 'true' }),
  turns: (tools) =>
    tools.includes('ToolSearch')
      ? [{ calls: [{ tool: 'ToolSearch', args: { query: 'select:WebFetch', max_results: 5 } }] }, LAST]
      : undefined,
};

/** Source: code.claude.com, "LLM gateway configuration" and "Environment variables", 2026-11-22. */
export const CLAUDE_CODE: Agent = {
  name: 'Claude Code',
  aliases: ['claude-code', 'claude-code-older'],
  modes: [MESSAGES],
};
