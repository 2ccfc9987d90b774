import type { CallInfo, ChatRequest } from 'gw/contract';
import { type Fields, isFields, isGiven } from 'gw/common-wire';
import { toolMark } from '../../_common/cache-marks.ts';
import { leftOver, present, stopOf, temperatureOf, tierOf } from '../common.ts';
import { limitPoints } from './cache.ts';
import { familyOf, type Traits, traitsOf } from '../models.ts';
import { hasToolTurns, toConversation } from './messages.ts';
import { asksForJson, planTools } from './tools.ts';

export interface NativeBody {
  readonly body: Fields;
  readonly ignored: readonly string[];
  readonly bounded?: readonly string[];
}

/**
 * The body of a Converse call. Throws a 400 that names the part or the tool a model cannot take.
 * Source: Amazon Bedrock API reference, "Converse", 2026-11-21.
 */
export function toConverseBody(request: ChatRequest, { model }: CallInfo): NativeBody {
  const family = familyOf(model);
  const traits = traitsOf(model);
  const conversation = toConversation(request.messages, traits);
  const tools = planTools(request, traits, family !== 'llama');
  const { system, messages, isReduced } = limitPoints(conversation, tools.toolConfig);
  const reasoning = reasoningOf(request, traits);
  const { tier, ignored } = tierOf(request);
  const metadata = metadataOf(request);
  const { bounded } = traits.samples ? temperatureOf(request) : { bounded: [] };
  const instructions = tools.instruction === undefined ? system : [...system, { text: tools.instruction }];
  return {
    bounded,
    body: {
      messages,
      ...present({
        system: instructions.length > 0 ? instructions : undefined,
        inferenceConfig: inferenceConfig(request, {
          samples: traits.samples,
          stops: traits.stops && family !== 'llama',
        }),
        toolConfig: tools.toolConfig,
        outputConfig: tools.outputConfig,
        additionalModelRequestFields: present({
          ...reasoning.fields,
          inferenceConfig: traits.hasTopK ? present({ topK: request['top_k'] }) : undefined,
        }),
        serviceTier: tier && { type: tier },
        requestMetadata: metadata.fields,
      }),
    },
    ignored: [
      ...fieldsIgnored(request, traits),
      ...tools.ignored,
      ...reasoning.ignored,
      ...ignored,
      ...metadata.ignored,
      ...leftOver(request, traits.caches, READ),
      ...topKIgnored(request, traits),
      ...toolMarksIgnored(request, traits),
      ...(isReduced || conversation.lostMark ? ['cache_control'] : []),
    ],
  };
}

const READ = ['top_k', 'reasoning_effort', 'metadata'];

/** What the model has no field for. */
function fieldsIgnored(request: ChatRequest, { samples, stops }: Traits): string[] {
  const sampling = samples ? [] : ['temperature', 'top_p'].filter((name) => isGiven(request[name]));
  return !stops && stopOf(request) ? [...sampling, 'stop'] : sampling;
}

function topKIgnored({ top_k: topK }: ChatRequest, { hasTopK }: Traits): string[] {
  return isGiven(topK) && !hasTopK ? ['top_k'] : [];
}

function toolMarksIgnored({ tools }: ChatRequest, { caches, cachesTools }: Traits): string[] {
  return caches && !cachesTools && (tools ?? []).some((tool) => toolMark(tool) !== undefined) ? ['cache_control'] : [];
}

/** The body of an invoke call of Nova, which differs little. Source: Amazon Nova, "Complete request schema", 2026-11-21. */
export function toNovaBody(request: ChatRequest, { model }: CallInfo): NativeBody {
  const traits = traitsOf(model);
  const conversation = toConversation(request.messages, traits);
  const { system, messages, isReduced } = limitPoints(conversation);
  const config = present({ ...inferenceConfig(request, traits), topK: request['top_k'] });
  return {
    bounded: temperatureOf(request).bounded,
    body: {
      schemaVersion: 'messages-v1',
      messages,
      ...present({ system: system.length > 0 ? system : undefined, inferenceConfig: config }),
    },
    ignored: [
      ...tierOf(request).ignored,
      ...leftOver(request, true, ['top_k', 'reasoning_effort']),
      ...(isReduced || conversation.lostMark ? ['cache_control'] : []),
    ],
  };
}

/** Whether a request holds what only Converse has a place for, in families that are otherwise invoked. */
export function needsConverse(request: ChatRequest): boolean {
  const { messages, tools, response_format: format, reasoning_effort: effort } = request;
  const hasMedia = messages.some(
    ({ content }) =>
      Array.isArray(content) &&
      content.some(({ type }: { readonly type: string }) => type !== 'text' && type !== 'refusal'),
  );
  return hasMedia || (tools?.length ?? 0) > 0 || asksForJson(format) || hasToolTurns(messages) || isGiven(effort);
}

function inferenceConfig(
  request: ChatRequest,
  { samples, stops }: Pick<Traits, 'samples' | 'stops'>,
): Fields | undefined {
  const { max_completion_tokens: ceiling, max_tokens: maxTokens, top_p: topP } = request;
  const { temperature } = temperatureOf(request);
  return present({
    maxTokens: ceiling ?? maxTokens,
    ...(samples && { temperature, topP }),
    stopSequences: stops ? stopOf(request) : undefined,
  });
}

interface Part {
  readonly fields?: Fields | undefined;
  readonly ignored: readonly string[];
}

const EFFORTS: ReadonlyMap<unknown, string> = new Map([
  ['minimal', 'low'],
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
  ['xhigh', 'high'],
  ['max', 'high'],
]);

/**
 * Nova 2 takes its highest effort only without a ceiling and sampling of the caller's, and so less beside them.
 * Source: Amazon Nova, "Extended thinking", 2026-11-21.
 */
function reasoningOf(request: ChatRequest, traits: Traits): Part {
  const { reasoning_effort: asked } = request;
  const { reasoning } = traits;
  if (reasoning === 'reasoning') return nestedEffort(asked);
  const effort = EFFORTS.get(asked);
  if (!isGiven(asked) || (asked === 'none' && reasoning === 'reasoningConfig')) return { ignored: [] };
  if (effort === undefined || reasoning === 'none') return { ignored: ['reasoning_effort'] };
  if (reasoning === 'reasoning_effort') return { fields: { reasoning_effort: effort }, ignored: [] };
  const { maxTokens, temperature, topP } = inferenceConfig(request, { ...traits, stops: false }) ?? {};
  const isBound = [maxTokens, temperature, topP].some((value) => value !== undefined);
  return {
    fields: {
      reasoningConfig: { type: 'enabled', maxReasoningEffort: effort === 'high' && isBound ? 'medium' : effort },
    },
    ignored: [],
  };
}

const NESTED_EFFORTS: ReadonlyMap<unknown, string> = new Map([
  ...EFFORTS,
  ['none', 'none'],
  ['xhigh', 'xhigh'],
  ['max', 'xhigh'],
]);

/** The effort as models of OpenAI with closed weights take it. */
function nestedEffort(asked: unknown): Part {
  const effort = NESTED_EFFORTS.get(asked);
  if (effort !== undefined) return { fields: { reasoning: { effort } }, ignored: [] };
  return { ignored: isGiven(asked) ? ['reasoning_effort'] : [] };
}

/** Metadata of texts goes to the service's own log of calls. Source: Amazon Bedrock API reference, "Converse", `requestMetadata`, 2026-11-21. */
function metadataOf({ metadata }: ChatRequest): Part {
  if (!isGiven(metadata)) return { ignored: [] };
  const entries = isFields(metadata) ? Object.entries(metadata) : [];
  const isTaken =
    entries.length > 0 &&
    entries.length <= 16 &&
    entries.every(([name, value]) => isLabel(name) && name !== '' && typeof value === 'string' && isLabel(value));
  return isTaken && isFields(metadata) ? { fields: metadata, ignored: [] } : { ignored: ['metadata'] };
}

const isLabel = (text: string): boolean => /^[\w\s:@$#=/+,.-]{0,256}$/.test(text);
