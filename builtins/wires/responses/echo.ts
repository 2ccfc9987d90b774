import type { Fields } from '../../../host/contract/index.ts';
import { isGiven } from './checks.ts';

/** Members of an answer that repeat the request. */
export interface Echo {
  readonly instructions: unknown;
  readonly parallel_tool_calls: unknown;
  readonly temperature: unknown;
  readonly top_p: unknown;
  readonly tool_choice: unknown;
  readonly tools: unknown;
  readonly text: unknown;
  readonly reasoning: unknown;
  readonly max_output_tokens: unknown;
  readonly metadata: unknown;
  readonly service_tier: unknown;
  readonly user: unknown;
}

const FORMAT = { type: 'text' };

/** What was asked for, as it was written; else what the vendor takes for it. Source: OpenAI API reference, "Responses", 2026-11-22. */
export function echoOf(body: Fields): Echo {
  const or = (name: string, value: unknown): unknown => (isGiven(body[name]) ? body[name] : value);
  return {
    instructions: or('instructions', null),
    parallel_tool_calls: or('parallel_tool_calls', true),
    temperature: or('temperature', 1),
    top_p: or('top_p', 1),
    tool_choice: or('tool_choice', 'auto'),
    tools: or('tools', []),
    text: { format: FORMAT, ...(or('text', {}) as object) },
    reasoning: { effort: null, summary: null, ...(or('reasoning', {}) as object) },
    max_output_tokens: or('max_output_tokens', null),
    metadata: or('metadata', {}),
    service_tier: or('service_tier', 'default'),
    user: or('user', null),
  };
}
