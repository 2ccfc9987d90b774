/**
 * Closed lists of words where a word that the list does not have changes how good an answer is, and not which answer comes. Vendors add to
 * them without a new version of their API, and clients use the new words the same day: they are lost by name, and never refused. By the paths of
 * the clients. See docs/reference/ingress.md#words-that-a-list-does-not-have. Sources: @anthropic-ai/sdk 1.12.0, @google/genai 3.1.0,
 * openai 7.57.0 (npm), types of the requests, 2026-11-26.
 */
export const WORDS = {
  messages: {
    'thinking.type': ['enabled', 'adaptive', 'disabled', 'between_tools'],
    'thinking.display': ['summarized', 'omitted'],
    'output_config.effort': ['low', 'medium', 'high', 'xhigh', 'max'],
    service_tier: ['auto', 'standard_only'],
    'cache_control.type': ['ephemeral'],
    'cache_control.ttl': ['5m', '1h'],
  },
  gemini: {
    'generationConfig.thinkingConfig.thinkingLevel': ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH', 'THINKING_LEVEL_UNSPECIFIED'],
    serviceTier: ['unspecified', 'flex', 'standard', 'priority'],
  },
  responses: {
    'text.verbosity': ['low', 'medium', 'high'],
    truncation: ['auto', 'disabled'],
    detail: ['low', 'high', 'auto', 'original'],
  },
} as const;

/** The word of the list; for any other text `undefined`, once `lose` was called. */
export function knownWord<W extends string>(words: readonly W[], given: string, lose: () => void): W | undefined {
  const known = words.find((word) => word === given);
  if (known === undefined) lose();
  return known;
}
