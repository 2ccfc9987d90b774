/** Which API of its service a chat goes to, where the service has two. See docs/catalog.md#which-api-an-attempt-uses. */
import type { FactSources } from '../common/fact-sources.ts';
import { hasSealedThoughts } from '../common/sealed-thoughts.ts';
import { type ChatRequest, isFields, type ModelFacts, nearestEffort, type ViaResponses } from '../contract/index.ts';
import type { ConnectedProvider } from '../upstream/connect.ts';
import { chatTraitsOf } from './attempts/chat-traits.ts';
import type { Target } from './target.ts';

/** What was decided, and why. */
export interface ChatVia {
  readonly via: 'chat' | 'responses';
  /** The fact of the model that decided; absent where another thing did. */
  readonly fact?: keyof ModelFacts;
  /** What of the request or the configuration it was. */
  readonly why: string;
  /** Nothing was to be decided: without configuration the provider's chats go to one API. */
  readonly isSettled?: boolean;
}

/** One chat at one target. */
export interface ChatQuestion {
  readonly target: Pick<Target, 'config'>;
  readonly provider: Pick<ConnectedProvider, 'module' | 'ref'>;
  /** The model to ask the upstream for. */
  readonly model: string;
  /** What is known of it there. */
  readonly facts: ModelFacts;
  readonly request: ChatRequest;
  /** Whether the client asked to see thoughts. */
  readonly wantsThoughts: () => boolean;
}

const chat = (why: string, fact?: keyof ModelFacts): ChatVia =>
  Object.freeze({ via: 'chat', why, ...(fact && { fact }) });
const responses = (why: string, fact?: keyof ModelFacts): ChatVia =>
  Object.freeze({ via: 'responses', why, ...(fact && { fact }) });

const NO_EGRESS: ChatVia = Object.freeze({ ...chat('the provider has no Responses API'), isSettled: true });
const BY_NAME: ChatVia = Object.freeze({ ...chat('auto is chat at this provider'), isSettled: true });
const CONFIGURED = { chat: chat('chat_via'), responses: responses('chat_via') } as const;
const ONLY = { chat: chat('endpoints', 'endpoints'), responses: responses('endpoints', 'endpoints') } as const;
const TOOLS = responses('tools', 'chat_tools');
const THOUGHTS = responses('the client wants to see thoughts');
const SEALED = responses('sealed thoughts of an earlier turn');
const VENDOR_TOOL = responses('a tool that the vendor runs');
const SEARCH = responses('web_search_options', 'chat_search');
const ELSE = chat('nothing asks for the Responses API');

/** Decides for one attempt. The first that holds counts. */
export function chatViaOf(question: ChatQuestion): ChatVia {
  const { provider, model, facts, request } = question;
  const { chat_via: configured } = question.target.config;
  const egress = egressOf(provider, model);
  if (!egress) return NO_EGRESS;
  if (configured === 'chat' || configured === 'responses') return CONFIGURED[configured];
  if (egress.isAutomatic !== true) return BY_NAME;
  const [only, another] = facts.endpoints ?? [];
  if (only !== undefined && another === undefined) return ONLY[only];
  if (refusesTools(request, facts)) return TOOLS;
  const asking = asksForResponses(question);
  const held = asking && chatOnly(request);
  if (held !== undefined) return chat(`only chat carries ${held}`);
  return asking ?? ELSE;
}

/** Why, for people: `rule openai-5.4: tools`. Facts that no rule states are those of the configuration, or of a refusal. */
export function viaReason({ fact, why }: ChatVia, sources: FactSources): string {
  if (fact === undefined) return why;
  const { rule, checked } = sources[fact] ?? { rule: 'no rule', checked: '' };
  return `${checked === '' ? rule : `rule ${rule}`}: ${why}`;
}

/** The other API of a service, for models that do not speak a wire of their own there. */
function egressOf(provider: ChatQuestion['provider'], model: string): ViaResponses | undefined {
  const { viaResponses } = provider.module.translators.chat ?? {};
  return viaResponses && chatTraitsOf(provider, model).wire !== 'native' ? viaResponses : undefined;
}

/** Whether the model takes tools on chat not at all, or not with this effort. */
function refusesTools(request: ChatRequest, { chat_tools: takes = 'any', efforts }: ModelFacts): boolean {
  if (takes === 'any' || !isFilled(request.tools)) return false;
  if (takes === 'never') return true;
  const { reasoning_effort: given, reasoning } = request;
  const own = typeof given === 'string' ? nearestEffort(given, efforts).effort : undefined;
  if (takes === 'none_only') return own !== 'none';
  const effort = own ?? (isFields(reasoning) ? reasoning['effort'] : undefined);
  return typeof effort === 'string' && effort !== 'none';
}

/** What only the Responses API carries. */
function asksForResponses({ provider, facts, request, wantsThoughts }: ChatQuestion): ChatVia | undefined {
  const isReasoning = (facts.efforts?.length ?? 0) > 0;
  if (isReasoning && wantsThoughts()) return THOUGHTS;
  if (isReasoning && hasSealedThoughts(request.messages, provider.module.name)) return SEALED;
  if (Object.keys(facts).length === 0) return undefined;
  const { tools, web_search_options: search } = request;
  if (isFilled(tools) && tools.some(isVendorTool)) return VENDOR_TOOL;
  return isGiven(search) && facts.chat_search !== true ? SEARCH : undefined;
}

const isVendorTool = (tool: unknown): boolean =>
  isFields(tool) && tool['type'] !== undefined && tool['type'] !== 'function' && tool['type'] !== 'custom';

/** The first field or part that only chat carries. */
function chatOnly(request: ChatRequest): string | undefined {
  const { modalities, n } = request;
  if (Array.isArray(modalities) && modalities.includes('audio')) return 'modalities';
  if (Number(n) > 1) return 'n';
  const field = CHAT_FIELDS.find((name) => isGiven(request[name]) && !isEmptyList(request[name]));
  return field ?? (request.messages.some(hasAudio) ? 'input_audio' : undefined);
}

const CHAT_FIELDS = ['audio', 'prediction', 'functions', 'function_call'] as const;

const hasAudio = ({ content }: ChatRequest['messages'][number]): boolean =>
  Array.isArray(content) && content.some((part: unknown) => isFields(part) && part['type'] === 'input_audio');

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;
const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
const isFilled = (value: unknown): value is readonly unknown[] => Array.isArray(value) && value.length > 0;

/** Whether a client of the common format asks to see what the model thinks. */
export function asksForThoughts({ reasoning, include_reasoning: included }: ChatRequest): boolean {
  return included === true || (isFields(reasoning) && isGiven(reasoning['summary']));
}

/** A request as one API takes it, and the fields that are lost by that. */
export interface ChatChoice {
  readonly request: ChatRequest;
  readonly lost: readonly string[];
}

/**
 * The request of a target that is configured to answer by chat, where its model takes no tools there with the effort that is
 * asked for: without that effort, which is lost.
 */
export function withoutRefusedEffort(request: ChatRequest, facts: ModelFacts): ChatChoice {
  const takes = facts.chat_tools;
  if (takes === 'never' || !refusesTools(request, facts)) return { request, lost: NOTHING };
  const { reasoning_effort: effort, ...rest } = request;
  const lost = isGiven(effort) ? EFFORT : NOTHING;
  return { request: takes === 'none_only' ? { ...rest, reasoning_effort: 'none' } : rest, lost };
}

const NOTHING: readonly string[] = Object.freeze([]);
const EFFORT: readonly string[] = Object.freeze(['reasoning_effort']);
