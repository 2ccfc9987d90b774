import type { Line } from './judge.ts';

/**
 * Faults that are known and being mended: each line goes with its mend, and an empty list is the aim. Not a place for
 * differences that are right: those are in `accepted.ts`, with their reasons.
 */
export const PENDING: readonly Line[] = [
  { sides: /^gemini/, at: 'turns.user.media.type', why: 'line 17: the media type beside `fileUri`' },
  { sides: /^gemini/, at: /^schema of/, why: 'line 9: schemas in the vendor\'s words' },
  { sides: /^cohere$/, at: 'refused by us', when: ({ ours }) => String(ours).includes('"file"'), why: 'line 17: files as documents' },
  { sides: /^deepseek$/, at: /^(turns\.system\.text(\.text)?|settings\.response_format(\..*)?)$/, why: 'line 17: a schema in the instruction' },
  { sides: /^mistral$/, at: 'turns.assistant.field prefix', why: 'line 14: a trailing assistant turn' },
  { sides: /^perplexity$/, at: 'turns.user.media.url', why: 'found here: files are `file_url` parts there, and the service knows no `file` parts' },
];

/** The same for what the strict validators of `test/kit/strict` find. */
export const PENDING_REFUSALS: readonly { readonly providers: RegExp; readonly problems: RegExp; readonly why: string }[] = [
  { providers: /^gemini$/, problems: /parameters|responseSchema|^schema\b/, why: 'line 9: schemas in the vendor\'s words' },
  { providers: /./, problems: /role: must be equal to one of the allowed values|\("developer"\)/, why: 'line 11: the developer\'s role' },
  { providers: /^(cohere|mistral)$/, problems: /\("cache_control"\)/, why: 'line 12: `cache_control` where it does not belong' },
  { providers: /^mistral$/, problems: /Expected last role|\("(file|file_id|user|store|service_tier|thinking|top_k|verbosity|web_search_options|brand_new_field)"\)/, why: 'line 14: the closed schema, PDFs, the last turn' },
  { providers: /^mistral$/, problems: /\("refusal"\)/, why: 'line 17: a refusal of an earlier turn' },
  { providers: /^mistral$/, problems: /(\/id|tool_call_id): must (match pattern|be null)/, why: 'line 15: foreign ids' },
  { providers: /^(cohere|mistral)$/, problems: /must have either content|must have content|property 'content'|must have required property 'content'/, why: 'line 16: turns that say nothing' },
  { providers: /^deepseek$/, problems: /^\/response_format/, why: 'line 17: a schema in the instruction' },
  { providers: /^gemini$/, problems: /'mimeType'/, why: 'line 17: the media type beside `fileUri`' },
  { providers: /^perplexity$/, problems: /'file'|^\/(tool_choice|response_format|reasoning_effort)/, why: 'found here: files as `file_url`, any JSON by a schema, a choice without a name, fewer efforts' },
  { providers: /^deepseek$/, problems: /^\/reasoning_effort/, why: 'found here: `none` switches thinking off by another field' },
  { providers: /^(cohere|mistral)$/, problems: /^\/(p|temperature|seed|random_seed|presence_penalty|frequency_penalty): must be|'parameters'|greedy|after role 'tool'/, why: 'found here: bounds of sampling, functions without parameters, a user\'s turn after a result' },
];
