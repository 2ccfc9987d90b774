import { block, decimal, duration, entry, flag, list, nullableFreeMap, text, textMap } from './schema-fields.ts';
import { shown } from './showing.ts';

const WITHHELD = shown({ as: 'withheld' });
const KEPT = shown({ isKept: true });

const tracing = block('spans of requests, and where they go', {
  enabled: flag('`false` wins over the environment; `true` without an endpoint does nothing', {
    otherwiseSaid: 'on with an endpoint',
  }).meta(KEPT),
  endpoint: text(
    'collector; for HTTP `v1/traces` is added unless it is there, gRPC takes scheme and host alone; the `OTEL_…_ENDPOINT` variables go first. With a reference in it nothing is traced, and a warning says so',
    { bounds: 'http, https, or `host:port` without a path' },
  ),
  protocol: text(
    'what the collector speaks, `http` being short for `http/protobuf`; without it `OTEL_EXPORTER_OTLP_PROTOCOL` says it, if anything does',
    {
      otherwise: 'grpc',
      values: ['grpc', 'http/protobuf', 'http'],
    },
  ),
  service_name: text('`OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` go first', { otherwise: 'gw' }),
  sample_ratio: decimal("share of traces kept; the caller's decision goes first", {
    otherwise: 1,
    bounds: '0 or less keeps none, 1 or more all',
  }).meta(KEPT),
  privacy_level: text(
    'what spans tell: with `none` not even what went wrong, with `full` prompts, answers and errors as they are',
    { otherwise: 'metadata', values: ['none', 'metadata', 'full'] },
  ),
  shutdown_grace: duration(
    'how long spans may take to leave at shutdown, and the exporter to end after that; what is not a duration is warned of',
    { otherwise: '10s' },
  ),
  headers: textMap(
    'sent to the collector; one that is empty, undefined or cannot be sent by the protocol is left out, with a warning',
  ).meta(WITHHELD),
}).meta(shown({ always: {} }));

const exporter = entry({
  name: text('which exporter it is'),
  enabled: flag('whether it is asked for', { otherwise: false }),
  config: nullableFreeMap('its settings').meta(WITHHELD),
});

/** The block `observability`. */
export const observability = block(
  'traces, see [observability.md](observability.md); read at start: a change waits for a restart, and is warned of (`WN12`)',
  {
    tracing,
    exporters: list(
      'further exporters; none is shipped: every entry that is enabled is skipped, with a warning',
      exporter,
    ),
  },
  { otherwiseSaid: 'off' },
);
