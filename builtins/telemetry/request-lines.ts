import { CredentialEnded } from '../../host/stores/credential-ended.ts';
import { defineBuiltin } from '../../host/builtin.ts';
import { isLabel } from '../../host/generation/groups/offered-names.ts';
import { isSilent } from '../../host/log/logger.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import { shownModel } from '../../host/pipeline/shown.ts';
import {
  type ClientFacts,
  type ExchangeOutcome,
  type GatewayError,
  type ImagesReply,
  type ModerationsReply,
  type RerankReply,
  type Surface,
  SURFACES,
} from '../../host/contract/index.ts';
import type { PipelineServices } from '../../host/pipeline/pipeline-services.ts';
import { proxyStatusOf } from '../../host/upstream/fault.ts';

/** One log line and the figures of each exchange, once it is over. See docs/observability.md#log-lines. */
export default defineBuiltin({
  name: 'request-lines',
  apply: ({ hooks }) =>
    hooks.assemble.tapPromise('request-lines', async ({ hooks: pipeline, services, models, groups }) => {
      const modelLabel = (model: string): string => (isLabel(model, { models, groups }) ? model : 'unknown');
      pipeline.finished.tap('request-lines', (exchange, outcome) => {
        logLine(services, exchange, outcome);
        count(services, exchange, outcome, modelLabel(exchange.model));
      });
    }),
});

/** How the lines beside chat are called, and what they count. */
const OTHER_SURFACES: Partial<
  Record<Surface, { readonly name: string; readonly figures: (exchange: LiveExchange) => object }>
> = {
  embeddings: {
    name: 'embedding',
    figures: ({ usage, costUsd }) => ({ tokens: usage?.total_tokens ?? 0, cost_usd: costUsd ?? null }),
  },
  images: { name: 'image', figures: imageFigures },
  'images.edits': { name: 'image edit', figures: imageFigures },
  rerank: {
    name: 'rerank',
    figures: ({ reply }) => ({ results: (reply as Partial<RerankReply>).results?.length ?? 0 }),
  },
  moderations: {
    name: 'moderation',
    figures: ({ reply }) => ({ results: (reply as Partial<ModerationsReply>).results?.length ?? 0 }),
  },
  'audio.transcriptions': { name: 'transcription', figures: ({ sentBytes }) => ({ text_bytes: sentBytes }) },
  'audio.translations': { name: 'translation', figures: ({ sentBytes }) => ({ text_bytes: sentBytes }) },
  'audio.speech': { name: 'speech', figures: ({ sentBytes }) => ({ audio_bytes: sentBytes }) },
  responses: {
    name: 'pass-through',
    figures: ({ usage, costUsd, sentBytes }) => ({
      tokens_in: usage?.prompt_tokens ?? 0,
      tokens_out: usage?.completion_tokens ?? 0,
      cost_usd: costUsd ?? null,
      bytes: sentBytes,
    }),
  },
  mcp: { name: 'mcp', figures: ({ request: { server, name } }) => ({ server, tool: name }) },
  passthrough: {
    name: 'pass-through',
    figures: ({ sentBytes, measured: { tunnel } }) =>
      tunnel ? { bytes_up: tunnel.bytesUp, bytes_down: tunnel.bytesDown } : { bytes: sentBytes },
  },
};

function imageFigures({ reply, costUsd }: LiveExchange): object {
  return { images: (reply as Partial<ImagesReply>).data?.length ?? 0, cost_usd: costUsd ?? null };
}

function logLine({ log, redactor }: PipelineServices, exchange: LiveExchange, outcome: ExchangeOutcome): void {
  const { id, model, error, usage, costUsd, abLabel } = exchange;
  const other = OTHER_SURFACES[exchange.surface];
  if (outcome !== 'client_canceled' && !error && !other && isSilent(log, 'debug')) return;
  const { client, sessionId } = exchange;
  const latency_ms = Math.round(exchange.elapsedMs() * 1000) / 1000;
  const where = {
    trace_id: id,
    model: shownModel(model, redactor),
    provider: exchange.target ?? (exchange.cache === 'hit' ? 'cache' : ''),
    latency_ms,
    ...(SURFACES[exchange.surface].isForwarded && { target: exchange.target ?? '' }),
    ...(client && clientFacts(client)),
    ...(sessionId !== undefined && { session_id: sessionId }),
  };
  if (error instanceof CredentialEnded) log.info('request ended with its credential', where);
  else if (outcome === 'client_canceled') log.info('request canceled by the client', where);
  else if (error)
    log.error(`${other ? `${other.name} ` : ''}request failed`, {
      ...where,
      ...routeFacts(exchange),
      ...reasonFact(error),
      error,
    });
  else if (other)
    log.info(`${other.name} request completed`, { ...where, ...routeFacts(exchange), ...other.figures(exchange) });
  else
    log.debug('request completed', {
      ...where,
      ...routeFacts(exchange),
      tokens_in: usage?.prompt_tokens ?? 0,
      tokens_out: usage?.completion_tokens ?? 0,
      cost_usd: costUsd ?? null,
      ...(abLabel !== undefined && { ab_label: abLabel }),
    });
}

/** What of the configuration took part, beside the target: the credential that was used last, the group whose route was tried last. */
function routeFacts({ routing: { group, credential } }: LiveExchange): object | undefined {
  if (!group && credential === undefined) return undefined;
  return { ...(credential !== undefined && { credential }), ...(group && { group: group.name }) };
}

/** The kind of an upstream's failure, where it is known, and the status of a proxy that refused the way there. */
function reasonFact(error: GatewayError): object {
  const proxyStatus = proxyStatusOf(error);
  return {
    ...(error.fault?.reason !== undefined && { 'fault.reason': error.fault.reason }),
    ...(proxyStatus !== undefined && { proxy_status: proxyStatus }),
  };
}

/** What a line says of a client that speaks a wire of its own. */
function clientFacts({ wire, surface, isSameWire, upstreamRequestId }: ClientFacts): object {
  return {
    surface,
    client_wire: wire,
    same_wire: isSameWire,
    ...(upstreamRequestId !== undefined && { upstream_request_id: upstreamRequestId }),
  };
}

function count({ counters }: PipelineServices, exchange: LiveExchange, outcome: ExchangeOutcome, model: string): void {
  const { answeredBy, lastTarget, usage, costUsd, abLabel, measured } = exchange;
  const provider = answeredBy === undefined ? (lastTarget?.virtualKey ?? 'none') : 'cache';
  const labels = { provider, model };
  counters.add('gateway_requests_total', {
    provider,
    model,
    status: outcome === 'client_canceled' ? 'error' : outcome,
  });
  counters.observe('gateway_request_duration_seconds', exchange.elapsedMs() / 1000, labels);
  if (abLabel !== undefined) counters.add('gateway_ab_requests_total', { variant: abLabel });
  if (usage) {
    counters.add('gateway_tokens_input_total', labels, usage.prompt_tokens);
    counters.add('gateway_tokens_output_total', labels, usage.completion_tokens);
    if (exchange.isPlaced && answeredBy === undefined) countCache(counters, exchange, labels);
  }
  if (measured.costSource) counters.add('gateway_cost_source_total', { source: measured.costSource });
  if (costUsd !== undefined && costUsd > 0) counters.add('gateway_request_cost_usd_total', labels, costUsd);
}

/** What the vendor's cache was used for and saved, where instances, groups or affinity are configured. */
function countCache(
  counters: PipelineServices['counters'],
  { usage, measured: { cacheSavedUsd, cacheExtraUsd } }: LiveExchange,
  labels: { readonly provider: string; readonly model: string },
): void {
  const { cache_read_tokens: read = 0, cache_write_tokens: written = 0 } = usage ?? {};
  if (read > 0) counters.add('gateway_cache_tokens_total', { ...labels, kind: 'read' }, read);
  if (written > 0) counters.add('gateway_cache_tokens_total', { ...labels, kind: 'write' }, written);
  const saved = (cacheSavedUsd ?? 0) + cacheExtraUsd;
  if (saved > 0) counters.add('gateway_cache_saved_usd_total', labels, saved);
  if (cacheExtraUsd > 0) counters.add('gateway_cache_extra_usd_total', labels, cacheExtraUsd);
}
