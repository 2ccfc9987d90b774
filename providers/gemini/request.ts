import type { CallInfo, ChatRequest, ChatTool, WireRequest } from 'gw/contract';
import { type Fields, fieldsBeside, invalidRequest, isFields, isGiven } from 'gw/common-wire';
import { hasCacheMark } from '../_common/cache-marks.ts';
import { withAllowedTools } from '../_common/allowed-tools.ts';
import { takenOf } from '../_common/model-limits.ts';
import { toConversation } from './messages.ts';
import { type ToolNames, toolNames } from './tool-names.ts';
import { methodPath, thinkingTraits } from './models.ts';
import { Allowance, toParameters, toVendorSchema } from './schema/index.ts';
import { planSearch, type SearchPlan } from './search.ts';
import { planThinking } from './thinking.ts';

/** Fields that are translated, or declared as unsupported. */
const KNOWN = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'temperature',
  'top_p',
  'top_k',
  'n',
  'seed',
  'max_tokens',
  'max_completion_tokens',
  'presence_penalty',
  'frequency_penalty',
  'stop',
  'tools',
  'tool_choice',
  'response_format',
  'logprobs',
  'top_logprobs',
  'parallel_tool_calls',
  'user',
  'logit_bias',
  'reasoning_effort',
  'thinking',
  'modalities',
  'service_tier',
  'safety_settings',
  'cached_content',
  'web_search_options',
];

/** A chat request as `generateContent`. Throws a 400 for what this form has no place for. See docs/providers.md#gemini-models. */
export function toUpstream(asked: ChatRequest, call: CallInfo): WireRequest {
  const { request, left } = takenOf(withAllowedTools(asked), call.facts);
  const names = toolNames(asked);
  const { system, contents } = toConversation(request.messages, thinkingTraits(call).style === 'level', names);
  const thinking = planThinking(request, call);
  const modalities = planModalities(request['modalities']);
  const allowance = new Allowance();
  const tools = (request.tools ?? []).map((tool, index) => toDeclaration(tool, index, { allowance, names }));
  const search = planSearch(request, call, tools.length > 0);
  const choice = tools.length > 0 ? readChoice(request.tool_choice, names) : undefined;
  const tier = TIERS.get(request['service_tier']);
  const config = given({
    ...sampling(request),
    ...formatMembers(request.response_format, allowance),
    responseModalities: modalities.wire,
    thinkingConfig: thinking.config,
  });
  const body = given({
    systemInstruction: system === undefined ? undefined : { parts: [{ text: system }] },
    contents,
    generationConfig: Object.keys(config).length > 0 ? config : undefined,
    tools: toolsOf(tools, search),
    toolConfig: choice && { functionCallingConfig: choice },
    safetySettings: request['safety_settings'],
    cachedContent: request['cached_content'],
    serviceTier: tier || undefined,
  });
  const ignored = [
    ...(tools.length > 0 && isGiven(request.tool_choice) && !choice ? ['tool_choice'] : []),
    ...left,
    ...fieldsBeside(request, KNOWN),
    ...thinking.ignored,
    ...modalities.ignored,
    ...search.ignored,
    ...unspoken(request),
    ...(isGiven(request['service_tier']) && tier === undefined ? ['service_tier'] : []),
  ];
  return {
    path: call.stream
      ? `${methodPath(call.model, 'streamGenerateContent')}?alt=sse`
      : methodPath(call.model, 'generateContent'),
    body,
    ignored: [...new Set(ignored)],
    bounded: [...search.bounded, ...(seedOf(request.seed) === request.seed ? [] : ['seed'])],
  };
}

function toolsOf(functions: readonly Fields[], { tools }: SearchPlan): readonly Fields[] | undefined {
  const all = [...(functions.length > 0 ? [{ functionDeclarations: functions }] : []), ...tools];
  return all.length > 0 ? all : undefined;
}

/** The members that have a value. */
function given(members: Fields): Fields {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => isGiven(value)));
}

function sampling(request: ChatRequest): Fields {
  const { stop } = request;
  const stops = typeof stop === 'string' ? [stop] : (stop ?? []);
  return {
    temperature: request.temperature,
    topP: request.top_p,
    topK: request['top_k'],
    candidateCount: request.n,
    seed: seedOf(request.seed),
    maxOutputTokens: request.max_tokens,
    presencePenalty: request.presence_penalty,
    frequencyPenalty: request.frequency_penalty,
    stopSequences: stops.length > 0 ? stops : undefined,
    responseLogprobs: request.logprobs === true ? true : undefined,
    logprobs: request.top_logprobs,
  };
}

/** The vendor's seed has 32 bits: a longer one is folded, so that equal seeds stay equal. Source: ai.google.dev, API reference, "GenerationConfig", 2026-11-22. */
function seedOf(seed: ChatRequest['seed']): unknown {
  const digits = isFields(seed) ? seed['rawJSON'] : seed; // as text where a number of JavaScript would lose some
  if (typeof digits === 'number' && (digits | 0) === digits) return digits;
  return /^-?\d+$/.test(String(digits)) ? Number(BigInt.asIntN(32, BigInt(String(digits)))) : seed;
}

function formatMembers(format: ChatRequest['response_format'], allowance: Allowance): Fields {
  if (format?.type !== 'json_object' && format?.type !== 'json_schema') return {};
  const { json_schema: named } = format;
  const schema = format.type === 'json_schema' && isFields(named) ? named['schema'] : undefined;
  return {
    responseMimeType: 'application/json',
    responseSchema: isFields(schema) ? toVendorSchema(schema, allowance) : undefined,
  };
}

interface Declaring {
  readonly allowance: Allowance;
  readonly names: ToolNames;
}

function toDeclaration({ function: declared }: ChatTool, index: number, { allowance, names }: Declaring): Fields {
  if (!isFields(declared) || typeof declared['name'] !== 'string')
    throw invalidRequest(`tools[${index}] must be a function with a name`);
  const { name, description, parameters } = declared;
  const isEmpty = !isGiven(parameters) || (isFields(parameters) && Object.keys(parameters).length === 0);
  return {
    name: names.toVendor(name),
    ...(isGiven(description) && { description }),
    parameters: isEmpty ? { type: 'object', properties: {} } : toParameters(parameters, allowance),
  };
}

const MODES: ReadonlyMap<unknown, string> = new Map([
  ['auto', 'AUTO'],
  ['none', 'NONE'],
  ['required', 'ANY'],
]);

/** `undefined` for a choice of an unknown form: it counts as unset. See docs/reference/providers.md#tool-choice. */
function readChoice(choice: ChatRequest['tool_choice'], names: ToolNames): Fields | undefined {
  const mode = MODES.get(choice);
  if (mode !== undefined) return { mode };
  if (!isFields(choice) || choice['type'] !== 'function' || !isFields(choice['function'])) return undefined;
  const { name } = choice['function'];
  return typeof name === 'string' && name !== ''
    ? { mode: 'ANY', allowedFunctionNames: [names.toVendor(name)] }
    : undefined;
}

/** Empty where the field is left out. Source: ai.google.dev, "Optimization", service tiers, 2026-11-21. */
const TIERS: ReadonlyMap<unknown, string> = new Map([
  ['auto', ''],
  ['default', ''],
  ['standard', 'standard'],
  ['flex', 'flex'],
  ['priority', 'priority'],
]);

interface ModalityPlan {
  readonly wire: readonly string[] | undefined;
  readonly ignored: readonly string[];
}

/** Images beside text; speech has no place in the common answer. */
function planModalities(asked: unknown): ModalityPlan {
  if (!isGiven(asked)) return { wire: undefined, ignored: [] };
  const isReadable = Array.isArray(asked) && asked.every((name) => name === 'text' || name === 'image');
  if (!isReadable) return { wire: undefined, ignored: ['modalities'] };
  return { wire: asked.includes('image') ? asked.map((name: string) => name.toUpperCase()) : undefined, ignored: [] };
}

/** Members of messages and tools that have no place in the native form. */
function unspoken(request: ChatRequest): string[] {
  const { messages, tools } = request;
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? (content as readonly Fields[]) : []));
  const hasDetail = parts.some(
    ({ image_url: image }) => isFields(image) && isGiven(image['detail']) && image['detail'] !== 'auto',
  );
  const isStrict = (tools ?? []).some((tool) => tool.function?.strict === true);
  return [
    ...(hasCacheMark(request) ? ['cache_control'] : []),
    ...(hasDetail ? ['detail'] : []),
    ...(isStrict ? ['strict'] : []),
  ];
}
