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
 * unchanged.
 */
export function finishReason(reason: string): string {
  return CANONICAL.get(reason) ?? CANONICAL.get(reason.trim().toLowerCase()) ?? reason;
}
