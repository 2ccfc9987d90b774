const REASONS: ReadonlyMap<string, string> = new Map([
  ['length', 'max_tokens'],
  ['content_filter', 'refusal'],
  ['pause_turn', 'pause_turn'],
]);

/** Why an answer ended, in the words of the Messages wire. See docs/reference/ingress.md#why-an-answer-ended. */
export function stopReason(finish: string | null | undefined, hasCalls: boolean, isRefused: boolean): string {
  if (isRefused) return 'refusal';
  const known = REASONS.get(finish ?? '');
  if (known !== undefined) return known;
  const isPlain =
    finish === null || finish === undefined || finish === '' || finish === 'stop' || finish === 'tool_calls';
  return isPlain && hasCalls ? 'tool_use' : 'end_turn';
}

/** What stands beside it. */
export const stopDetails = (reason: string): object | null =>
  reason === 'refusal' ? { type: 'refusal', category: null, explanation: null } : null;
