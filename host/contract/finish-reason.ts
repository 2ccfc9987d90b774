const CANONICAL = new Map<string, string>();
for (const [canonical, native] of Object.entries({
  stop: ['stop', 'end_turn', 'stop_sequence', 'complete', 'finish', 'finished', 'stop_criteria_met'],
  length: ['length', 'max_tokens', 'model_length', 'max_completion_tokens'],
  tool_calls: ['tool_use', 'tool_call', 'tool_calls', 'function_call'],
  content_filter: [
    'content_filter',
    'content_filtered',
    'refusal',
    'safety',
    'error_toxic',
    'recitation',
    'blocklist',
    'prohibited_content',
    'spii',
    'image_safety',
    'image_prohibited_content',
    'image_recitation',
  ],
}))
  for (const reason of native) CANONICAL.set(reason, canonical);

/**
 * The common wire's name for a finish reason, whatever its case; an unknown one comes back
 * unchanged. Vendors have more than two dozen words for four things: `stop` (the model was done, or
 * met a stop text), `length` (a ceiling was reached), `tool_calls` (tools are to be called) and
 * `content_filter` (the vendor cut or refused the answer). Clients of the common wire know only
 * these four.
 *
 * @param reason the vendor's word; blanks around it and capital letters do not matter.
 * @returns one of the four, or `reason` as it came: a word that is new says more than a guess
 * would.
 * @example
 * ```ts
 * import { finishReason } from 'gw/contract';
 *
 * export const known = finishReason('END_TURN'); // 'stop'
 * export const unknown = finishReason('model_paused'); // 'model_paused'
 * ```
 */
export function finishReason(reason: string): string {
  return CANONICAL.get(reason) ?? CANONICAL.get(reason.trim().toLowerCase()) ?? reason;
}
