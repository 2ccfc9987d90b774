import type { Body, Validator } from './schema.ts';

/** DeepSeek V4. Sources: DeepSeek API docs, "Thinking mode"; npm @ai-sdk/deepseek 3.0.56; GitHub openclaw/openclaw issue 73417; 2026-11-26. */
export const deepseekModelRules = (model: string): Validator =>
  /^deepseek-(v4|flash|pro)/.test(model) ? faults : () => [];

function faults({ messages, reasoning_effort: effort, thinking }: Body): string[] {
  const thinks = thinking?.type !== 'disabled';
  return [
    ...(effort === undefined || ['low', 'high', 'max'].includes(effort)
      ? []
      : [`reasoning_effort: unknown variant \`${effort}\`, expected one of \`low\`, \`high\`, \`max\``]),
    ...(thinks &&
    (messages as readonly Body[]).some(
      ({ role, reasoning_content: text }) => role === 'assistant' && typeof text !== 'string',
    )
      ? ['The `reasoning_content` in the thinking mode must be passed back to the API.']
      : []),
  ];
}
