import {
  type ChatBody,
  type Fields,
  isFields,
  isGiven,
  type Notes,
  translateWebSearch,
  withoutAbsent,
} from 'gw/common-wire';
import { outOfBounds } from '../_common/bounds.ts';
import { toMessages } from './messages.ts';

/**
 * Every field of the request schema, which is closed: another one is answered with 422. Source: @mistralai/mistralai 2.7.0,
 * ChatCompletionRequest; the limits of documents: @ai-sdk/mistral 3.0.69; 2026-11-22.
 */
const FIELDS: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'stream',
  'temperature',
  'top_p',
  'max_tokens',
  'stop',
  'random_seed',
  'metadata',
  'response_format',
  'tools',
  'tool_choice',
  'presence_penalty',
  'frequency_penalty',
  'n',
  'prediction',
  'parallel_tool_calls',
  'reasoning_effort',
  'prompt_mode',
  'guardrails',
  'prompt_cache_key',
  'service_tier',
  'safe_prompt',
  'document_image_limit',
  'document_page_limit',
]);

export interface BodyFacts {
  /** Fields that the host reports by itself. */
  readonly reported: readonly string[];
  /** Whether the model takes its thinking of earlier turns back, as every one does that is asked for an effort. */
  readonly thinks: boolean;
}

/** What the schema has of the body. */
export function closedBody(body: ChatBody, notes: Notes, { reported, thinks }: BodyFacts): ChatBody {
  const {
    service_tier: tier,
    tools,
    ...rest
  } = translateWebSearch(body, notes, searchTool, ['contextSize', 'location']);
  const whole: ChatBody = {
    ...sampled(rest, notes),
    ...withoutAbsent({
      service_tier: serviceTier(tier, notes),
      tools: Array.isArray(tools) ? tools.map((tool) => toTool(tool, notes)) : undefined,
    }),
    messages: toMessages(rest.messages, notes, thinks || isGiven(rest['reasoning_effort'])),
  };
  const known = Object.entries(whole).filter(([name, value]) => {
    if (FIELDS.has(name)) return true;
    if (isGiven(value) && !reported.includes(name)) notes.ignored.push(name);
    return false;
  });
  return Object.fromEntries(known) as ChatBody;
}

/** Source: Mistral API reference, "Chat", the bounds of `temperature` and `random_seed`, 2026-11-22. */
const BOUNDS = { temperature: [0, 1.5], random_seed: [0, Number.MAX_SAFE_INTEGER] } as const;

/** Where the temperature is 0 the vendor takes no other `top_p` than 1: "top_p must be 1 when using greedy sampling". */
function sampled(body: Fields, notes: Notes): Fields {
  const { fields, names } = outOfBounds(body, BOUNDS);
  for (const name of names) notes.bounded.push(name === 'random_seed' ? 'seed' : name);
  const { top_p: topP, ...rest } = body;
  if (body['temperature'] !== 0 || typeof topP !== 'number' || topP === 1)
    return names.length > 0 ? { ...body, ...fields } : body;
  notes.ignored.push('top_p');
  return { ...rest, ...fields };
}

/** The vendor runs this tool by itself; nothing says how it searches. Source: Mistral documentation, "Using connectors in chat completions", 2026-11-22. */
function searchTool(_search: unknown, { tools }: ChatBody): Fields {
  return { tools: [...(Array.isArray(tools) ? tools : []), { type: 'web_search' }] };
}

/** `default` is called `standard_only`. Source: @mistralai/mistralai 2.7.0, RequestedServiceTier, 2026-11-22. */
const TIERS: ReadonlyMap<unknown, string> = new Map([
  ['auto', 'auto'],
  ['default', 'standard_only'],
  ['standard_only', 'standard_only'],
]);

function serviceTier(asked: unknown, notes: Notes): string | undefined {
  if (isGiven(asked) && !TIERS.has(asked)) notes.ignored.push('service_tier');
  return TIERS.get(asked);
}

/** Tools that the vendor runs have a form of their own, and go as they are. */
function toTool(tool: unknown, notes: Notes): unknown {
  if (!isFields(tool) || !isFields(tool['function'])) return tool;
  const { name, description, strict, parameters, cache_control: inner } = tool['function'];
  if (isGiven(tool['cache_control']) || isGiven(inner)) notes.ignored.push('cache_control');
  return {
    type: 'function',
    function: withoutAbsent({
      name,
      description,
      strict,
      parameters: parameters ?? { type: 'object', properties: {} },
    }),
  };
}
