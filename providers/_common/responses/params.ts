import { type CallInfo, type ChatRequest, isText, nearestEffort, setMember } from 'gw/contract';
import { type Fields, isFields, isGiven, withoutAbsent } from '../fields.ts';
import type { Notes } from '../notes.ts';
import { toolFields } from './tools.ts';

/** Fields that are read below, into others or into none. */
const READ = new Set([
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'reasoning_effort',
  'reasoning',
  'include_reasoning',
  'response_format',
  'verbosity',
  'text',
  'tools',
  'tool_choice',
  'web_search_options',
  'logprobs',
  'top_logprobs',
  'store',
  'include',
  'cache_control',
]);

const isAbsent = (value: unknown): boolean => !isGiven(value) || value === false;
const isEmptyList = (value: unknown): boolean => isAbsent(value) || (Array.isArray(value) && value.length === 0);

/**
 * Fields of chats that this API does not have, and fields of its own that would change what is asked, each with the values that
 * say nothing. Source: openai 7.57 (npm), `ResponseCreateParams` beside `ChatCompletionCreateParams`, 2026-11-26.
 */
const UNSUPPORTED: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['n', (value) => isAbsent(value) || value === 1],
  ['stop', isEmptyList],
  ['seed', isAbsent],
  ['frequency_penalty', (value) => isAbsent(value) || value === 0],
  ['presence_penalty', (value) => isAbsent(value) || value === 0],
  ['logit_bias', (value) => isAbsent(value) || (isFields(value) && Object.keys(value).length === 0)],
  ['modalities', (value) => isEmptyList(value) || (Array.isArray(value) && value.every((word) => word === 'text'))],
  ['prediction', isAbsent],
  ['audio', isAbsent],
  ['functions', isEmptyList],
  ['function_call', isAbsent],
  ['input', isAbsent],
  ['instructions', isAbsent],
  ['previous_response_id', isAbsent],
  ['conversation', isAbsent],
  ['background', isAbsent],
  ['prompt', isAbsent],
]);

/** What a rule of models may refuse as a whole. */
const SAMPLING: ReadonlySet<string> = new Set(['temperature', 'top_p', 'top_k', 'logprobs', 'top_logprobs']);

/** The least ceiling that the API takes. Source: earendil-works/pi issue 6265, 2026-11-26. */
const LEAST_CEILING = 16;

/** All of a request but its model and its conversation. What is left out, or sent otherwise, goes into the notes. */
export function toParams(request: ChatRequest, call: CallInfo, notes: Notes): Fields {
  const { effort, reasoning } = reasoningFields(request, call, notes);
  const isLost = lostFields(call, effort);
  const { stream_options: streaming } = request as Fields;
  const obfuscates = isFields(streaming) ? streaming['include_obfuscation'] : undefined;
  if (request['store'] === true) notes.ignored.push('store');
  const likelihoods = likelihoodFields(request, isLost('logprobs'), notes);
  return {
    ...(call.stream && { stream: true }),
    ...(call.stream && isGiven(obfuscates) && { stream_options: { include_obfuscation: obfuscates } }),
    store: false,
    ...includeFields(request, call, likelihoods),
    ...likelihoods,
    ...(reasoning && { reasoning }),
    ...ceilingFields(request, call, notes),
    ...textFields(request),
    ...toolFields(request),
    ...otherFields(request, isLost, notes),
  };
}

/** Whether a field stays behind because the model refuses it. */
function lostFields({ facts = {} }: CallInfo, effort: unknown): (name: string) => boolean {
  const { sampling, refuses = [] } = facts;
  const refusesSampling = sampling === 'never' || (sampling === 'effort_none' && effort !== 'none');
  return (name) => refuses.includes(name) || (refusesSampling && SAMPLING.has(name));
}

function otherFields(request: ChatRequest, isLost: (name: string) => boolean, notes: Notes): Fields {
  const kept: Fields = {};
  for (const [name, value] of Object.entries(request)) {
    if (READ.has(name)) continue;
    const isSilent = UNSUPPORTED.get(name);
    if (!isSilent && !isLost(name)) setMember(kept, name, value);
    else if (!(isSilent ?? isAbsent)(value)) notes.ignored.push(name);
  }
  return kept;
}

/** Thoughts are shown to those who ask: some accounts may not have them, and are refused. */
function reasoningFields(
  { reasoning_effort: named, reasoning: asked }: ChatRequest,
  { facts = {}, wantsThoughts }: CallInfo,
  notes: Notes,
): { readonly effort: string | undefined; readonly reasoning: Fields | undefined } {
  const { effort: nested, summary: wanted, ...others } = isFields(asked) ? asked : ({} as Fields);
  const [word, name] = isText(named) ? [named, 'reasoning_effort'] : [nested, 'reasoning.effort'];
  const { effort, change } = isText(word) ? nearestEffort(word, facts.efforts) : {};
  if (change === 'lost') notes.ignored.push(name);
  else if (change === 'bounded') notes.bounded.push(name);
  const shown = wanted ?? (wantsThoughts === true && facts.summaries === true ? 'auto' : undefined);
  const summary = facts.summaries === false ? undefined : shown;
  if (isGiven(shown) && summary === undefined) notes.ignored.push('reasoning.summary');
  const reasoning = { ...others, ...withoutAbsent({ effort, summary }) };
  return { effort, reasoning: Object.keys(reasoning).length > 0 ? reasoning : undefined };
}

/** What the answer is to hold beside its text: how likely it was, and thoughts in the form in which they come back. */
function includeFields({ include: asked }: Fields, { facts = {} }: CallInfo, likelihoods: Fields): Fields {
  const include = new Set<unknown>(Array.isArray(asked) ? asked : []);
  if (facts.thoughts_back === 'sealed' && facts.efforts?.length !== 0) include.add('reasoning.encrypted_content');
  if (facts.thoughts_back === 'none') include.delete('reasoning.encrypted_content'); // asked for in vain: it is refused
  if ('top_logprobs' in likelihoods) include.add('message.output_text.logprobs');
  return include.size > 0 ? { include: [...include] } : {};
}

function likelihoodFields({ logprobs, top_logprobs: others }: Fields, isRefused: boolean, notes: Notes): Fields {
  if (!isRefused) return logprobs === true || isGiven(others) ? { top_logprobs: others ?? 0 } : {};
  if (!isAbsent(logprobs)) notes.ignored.push('logprobs');
  if (!isAbsent(others)) notes.ignored.push('top_logprobs');
  return {};
}

function ceilingFields(
  { max_tokens: earlier, max_completion_tokens: later }: ChatRequest,
  { facts = {}, maxOutputTokens }: CallInfo,
  notes: Notes,
): Fields {
  const asked = later ?? earlier;
  if (asked === undefined || asked === null) return {};
  if (typeof asked !== 'number' || asked === 0) return { max_output_tokens: asked };
  const most = maxOutputTokens === undefined ? (facts.max_output ?? Infinity) : Infinity;
  const ceiling = Math.min(Math.max(asked, LEAST_CEILING), Math.max(most, LEAST_CEILING));
  if (ceiling !== asked) notes.bounded.push(isGiven(later) ? 'max_completion_tokens' : 'max_tokens');
  return { max_output_tokens: ceiling };
}

function textFields({ response_format: format, verbosity, text }: ChatRequest): Fields {
  const made = withoutAbsent({ ...(isFields(text) && text), format: formatOf(format) ?? textFormat(text), verbosity });
  return Object.keys(made).length > 0 ? { text: made } : {};
}

const textFormat = (text: unknown): unknown => (isFields(text) ? text['format'] : undefined);

function formatOf(format: ChatRequest['response_format']): Fields | undefined {
  if (!isFields(format) || format['type'] === 'text') return undefined;
  const { type, json_schema: schema } = format;
  return type === 'json_schema' && isFields(schema) ? { type, ...schema } : format;
}
