import { defineBuiltin, ORDER } from '../../../host/builtin.ts';
import { CLOSE_LIMIT_MS } from '../../../host/common/close-all.ts';
import { canonicalJson } from '../../../host/config/canonical.ts';
import type { ObservabilityConfig } from '../../../host/config/document.ts';
import type { GenerationDraft } from '../../../host/generation/generation.ts';
import type { Host } from '../../../host/host.ts';
import { createIdSource } from '../../../host/http/request-id.ts';
import { tapEventual } from '../../../host/pipeline/eventual.ts';
import type { Privacy } from './privacy.ts';
import { tracingSettings } from './settings.ts';
import type { Tracer } from './tracer.ts';
import type * as Parts from './parts.ts';

const SPAN_ID_BYTES = 8;

interface Tracing {
  readonly parts: typeof Parts;
  readonly tracer: Tracer;
  readonly privacy: Privacy;
  /** Milliseconds that its end may take. */
  readonly graceMs: number;
}

/** OpenTelemetry traces. What the first configuration says is in force until the process ends; a later one is only compared with it. */
export default defineBuiltin({
  name: 'tracing',
  apply: ({ hooks }) => {
    let opening: Promise<Tracing | undefined> | undefined;
    let inForce = '';
    let told = '';
    let closeLimitMs = CLOSE_LIMIT_MS;

    hooks.close.tapPromise({ name: 'tracing', limitMs: () => closeLimitMs }, async () =>
      (await opening?.catch(() => undefined))?.tracer.close(),
    );
    hooks.toolServerTried.tap('tracing', (handshake, { services: { clock } }) => {
      opening?.then(
        (opened) => {
          if (opened) opened.parts.recordHandshake(handshake, { ...opened, clock });
        },
        () => {},
      ); // a tracer that cannot be opened has ended the start
    });
    hooks.assemble.tapPromise('tracing', async (draft, host) => {
      if (!host) return; // a command that only answers questions
      const { observability } = draft.config;
      const wanted = canonicalJson({ tracing: {}, exporters: [], ...observability }); // one text for all that mean the same
      if (opening === undefined) {
        inForce = told = wanted;
        opening = open(observability, host);
      } else if (wanted !== inForce) draft.pendingRestart.push('observability');
      if (wanted !== inForce && wanted !== told) {
        told = wanted;
        host.log.warn('observability has changed: that has an effect after a restart', {
          rule: 'WN12',
          pending_restart: true,
        });
      }
      const opened = await opening;
      if (!opened) return;
      closeLimitMs = 2 * opened.graceMs + CLOSE_LIMIT_MS; // one stage for the spans, one for the exporter
      tapSpans(opened, draft, host.build.version);
    });
  },
});

function tapSpans(opened: Tracing, { config, hooks: pipeline, services }: GenerationDraft, version: string): void {
  const spans = new opened.parts.RequestSpans({
    ...opened,
    now: services.clock.monotonic,
    spanId: createIdSource(SPAN_ID_BYTES),
    strategy: config.strategy.mode || 'single',
    version,
    circuitOf: (virtualKey) => pipeline.circuit.call(virtualKey),
  });
  pipeline.prepare.tap({ name: 'tracing', stage: ORDER.tracing }, (exchange) => {
    if (!exchange.routing.explaining) spans.begin(exchange);
  });
  tapEventual(pipeline.outgoing, 'tracing', (departure) => spans.depart(departure));
  pipeline.settled.tap('tracing', (attempt) => spans.settle(attempt));
  pipeline.stageRan.tap('tracing', (run) => spans.ran(run));
  pipeline.toolCalled.tap('tracing', (call) => spans.called(call));
  pipeline.tryFailed.tap('tracing', (failed) => spans.tried(failed));
  pipeline.circuitMoved.tap('tracing', (move) => spans.moved(move));
  pipeline.finished.tap('tracing', (exchange, outcome) => spans.finish(exchange, outcome));
}

async function open(observability: ObservabilityConfig, host: Host): Promise<Tracing | undefined> {
  const { log, redactor, variables } = host;
  for (const { name = '', enabled } of observability.exporters ?? []) {
    if (enabled) log.warn('exporter not found, skipping', { exporter: name });
  }
  const settings = tracingSettings(observability, variables, log);
  if (!settings) return undefined;
  const parts = await import('./parts.ts'); // a gateway that traces nothing does without
  const tracer = await parts.openTracer(settings, host);
  log.info('tracing enabled', {
    endpoint: settings.endpoint.url,
    protocol: settings.protocol,
    sample_ratio: settings.sampleRatio,
    privacy_level: settings.privacy,
  });
  return { parts, tracer, privacy: parts.createPrivacy(settings.privacy, redactor), graceMs: settings.graceMs };
}
