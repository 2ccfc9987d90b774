import {
  type ChatReply,
  type ChatRequest,
  type ExchangeOutcome,
  type Surface,
  SURFACES,
} from '../../../host/contract/index.ts';
import type { LiveExchange } from '../../../host/pipeline/live-exchange.ts';
import { parametersIn } from '../../../host/pipeline/attempts/parameters.ts';
import type { Facts } from './privacy.ts';
import { conventionalName } from './provider-name.ts';

/** Version of the names that begin with `gw.`. */
const SCHEMA = '1.0.0-draft';

const OPERATIONS: Readonly<Record<Surface, string>> = {
  chat: 'chat',
  completions: 'chat',
  messages: 'chat',
  generate_content: 'chat',
  embeddings: 'embeddings',
  images: 'images.generate',
  'images.edits': 'images.edit',
  rerank: 'rerank',
  moderations: 'moderations',
  'audio.transcriptions': 'audio.transcriptions',
  'audio.translations': 'audio.transcriptions',
  'audio.speech': 'audio.speech',
  responses: 'responses',
  'responses.translated': 'chat',
  passthrough: 'passthrough',
  mcp: 'execute_tool',
};

/** What is known of a request before anything was done for it. See docs/observability.md#traces. */
export function startFacts(
  { id, surface, model, streaming, request, principal }: LiveExchange,
  strategy: string,
  version: string,
): Facts {
  const { max_tokens, max_completion_tokens, temperature, top_p } = request as Partial<ChatRequest>;
  const sampling = SURFACES[surface].isChat
    ? {
        'gen_ai.request.max_tokens': number(max_completion_tokens ?? max_tokens),
        'gen_ai.request.temperature': number(temperature),
        'gen_ai.request.top_p': number(top_p),
      }
    : {};
  return {
    'gen_ai.operation.name': OPERATIONS[surface],
    'gen_ai.request.model': model || undefined,
    'gen_ai.request.is_stream': streaming,
    ...sampling,
    'gw.schema.version': SCHEMA,
    'gw.gateway.version': version,
    'gw.gateway.trace_id': id,
    'gw.routing.strategy': strategy,
    'gw.request.api_key_id': principal?.id,
  };
}

/** What became of it. `settledAt` is when its last attempt ended, in monotonic milliseconds: of what is forwarded whole, with its last bytes. */
export function endFacts(exchange: LiveExchange, outcome: ExchangeOutcome, settledAt: number | undefined): Facts {
  const {
    provider,
    answeredBy,
    lastTarget,
    usage,
    reportedModel,
    upstreamModel,
    attempts,
    turn,
    abLabel,
    affinity,
    routing,
    limits,
    measured: { ttftMs, lastChunkAt },
    error,
    arrivedAt,
  } = exchange;
  const lastAt = lastChunkAt ?? (error ? undefined : settledAt);
  const module = lastTarget?.provider?.module;
  const system = provider ?? (answeredBy === undefined ? 'none' : 'cache');
  return {
    'gen_ai.system': system,
    'gen_ai.provider.name': provider !== undefined && module ? conventionalName(module) : system,
    'gen_ai.response.model':
      outcome === 'success' && answeredBy === undefined ? reportedModel || upstreamModel || undefined : undefined,
    'gen_ai.response.finish_reasons': finishReasons(exchange),
    'gen_ai.usage.input_tokens': usage?.prompt_tokens,
    'gen_ai.usage.output_tokens': usage?.completion_tokens,
    'gen_ai.usage.reasoning_tokens': usage?.reasoning_tokens || undefined,
    ...costFacts(exchange),
    'gw.account': limits?.account,
    'gw.routing.target_key': answeredBy === undefined ? lastTarget?.virtualKey : undefined,
    'gw.routing.attempt': attempts,
    'gw.routing.group': routing.group?.name,
    'gw.routing.strategy': routing.group?.mode, // in the place of the document's, which the span began with
    'gw.affinity': affinity,
    'gw.forwarded_params': forwardedParams(exchange),
    'gw.mcp.depth': turn && turn.number > 1 ? turn.number - 1 : undefined,
    'gw.cache.hit': answeredBy !== undefined,
    'gw.cache.kind': exchange.cache === 'hit' ? 'exact' : undefined,
    'gw.ab.label': abLabel,
    'gw.stream.time_to_first_token_ms': exchange.streaming ? ttftMs : undefined,
    'gw.stream.time_to_last_token_ms': exchange.streaming && lastAt !== undefined ? lastAt - arrivedAt : undefined,
    'gw.error.code': error?.code,
    'gw.error.upstream_status': error?.fault?.status,
    'fault.reason': error?.fault?.reason,
    'gw.error.retry_count': error && attempts > 0 ? attempts - 1 : undefined,
  };
}

function costFacts({ measured: { cost, costUsd, costSource, usage }, answeredBy }: LiveExchange): Facts {
  if (answeredBy !== undefined) return { 'gw.cost.usd': 0 };
  if (!cost) return { 'gw.cost.model_found': usage && false };
  return {
    'gw.cost.usd': costUsd,
    'gw.cost.input_usd': cost.inputUsd,
    'gw.cost.output_usd': cost.outputUsd,
    'gw.cost.cache_read_usd': cost.cacheReadUsd,
    'gw.cost.cache_write_usd': cost.cacheWriteUsd,
    'gw.cost.reasoning_usd': cost.reasoningUsd,
    'gw.cost.model_found': cost.modelFound,
    'gw.cost.line': cost.priced ? cost.line : undefined,
    'gw.cost.source': costSource,
  };
}

/** Names of the chat parameters that the last target got. */
function forwardedParams({ surface, routing: { translated }, answeredBy }: LiveExchange): string[] | undefined {
  if (!translated || answeredBy !== undefined || !SURFACES[surface].isChat) return undefined;
  const names = parametersIn(translated.request as ChatRequest, translated.left);
  return names.length > 0 ? names : undefined;
}

function finishReasons({ reply, surface, error }: LiveExchange): string[] | undefined {
  if (error || !reply || !SURFACES[surface].isChat) return undefined;
  const reasons = (reply as ChatReply).choices.flatMap(({ finish_reason: reason }) =>
    typeof reason === 'string' ? [reason] : [],
  );
  return reasons.length > 0 ? reasons : undefined;
}

/** Numbers that JavaScript cannot hold come as objects. */
const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
