import type { ObservabilityConfig } from '../../../host/config/document.ts';
import { parseDuration } from '../../../host/contract/duration.ts';
import { holdsReference } from '../../../host/config/references.ts';
import { ConfigRefused } from '../../../host/config/problems.ts';
import {
  ENDPOINT_FORMS,
  TRACING_PROTOCOLS,
  tracingEndpoint,
  type TracingEndpoint,
  type TracingProtocol,
} from '../../../host/config/tracing-endpoint.ts';
import type { Log } from '../../../host/contract/index.ts';
import type { Variables } from '../../../host/environment/variables.ts';
import { type Batches, batchesOf } from './batches.ts';

export type PrivacyLevel = 'none' | 'metadata' | 'full';

/** How spans are made and where they go; what the configuration and the environment say together. */
export interface TracingSettings {
  readonly endpoint: TracingEndpoint;
  readonly protocol: TracingProtocol;
  readonly serviceName: string;
  /** Share of the traces without a parent that is kept, 0 to 1. */
  readonly sampleRatio: number;
  readonly privacy: PrivacyLevel;
  /** Milliseconds that each stage of the end may take. */
  readonly graceMs: number;
  /** As they are written, references included. */
  readonly headers: Readonly<Record<string, string>>;
  readonly batches: Batches;
}

const DEFAULT_GRACE_MS = 10_000;

/** `undefined` where nothing is traced: switched off, or nowhere to send spans to. See docs/reference/observability.md#where-spans-go. */
export function tracingSettings(
  { tracing = {} }: ObservabilityConfig,
  variables: Variables,
  log: Log,
): TracingSettings | undefined {
  if (tracing.enabled === false || isSwitchedOff(variables, log)) return undefined;
  const protocol = protocolOf(tracing.protocol, variables, log);
  const endpoint = endpointOf(tracing.endpoint, protocol, variables, log);
  if (!endpoint) return undefined;
  return {
    endpoint,
    protocol,
    serviceName: variables['OTEL_SERVICE_NAME'] || tracing.service_name || 'gw',
    sampleRatio: Math.min(1, Math.max(0, tracing.sample_ratio ?? 1)),
    privacy: (tracing.privacy_level || 'metadata') as PrivacyLevel,
    graceMs: graceOf(tracing.shutdown_grace, log),
    headers: tracing.headers ?? {},
    batches: batchesOf(variables, log),
  };
}

/**
 * What the environment says of every signal, or of spans alone, goes before the configuration. Only `true` disables the SDK.
 * Source: OpenTelemetry specification, "Environment Variable Specification", read 2026-11-23.
 */
function isSwitchedOff(variables: Variables, log: Log): boolean {
  const written = variables['OTEL_SDK_DISABLED']?.trim().toLowerCase() ?? '';
  if (!['', 'true', 'false'].includes(written))
    log.warn(`OTEL_SDK_DISABLED is "${written}", which is neither true nor false: it counts as false`);
  return written === 'true' || variables['OTEL_TRACES_EXPORTER']?.trim() === 'none';
}

const PROTOCOLS = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'];

/** The configuration's; where it names none that of the environment, which says it for spans alone or for everything. */
function protocolOf(configured: string | undefined, variables: Variables, log: Log): TracingProtocol {
  if (configured) return TRACING_PROTOCOLS[configured] ?? 'grpc';
  const [variable, written] = said(PROTOCOLS, variables) ?? [];
  const protocol = TRACING_PROTOCOLS[written ?? 'grpc'];
  if (!protocol) log.warn(`${variable} is "${written}", which spans are not sent by: grpc is used`);
  return protocol ?? 'grpc';
}

/** The first of these variables that holds something, with what it holds. */
function said(names: readonly string[], variables: Variables): readonly [string, string] | undefined {
  for (const name of names) {
    const written = variables[name]?.trim();
    if (written) return [name, written];
  }
  return undefined;
}

const WHOLE = 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';
const BASE = 'OTEL_EXPORTER_OTLP_ENDPOINT';

/**
 * The environment goes before the configuration, and the variable for spans alone before the one for everything. A reference passes
 * every check, and is replaced in no address (docs/reference/observability.md#where-spans-go): spans have nowhere to go then, and the start goes on.
 */
function endpointOf(
  configured: string | undefined,
  protocol: TracingProtocol,
  variables: Variables,
  log: Log,
): TracingEndpoint | undefined {
  const [name, written = ''] = said([WHOLE, BASE], variables) ?? ['observability.tracing.endpoint', configured];
  if (written === '') return undefined;
  if (written === configured && holdsReference(written)) {
    log.warn(
      'observability.tracing.endpoint holds a reference, which is not replaced there: nothing is traced; set OTEL_EXPORTER_OTLP_ENDPOINT instead',
      { endpoint: written },
    );
    return undefined;
  }
  const endpoint = tracingEndpoint(written, protocol, name === WHOLE);
  if (!endpoint)
    throw new ConfigRefused([
      {
        path: name,
        rule: 'CV22d',
        message: `endpoint is "${written}", which is not the address of a collector`,
        fix: ENDPOINT_FORMS,
      },
    ]);
  return endpoint;
}

function graceOf(written: string | undefined, log: Log): number {
  if (!written) return DEFAULT_GRACE_MS;
  const ms = parseDuration(written);
  if (ms === undefined)
    log.warn(`observability.tracing.shutdown_grace is "${written}", which is not a duration; 10s is used`, {
      rule: 'WN16',
    });
  return ms !== undefined && ms > 0 ? ms : DEFAULT_GRACE_MS;
}
