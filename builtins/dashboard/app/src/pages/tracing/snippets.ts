/** A collector of traces, and the part of the configuration that sends them there. */
export interface Backend {
  readonly name: string;
  readonly about: string;
  readonly snippet: string;
}

/** Addresses and headers: documentation of the vendors, 2026-11-22. */
export const BACKENDS: readonly Backend[] = [
  {
    name: 'New Relic',
    about:
      'Set NEW_RELIC_LICENSE_KEY to a licence key of your account. Accounts of the European Union use otlp.eu01.nr-data.net.',
    snippet: `observability:
  tracing:
    enabled: true
    endpoint: https://otlp.nr-data.net
    protocol: http/protobuf
    service_name: gw
    headers:
      api-key: \${NEW_RELIC_LICENSE_KEY}
`,
  },
  {
    name: 'LangSmith',
    about:
      'Set LANGSMITH_API_KEY. Traces go to the project that the header names. Accounts of the European Union use eu.api.smith.langchain.com.',
    snippet: `observability:
  tracing:
    enabled: true
    endpoint: https://api.smith.langchain.com/otel
    protocol: http/protobuf
    service_name: gw
    headers:
      x-api-key: \${LANGSMITH_API_KEY}
      Langsmith-Project: gw
`,
  },
  {
    name: 'Jaeger',
    about: 'Jaeger takes OpenTelemetry itself; port 4317 is its gRPC receiver.',
    snippet: `observability:
  tracing:
    enabled: true
    endpoint: http://localhost:4317
    protocol: grpc
    service_name: gw
`,
  },
];
