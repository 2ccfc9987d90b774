import type { GatewayConfig } from './document.ts';

/** Headers that say nothing of who sends them. */
const PLAIN_HEADERS = new Set(['accept', 'accept-language', 'content-type', 'user-agent']);

/** Texts of a configuration that may be credentials: those of the maps that are withheld wherever a configuration is shown (docs/reference/admin.md#how-a-configuration-is-shown). */
export function secretsOf({
  mcp_servers: servers,
  observability: { tracing, exporters = [] },
}: GatewayConfig): string[] {
  return [
    ...servers.flatMap(({ env, headers }) => [...textsIn(env), ...headerTexts(headers)]),
    ...headerTexts(tracing?.headers),
    ...exporters.flatMap(({ config }) => textsIn(config)),
  ];
}

function headerTexts(headers: Readonly<Record<string, string>> = {}): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    PLAIN_HEADERS.has(name.toLowerCase()) ? [] : textsIn(value),
  );
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
