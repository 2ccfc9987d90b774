import { hostname } from 'node:os';
import type * as Api from '@opentelemetry/api';
import type { Context, Span, SpanKind } from '@opentelemetry/api';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { TraceContext } from '../../../host/common/trace-context.ts';
import { resolveReferences } from '../../../host/config/references.ts';
import type { TracingProtocol } from '../../../host/config/tracing-endpoint.ts';
import { setMember } from '../../../host/contract/index.ts';
import type { Host } from '../../../host/host.ts';
import type { TracingSettings } from './settings.ts';
import { SpanQueue } from './span-queue.ts';

export interface SpanStart {
  readonly name: string;
  readonly kind: keyof typeof SpanKind;
  /** Unix milliseconds. */
  readonly at: number;
}

/** Makes spans, and sends them. */
export interface Tracer {
  /** What a caller decided for its trace counts; of the others the configured share is kept. */
  isSampled(traceId: string, parent: TraceContext | undefined): boolean;
  root(traceId: string, parent: TraceContext | undefined, start: SpanStart): Span;
  child(parent: Span, start: SpanStart): Span;
  close(): Promise<void>;
}

/** Loads the SDK: a gateway that does not trace never does. */
export async function openTracer(settings: TracingSettings, host: Host): Promise<Tracer> {
  const [api, sdk, { resourceFromAttributes }, exporter] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
    openExporter(settings, host),
  ]);
  const {
    log,
    counters,
    services: { clock },
    build,
  } = host;
  const queue = new SpanQueue({ exporter, clock, log, counters, batches: settings.batches });
  const random = new sdk.RandomIdGenerator();
  let nextTraceId = ''; // the id of a request is that of its trace
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes(resourceAttributes(settings, host)),
    sampler: new sdk.AlwaysOnSampler(), // what is not sampled is not even begun
    idGenerator: { generateTraceId: () => nextTraceId, generateSpanId: () => random.generateSpanId() },
    spanProcessors: [queue],
  });
  const tracer = provider.getTracer('gw', build.version);
  const ratio = new sdk.TraceIdRatioBasedSampler(settings.sampleRatio);
  const begin = ({ name, kind, at }: SpanStart, context: Context): Span =>
    tracer.startSpan(name, { kind: api.SpanKind[kind], startTime: hrTime(at) }, context);
  return {
    isSampled: (traceId, parent) =>
      parent
        ? (parent.flags & 1) === 1
        : ratio.shouldSample(api.ROOT_CONTEXT, traceId).decision === sdk.SamplingDecision.RECORD_AND_SAMPLED,
    root: (traceId, parent, start) => {
      nextTraceId = traceId;
      return begin(start, parent ? callersContext(api, traceId, parent) : api.ROOT_CONTEXT);
    },
    child: (parent, start) => begin(start, api.trace.setSpan(api.ROOT_CONTEXT, parent)),
    close: () => queue.close(settings.graceMs),
  };
}

/** The context of a span whose parent is the caller's. */
function callersContext(api: typeof Api, traceId: string, { parentId: spanId, state }: TraceContext): Context {
  return api.trace.setSpanContext(api.ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: 1,
    isRemote: true,
    ...(state !== undefined && { traceState: api.createTraceState(state) }),
  });
}

/** Seconds and nanoseconds, which the SDK takes without guessing what a number means. */
export function hrTime(ms: number): [number, number] {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}

async function openExporter(settings: TracingSettings, host: Host): Promise<SpanExporter> {
  const {
    endpoint: { url, isEncrypted },
    protocol,
    batches: { exportMs: timeoutMillis },
  } = settings;
  const headers = headersOf(settings, host);
  if (protocol === 'http/protobuf') {
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto');
    return new OTLPTraceExporter({ url, headers, timeoutMillis });
  }
  const [
    { OTLPTraceExporter },
    {
      default: { credentials, Metadata },
    },
  ] = await Promise.all([import('@opentelemetry/exporter-trace-otlp-grpc'), import('@grpc/grpc-js')]);
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  // The exporter's own way to credentials looks at variables for certificates; without any it is the system's.
  return new OTLPTraceExporter({
    url,
    metadata,
    timeoutMillis,
    ...(!isEncrypted && { credentials: credentials.createInsecure() }),
  });
}

/** What each protocol can carry. Of gRPC names that end in `-bin` hold bytes, and no text (gRPC over HTTP2, "Custom-Metadata", read 2026-11-23). */
const CARRIED: Readonly<Record<TracingProtocol, { readonly name: RegExp; readonly value: RegExp }>> = {
  'http/protobuf': { name: /^[\w!#$%&'*+.^`|~-]+$/, value: /^[\t\x20-\x7e\x80-\xff]+$/ },
  grpc: { name: /^(?!.*-bin$)[\w.-]+$/i, value: /^[\x20-\x7e]+$/ },
};

/** References resolved. A header that comes to nothing is left out, with a warning that names it. */
function headersOf(
  { headers: written, protocol }: TracingSettings,
  { variables, redactor, log }: Host,
): Record<string, string> {
  const headers: Record<string, string> = {};
  const carried = CARRIED[protocol];
  for (const [name, text] of Object.entries(written)) {
    const { value, undefinedNames } = resolveReferences(text, variables, (secret) => redactor.register(secret));
    const isUsable = undefinedNames.length === 0 && carried.name.test(name) && carried.value.test(value);
    if (isUsable) setMember(headers, name, value);
    else
      log.warn('a header of the trace exporter is left out', {
        header: name,
        reason:
          undefinedNames.length > 0
            ? `undefined: ${undefinedNames.join(', ')}`
            : 'it is empty, or holds what no header of its protocol may',
      });
  }
  return headers;
}

/** What the environment says of this process goes first, as the OpenTelemetry specification has it. */
function resourceAttributes(
  { serviceName }: TracingSettings,
  { build, platform, variables }: Host,
): Record<string, string | number> {
  const attributes: Record<string, string | number> = {
    'service.version': build.version,
    'host.name': hostname(),
    'host.arch': platform.arch,
    'os.type': platform.os,
    'process.pid': process.pid,
    'process.runtime.name': 'nodejs',
    'process.runtime.version': platform.node.replace(/^v/, ''),
    'telemetry.sdk.name': 'opentelemetry',
    'telemetry.sdk.language': 'nodejs',
  };
  for (const pair of (variables['OTEL_RESOURCE_ATTRIBUTES'] ?? '').split(',')) {
    const [name = '', value] = pair.split('=', 2).map((part) => part.trim());
    if (name !== '' && value !== undefined) setMember(attributes, name, decoded(value));
  }
  if (variables['OTEL_SERVICE_NAME'] || attributes['service.name'] === undefined)
    attributes['service.name'] = serviceName;
  return attributes;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
