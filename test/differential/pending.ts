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

/** The same for what the strict validators of `test/kit/strict` find. */
export const PENDING_REFUSALS: readonly { readonly providers: RegExp; readonly problems: RegExp; readonly why: string }[] = [
  { providers: /^gemini$/, problems: /parameters|responseSchema|^schema\b/, why: 'line 9: schemas in the vendor\'s words' },
  { providers: /^(anthropic|bedrock)$/, problems: /`temperature` and `top_p`/, why: 'line 10: not both' },
  { providers: /./, problems: /role: must be equal to one of the allowed values|\("developer"\)/, why: 'line 11: the developer\'s role' },
  { providers: /^(cohere|mistral)$/, problems: /\("cache_control"\)/, why: 'line 12: `cache_control` where it does not belong' },
  { providers: /^bedrock$/, problems: /inferenceConfig\/temperature/, why: 'line 13: temperature above 1' },
  { providers: /^mistral$/, problems: /Expected last role|\("(file|file_id|user|store|service_tier|thinking|top_k|verbosity|web_search_options|brand_new_field)"\)/, why: 'line 14: the closed schema, PDFs, the last turn' },
  { providers: /^(anthropic|bedrock|mistral)$/, problems: /(\/id|tool_use_id|tool_call_id|toolUseId): must (match pattern|be null)|ids must be unique/, why: 'line 15: foreign ids' },
  { providers: /^(anthropic|bedrock|cohere|mistral)$/, problems: /non-whitespace|non-empty content|trailing whitespace|is blank|\/text: must NOT have fewer|must have either content|must have content|property 'content'|must have required property 'content'/, why: 'line 16: turns that say nothing' },
  { providers: /^deepseek$/, problems: /^\/response_format/, why: 'line 17: a schema in the instruction' },
  { providers: /^gemini$/, problems: /'mimeType'/, why: 'line 17: the media type beside `fileUri`' },
  { providers: /^perplexity$/, problems: /'file'|^\/(tool_choice|response_format|reasoning_effort)/, why: 'found here: files as `file_url`, any JSON by a schema, a choice without a name, fewer efforts' },
  { providers: /^deepseek$/, problems: /^\/reasoning_effort/, why: 'found here: `none` switches thinking off by another field' },
  { providers: /^(cohere|mistral)$/, problems: /^\/(p|temperature|seed|random_seed|presence_penalty|frequency_penalty): must be|'parameters'|greedy|after role 'tool'/, why: 'found here: bounds of sampling, functions without parameters, a user\'s turn after a result' },
  { providers: /^bedrock$/, problems: /must hold a text too/, why: 'found here: a document needs a text beside it' },
  { providers: /^(anthropic|bedrock)$/, problems: /prefilled|draft 2020-12/, why: 'found here: no prefilled answer while thinking, tuples of older drafts' },
];
