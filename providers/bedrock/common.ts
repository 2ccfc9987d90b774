import type { CallInfo, ChatRequest } from 'gw/contract';
import { type Fields, fieldsBeside, isGiven } from 'gw/common-wire';
import { hasCacheMark } from '../_common/cache-marks.ts';

/** Fields that every family reads, or that are listed in `params`. */
const KNOWN = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'temperature',
  'top_p',
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
  'service_tier',
];

/** Fields of a request that a family does not have, for `ignored`; `read` are the further fields it reads. */
export function leftOver(request: ChatRequest, caches: boolean, read: readonly string[] = []): string[] {
  const unread = fieldsBeside(request, [...KNOWN, ...read]);
  return caches || !hasCacheMark(request) ? unread : [...unread, 'cache_control'];
}

/** The members that are there; `undefined` when none is. */
export function present(members: Fields): Fields | undefined {
  const given = Object.entries(members).filter(([, value]) => value !== undefined && value !== null);
  return given.length > 0 ? Object.fromEntries(given) : undefined;
}

export interface Temperature {
  readonly temperature: number | null | undefined;
  readonly bounded: readonly string[];
}

/** Every model of the service ends at 1. Sources: Amazon Bedrock API reference, "InferenceConfiguration"; user guide, "Inference request parameters"; 2026-11-22. */
export function temperatureOf({ temperature }: ChatRequest): Temperature {
  return typeof temperature === 'number' && temperature > 1
    ? { temperature: 1, bounded: ['temperature'] }
    : { temperature, bounded: [] };
}

/** Stop sequences; `undefined` when there are none. */
export function stopOf({ stop }: ChatRequest): readonly string[] | undefined {
  const sequences = typeof stop === 'string' ? [stop] : (stop ?? []);
  return sequences.length > 0 ? sequences : undefined;
}

/** Source: Amazon Bedrock API reference, "ServiceTier", 2026-11-21. */
const TIERS: ReadonlyMap<unknown, string | undefined> = new Map([
  ['auto', undefined],
  ['default', 'default'],
  ['priority', 'priority'],
  ['flex', 'flex'],
  ['reserved', 'reserved'],
]);

export interface Tier {
  readonly tier: string | undefined;
  readonly ignored: readonly string[];
}

export function tierOf({ service_tier: asked }: ChatRequest): Tier {
  return { tier: TIERS.get(asked), ignored: isGiven(asked) && !TIERS.has(asked) ? ['service_tier'] : [] };
}

/** The id of an answer, for families that send none. */
export function answerId({ exchangeId }: CallInfo): string {
  return `bedrock-${exchangeId.slice(0, 24)}`;
}
