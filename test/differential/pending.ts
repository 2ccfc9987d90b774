import type { Line } from './judge.ts';

/**
 * Faults that are known and being mended: each line goes with its mend, and an empty list is the aim. Not a place for
 * differences that are right: those are in `accepted.ts`, with their reasons.
 */
export const PENDING: readonly Line[] = [
  { sides: /^(anthropic|bedrock claude)/, at: 'settings.max_tokens', when: ({ ours }) => ours === 1024, why: 'line 18: without a ceiling of the client\'s, the model\'s own maximum' },
  { at: 'refused by us', when: ({ ours }) => String(ours).includes('type "refusal"'), why: 'line 17: a refusal in an earlier turn is no 400' },
  { at: /^turns\.(user|system)\.cache$/, why: 'line 12: `cache_control` on a message' },
  { at: 'tools.cache_control', why: 'line 12: `cache_control` inside `function`' },
  { sides: /^gemini/, at: 'turns.user.media.type', why: 'line 17: the media type beside `fileUri`' },
  { sides: /^gemini/, at: /^schema of/, why: 'line 9: schemas in the vendor\'s words' },
  { sides: /^(anthropic|bedrock)/, at: 'tools.strict', why: 'line 17: strict tools where the model has them' },
  { sides: /^cohere$/, at: 'refused by us', when: ({ ours }) => String(ours).includes('"file"'), why: 'line 17: files as documents' },
  { sides: /^deepseek$/, at: /^(turns\.system\.text(\.text)?|settings\.response_format(\..*)?)$/, why: 'line 17: a schema in the instruction' },
  { sides: /^mistral$/, at: 'turns.assistant.field prefix', why: 'line 14: a trailing assistant turn' },
  { sides: /^bedrock/, at: /^turns\.tool\.result\.id$/, why: 'line 15: foreign ids that are too long become equal' },
  { sides: /^perplexity$/, at: 'turns.user.media.url', why: 'found here: files are `file_url` parts there, and the service knows no `file` parts' },
];
