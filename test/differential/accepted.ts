import { ownFaults } from '../kit/strict/index.ts';
import type { AnswerLine } from './answers/compare-answers.ts';
import { isAsked, type Case, type Line } from './judge.ts';
import type { Fields } from './meaning/meaning.ts';

/** The forced tools by which one toolkit and the other hold a model to a schema. */
const isAnswerTool = (value: unknown): boolean =>
  ['gw_structured_answer', 'json', 'function gw_structured_answer'].includes(
    String((value as Fields | undefined)?.['name'] ?? value),
  );
const asksForJson = ({ request }: Case): boolean =>
  ['json_object', 'json_schema'].includes(request['response_format']?.type);
const names = (ignored: readonly string[], at: string): boolean =>
  at.split('.').some((step) => ignored.includes(step) || (step === 'cache' && ignored.includes('cache_control')));
const thinks = ({ request }: Case): boolean =>
  request['reasoning_effort'] !== undefined || request['thinking'] !== undefined;

const CLAUDE = /^(anthropic|bedrock claude)/;
const CONVERSE = /^bedrock (nova|converse)$/;

/**
 * Where this gateway and the published packages of the other toolkit rightly differ. The first line that fits speaks for
 * a difference; one that no line fits fails the suite, and so does a line that nothing needs any more.
 */
export const ACCEPTED: readonly Line[] = [
  {
    at: /^(settings|turns|tools)\b/,
    when: ({ at, ours, theirs }, about) => isAsked(at, ours, about) && !isAsked(at, theirs, about),
    why: 'the gateway sends what the client said, the other toolkit leaves it out or changes it; whether the vendor takes it is what the strict validators ask',
  },
  {
    at: /^(settings|turns|tools)\b/,
    when: ({ at, ours, theirs }, { ignored }) => ours === undefined && theirs !== undefined && names(ignored, at),
    why: 'the gateway leaves it out and says so: this model does not take it, or the wire has no place for it',
  },
  {
    at: 'refused by them',
    why: 'the other toolkit refuses what its own prompt has no place for (system texts in the middle, kinds of files, calls); what the gateway sends instead is judged by the strict validators',
  },

  {
    sides: /^(anthropic|bedrock|gemini)/,
    at: 'refused by us',
    when: ({ ours }) => String(ours).includes('needs a turn that says something'),
    why: 'nothing but instructions, or nothing but blanks: the vendor refuses it, in words that help less',
  },
  {
    at: 'tools',
    when: ({ ours, theirs }, { request }) =>
      theirs === undefined &&
      request['web_search_options'] !== undefined &&
      /search/i.test(String((ours as Fields)['name'])),
    why: "`web_search_options` is the vendor's own tool here; the other toolkit has no word for it",
  },

  // Answers that must be JSON
  {
    at: /^(tools|settings\.(tool_choice|parallel_tool_calls|response_format))$/,
    when: ({ at, ours, theirs }, about) =>
      asksForJson(about) && (at !== 'tools' || isAnswerTool(ours) || isAnswerTool(theirs)),
    why: "a schema reaches the model by the vendor's output format or by a forced tool, and each toolkit chooses and names its own; that the schema arrives is compared apart (`schema of answer`, `answer without its schema`)",
  },
  {
    at: /^settings\.response_format\.json_schema\.strict$/,
    when: ({ ours }) => ours === undefined,
    why: "the other toolkit decides on `strict` for its users; here it is the client's word",
  },
  {
    sides: /^(qwen|mistral)$/,
    at: /^turns\.system\.text(\.text)?$/,
    when: (_difference, about) => asksForJson(about),
    why: 'the other toolkit tells the model in words to answer with JSON; the client says that itself',
  },

  {
    sides: CLAUDE,
    at: 'tools',
    when: ({ theirs }) => theirs === undefined,
    why: 'the wire knows `none`; the other toolkit leaves the functions out, and those beside one that must be called',
  },

  {
    sides: /^deepseek$/,
    at: /^(answer without its schema|turns\.system\.text(\.text)?)$/,
    when: (_difference, about) => asksForJson(about),
    why: 'the vendor takes no schema: it stands in an instruction, which each toolkit words differently',
  },

  // Ceilings and thinking
  {
    sides: CLAUDE,
    at: 'settings.max_tokens',
    when: ({ ours }, { request }) =>
      request['max_tokens'] === undefined && request['max_completion_tokens'] === undefined && ours !== 1024,
    why: "the wire must have a ceiling: each toolkit takes the model's most from its own list of models",
  },
  {
    at: /^settings\.(thinking(\.|$)|effort$|reasoning_effort$|temperature$|top_[pk]$|enable_thinking$|thinking_budget$)/,
    when: (_difference, about) => thinks(about),
    why: "how many tokens or which word an effort becomes is every toolkit's own table; ours is in docs/providers.md",
  },
  {
    at: 'turns.assistant.thinking',
    when: ({ ours, theirs }) => ours === undefined && (theirs as Fields)['signature'] === undefined,
    why: 'thoughts without a signature are refused (groq, cerebras, mistral) or not read again by the vendor (gemini); decision 0007',
  },

  // Claude
  {
    sides: /^anthropic/,
    at: 'tools.eager_input_streaming',
    why: 'an option of the vendor that the client has not asked for',
  },
  {
    sides: CLAUDE,
    at: 'settings.stop',
    when: ({ ours }) => !(ours as readonly string[]).some((text) => text.trim() === ''),
    why: 'the vendor refuses stop sequences of white space; they are left out and named',
  },
  {
    sides: /^anthropic/,
    at: 'settings.service_tier',
    when: ({ ours }) => ours === 'standard_only',
    why: "the vendor's word for `default`",
  },
  {
    sides: /^(bedrock claude|anthropic at vertex)$/,
    at: 'refused by us',
    when: ({ ours }) => String(ours).includes('base64 data addresses only'),
    why: 'the service fetches no addresses',
  },

  {
    sides: /^(anthropic|bedrock)/,
    at: /^turns\.(user|system)\.cache$/,
    when: ({ ours }) => ours === undefined,
    why: 'a mark on a part that says nothing goes to the part before it, which may have one already',
  },
  {
    sides: /^(anthropic|bedrock)/,
    at: 'tools.strict',
    when: ({ ours, theirs }) => ours === undefined && theirs === false,
    why: 'the other toolkit writes the default out',
  },

  // Converse
  {
    sides: CONVERSE,
    at: /^turns\.user\.text(\.text)?$/,
    when: ({ theirs }, { request }) => theirs === undefined && JSON.stringify(request).includes('"type":"file"'),
    why: 'a document must have a text beside it: its name, where the client says none',
  },
  {
    sides: CONVERSE,
    at: 'turns.user.media.filename',
    why: 'names of documents may hold few characters there, and must differ: they are made to',
  },
  {
    sides: CONVERSE,
    at: /^settings\.(other\.(requestMetadata|serviceTier)|model\.inferenceConfig|top_k)$/,
    why: '`metadata`, `service_tier` and `top_k` have places there that the other toolkit does not fill, or fills elsewhere',
  },
  {
    sides: CONVERSE,
    at: 'tools',
    when: ({ theirs }) => theirs === undefined,
    why: "the service wants every function that earlier turns call; the other toolkit leaves those turns' calls and results out",
  },

  // Gemini
  {
    sides: /^gemini/,
    at: 'turns.assistant.signature',
    why: 'the vendor asks for a signature on the first call of a turn only (ai.google.dev, "Thought signatures", 2026-11-21); the other toolkit puts its stand-in on every call',
  },
  {
    sides: /^gemini/,
    at: 'settings.tool_choice',
    when: ({ theirs }) => theirs === 'validated',
    why: '`strict` is named as ignored; the other toolkit has a mode of calling for it that the client did not ask for',
  },
  {
    sides: /^gemini/,
    at: /^turns\.(user|system)\.text(\.text)?$/,
    when: (_difference, { request }) => ownFaults(request).some((fault) => fault.startsWith('the first turn')),
    why: 'the vendor wants a conversation that a user begins: a stand-in begins it, or instructions that nothing follows',
  },
  {
    sides: /^gemini/,
    at: 'turns.tool.result.value',
    why: 'a result that is JSON is sent as the value, a text in quotes as what is between them',
  },

  // Others
  {
    sides: /^(openrouter|qwen)$/,
    at: /^settings\.(web_search_options|enable_search|plugins)$/,
    when: (_difference, { request }) => request['web_search_options'] !== undefined,
    why: 'the vendor searches by another field',
  },
  {
    sides: /^mistral$/,
    at: 'settings.service_tier',
    when: ({ ours }) => ours === 'standard_only',
    why: "the vendor's word for `default`",
  },
  {
    sides: /^(mistral|cohere)$/,
    at: /^settings\.(temperature|top_p|random_seed|seed|presence_penalty|frequency_penalty)$/,
    why: "sampling within the vendor's bounds; the other toolkit sends what the vendor refuses",
  },
  {
    sides: /^mistral$/,
    at: /^turns\.assistant\.text(\.text)?$/,
    why: 'the vendor wants a turn of the assistant between results and the user; the other toolkit sends what it refuses',
  },
  {
    sides: /^perplexity$/,
    at: /^(tools|settings\.tool_choice)$/,
    why: 'the vendor knows no choice of one function: the others are left out',
  },
  {
    sides: /^cohere$/,
    at: 'refused by us',
    when: ({ ours }) => /takes files of text and JSON|needs a turn that says something/.test(String(ours)),
    why: 'the vendor reads no PDF, and nothing in a turn without text; the other toolkit takes every file for an image',
  },
  { sides: /^cohere$/, at: 'settings.stream', why: '`stream` must be in the body there, `false` too' },
  {
    sides: /^cohere$/,
    at: 'settings.stop',
    when: ({ ours }) => ours === undefined,
    why: 'an empty list asks for nothing',
  },
  {
    sides: /^cohere$/,
    at: 'refused by us',
    when: ({ ours }) => String(ours).includes('"input_audio"'),
    why: 'the vendor reads no audio; the other toolkit takes every file for an image',
  },
  {
    sides: /^mistral$/,
    at: 'turns.assistant.field prefix',
    why: 'a begun answer must say that it is to be gone on with, also before instructions that are moved to the front; one that says nothing is left out',
  },
  {
    sides: /^mistral$/,
    at: 'turns.tool.name',
    why: 'the name of a function is optional beside a result: the id says which call it answers',
  },
  { sides: /^together$/, at: /^settings\.(top_)?logprobs$/, why: '`logprobs` is a count there' },
  {
    sides: /^(openai|azure-openai)$/,
    at: 'settings.top_logprobs',
    when: ({ theirs }) => theirs === 0,
    why: 'the other toolkit writes the default out',
  },
  {
    sides: /^(deepseek|qwen)$/,
    at: /^turns\.(user\.(media|text)|assistant\.thinking)(\.|$)/,
    why: 'the other toolkit leaves out some files, and the thoughts of all turns but the last; the vendor says itself what it takes',
  },
];

/** Differences between what the two make of answers that are accepted. */
export const ACCEPTED_ANSWERS: readonly AnswerLine[] = [
  {
    sides: /^xai$/,
    at: 'usage.output',
    why: 'the vendor counts thinking beside the answer; the other toolkit leaves it out of the sum',
  },
  { sides: /^mistral$/, at: 'usage.reasoning', why: 'the other toolkit reads no tokens of thinking there' },
  { sides: /^cohere$/, at: 'usage.cached', why: 'the other toolkit reads no cached tokens there' },
  {
    sides: /^cohere$/,
    at: 'finish',
    when: ({ ours, theirs }) => ours === 'content_filter' && theirs !== 'content_filter',
    why: "`ERROR_TOXIC` is the vendor's word for content that it filters; the other toolkit takes it for any error",
  },
];
