import type { CallInfo, ChatRequest } from 'gw/contract';
import { type Fields, fieldsBeside, isFields, isGiven } from '../fields.ts';
import { BETA_HEADER, betasOf } from './betas.ts';
import { limitMarks } from './cache.ts';
import { planFormat } from './format.ts';
import { type SystemPlaces, toConversation } from './messages.ts';
import { type ClaudeTraits, claudeTraits } from './models.ts';
import { withoutFields } from '../model-limits.ts';
import { SchemaRoom } from './schema-room.ts';
import { planThinking } from './thinking.ts';
import { ANSWER_TOOL, hasTools, isForcing, planTools } from './tools.ts';
import type { MessagesVariant } from './variant.ts';

export interface MessagesBody {
  readonly body: Fields;
  readonly headers?: Readonly<Record<string, string>>;
  /** Most tokens the answer may have, for `WireRequest.answerTokens`. */
  readonly answerTokens: number;
  /** Request fields that cannot travel, for `WireRequest.ignored`; those of the provider's `params` are not among them. */
  readonly ignored: readonly string[];
  /** Request fields that travel with the nearest value the vendor takes, for `WireRequest.bounded`. */
  readonly bounded?: readonly string[];
}

/** The vendor demands a ceiling, also for a model whose longest answer the catalog does not know. See docs/providers.md#claude-models. */
const DEFAULT_MAX_TOKENS = 1024;

/** Fields that are read here, or listed in `params`. */
const KNOWN = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'user',
  'metadata',
  'service_tier',
  'reasoning_effort',
  'thinking',
  'output_config',
  'cache_control',
  'web_search_options',
  'n',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'logprobs',
  'top_logprobs',
  'logit_bias',
];

/**
 * A chat request as the body of a Messages call, for the model of `call`. Changes nothing in it. Throws a 400 that names
 * the part, the call or the tool that the vendor cannot take. See docs/providers.md#claude-models.
 */
export function toMessagesBody(given: ChatRequest, call: CallInfo, variant: MessagesVariant): MessagesBody {
  const traits = claudeTraits(call.facts);
  const { request, left } = withoutFields(given, call.facts?.refuses);
  const conversation = toConversation(request.messages, variant, placesFor(call));
  const isBound = call.facts?.binds_thoughts === true && conversation.holdsThoughts;
  const room = new SchemaRoom();
  const format = planFormat(request, { traits, variant, room, hasTools: hasTools(request, variant) });
  const own = planTools(request, { traits, variant, room });
  const choice = format.tool ? { type: 'tool', name: ANSWER_TOOL, disable_parallel_tool_use: true } : own.choice;
  const { asked, bounded } = ceilingOf(request, call);
  const thinking = planThinking(request, {
    traits,
    maxTokens: asked,
    isForced: isForcing(choice),
    lacksThinking: conversation.lacksThinking,
  });
  const maxTokens = asked ?? DEFAULT_MAX_TOKENS + thinking.reserve;
  const sampling = samplingOf(request, traits, thinking.isActive);
  const stop = stopOf(request);
  const direct = variant.isDirect
    ? directFields(request, call, variant)
    : { fields: {}, ignored: bedrockIgnored(request) };
  const ownMark = fieldsOf(request['cache_control']);
  const { tools, system, messages, isReduced } = limitMarks(
    { ...conversation, tools: format.tool ? [format.tool] : own.tools },
    ownMark,
  );
  const betas = betasOf(
    call,
    {
      tools,
      namesFiles: conversation.namesFiles,
      holdsSchema: own.isStrict || format.format !== undefined,
      controlsBinding: isBound && variant.controlsBinding,
      placesSystem: call.clientWire === undefined && conversation.placesSystem && variant.isDirect,
    },
    variant,
  );
  return {
    body: {
      ...variant.fixed,
      ...direct.fields,
      max_tokens: maxTokens,
      ...present({
        system,
        messages,
        tools,
        tool_choice: choice,
        thinking: isBound && variant.controlsBinding ? withBinding(thinking.thinking) : thinking.thinking,
      }),
      ...sampling.fields,
      ...present({
        stop_sequences: stop.sequences,
        output_config: outputConfig(request, thinking.effort, format.format),
        cache_control: ownMark,
      }),
      ...(betas.length > 0 && !variant.isDirect && { anthropic_beta: betas }),
    },
    ...(betas.length > 0 && variant.isDirect && { headers: { [BETA_HEADER]: betas.join(',') } }),
    answerTokens: maxTokens,
    ignored: [
      ...own.ignored,
      ...format.ignored,
      ...thinking.ignored,
      ...sampling.ignored,
      ...stop.ignored,
      ...direct.ignored,
      ...(isReduced || conversation.lostMark ? ['cache_control'] : []),
      ...left,
      ...fieldsBeside(request, KNOWN),
    ],
    ...withBounded([
      ...bounded,
      ...(thinking.bounded ?? []),
      ...(isBounded(request, sampling.fields) ? ['temperature'] : []),
    ]),
  };
}

const withBounded = (names: readonly string[]): Pick<MessagesBody, 'bounded'> =>
  names.length > 0 ? { bounded: names } : {};

/** The most tokens that the answer is to have: what is asked for, or what the catalog knows as the model's longest answer. */
function ceilingOf(
  { max_completion_tokens: newer, max_tokens: older }: ChatRequest,
  { maxOutputTokens, facts }: CallInfo,
): { readonly asked: number | undefined; readonly bounded: readonly string[] } {
  const asked = newer ?? older ?? maxOutputTokens;
  const most = maxOutputTokens === undefined ? facts?.max_output : undefined;
  if (asked === undefined || most === undefined || asked <= most) return { asked, bounded: [] };
  return { asked: most, bounded: [newer == null ? 'max_tokens' : 'max_completion_tokens'] };
}

/** Clients of other wires have late system messages in their place; of the common wire only those that would change what thoughts are bound to. */
function placesFor({ clientWire, facts }: CallInfo): SystemPlaces {
  if (clientWire !== undefined) return 'kept';
  return facts?.binds_thoughts === true ? 'behind_thoughts' : 'joined';
}

/**
 * Thoughts behind another beginning than their own are left out by the vendor, where it would else refuse the request. Source:
 * GitHub pydantic/pydantic-ai issue 7984, 2026-11-26.
 */
function withBinding(thinking: Fields | undefined): Fields | undefined {
  if (thinking?.['type'] === 'disabled' || thinking?.['block_binding'] !== undefined) return thinking;
  return { ...thinking, block_binding: { prefix_mismatch_behavior: 'drop_block' } };
}

const fieldsOf = (value: unknown): Fields | undefined => (isFields(value) ? value : undefined);

/** The members that are there. */
function present(members: Fields): Fields {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

interface Part {
  readonly fields: Fields;
  readonly ignored: readonly string[];
}

/** `temperature` ends at 1 here. What equals the vendor's default need not travel where it may not. */
function samplingOf(
  { temperature, top_p: topP, top_k: topK }: ChatRequest,
  traits: ClaudeTraits,
  isThinking: boolean,
): Part {
  const clamped = typeof temperature === 'number' ? Math.min(temperature, 1) : undefined;
  const given = present({ temperature: clamped, top_p: topP ?? undefined, top_k: topK ?? undefined });
  if (traits.samples && !isThinking) return traits.mixesSampling ? { fields: given, ignored: [] } : oneOf(given);
  const mayTravel = (name: string): boolean => traits.samples && name === 'top_p' && Number(topP) >= MIN_THINKING_TOP_P;
  const fields = Object.fromEntries(Object.entries(given).filter(([name]) => mayTravel(name)));
  const ignored = Object.keys(given).filter((name) => !mayTravel(name) && (name === 'top_k' || given[name] !== 1));
  return { fields, ignored };
}

/** These models refuse one beside the other. */
function oneOf(given: Fields): Part {
  if (given['temperature'] === undefined || given['top_p'] === undefined) return { fields: given, ignored: [] };
  const { top_p: topP, ...fields } = given;
  return { fields, ignored: topP === 1 ? [] : ['top_p'] };
}

const isBounded = ({ temperature }: ChatRequest, { temperature: sent }: Fields): boolean =>
  sent !== undefined && sent !== temperature;

/** What thinking leaves of `top_p`. Source: platform.claude.com, "Extended thinking", 2026-11-21. */
const MIN_THINKING_TOP_P = 0.95;

/** The vendor refuses sequences of white space only. */
function stopOf({ stop }: ChatRequest): {
  readonly sequences: readonly string[] | undefined;
  readonly ignored: readonly string[];
} {
  const asked = typeof stop === 'string' ? [stop] : (stop ?? []);
  const sequences = asked.filter((sequence) => sequence.trim() !== '');
  return {
    sequences: sequences.length > 0 ? sequences : undefined,
    ignored: sequences.length < asked.length ? ['stop'] : [],
  };
}

/** A caller's own `output_config` wins over what other fields would make of it. */
function outputConfig(
  { output_config: own }: ChatRequest,
  effort: string | undefined,
  format: Fields | undefined,
): Fields | undefined {
  const config = { ...present({ effort, format }), ...fieldsOf(own) };
  return Object.keys(config).length > 0 ? config : undefined;
}

const TIERS: ReadonlyMap<unknown, string> = new Map([
  ['auto', 'auto'],
  ['default', 'standard_only'],
  ['standard_only', 'standard_only'],
]);

/** Fields that Bedrock does not have. */
function directFields(request: ChatRequest, call: CallInfo, { namesModel, hasTiers }: MessagesVariant): Part {
  const { metadata, service_tier: tier } = request;
  const { user_id: userId, ...others } = fieldsOf(metadata) ?? {};
  const user = [request.user, userId].find((id) => typeof id === 'string' && id !== '');
  const serviceTier = hasTiers ? TIERS.get(tier) : undefined;
  const ignored = [];
  if (isGiven(metadata) && (!isFields(metadata) || Object.keys(others).length > 0)) ignored.push('metadata');
  if (isGiven(tier) && serviceTier === undefined) ignored.push('service_tier');
  return {
    fields: {
      ...(namesModel && { model: call.model }),
      ...(call.stream && { stream: true }),
      ...present({ metadata: user && { user_id: user }, service_tier: serviceTier }),
    },
    ignored,
  };
}

function bedrockIgnored(request: ChatRequest): string[] {
  return ['metadata', 'service_tier'].filter((name) => isGiven(request[name]));
}
