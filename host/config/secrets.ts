import { isSecretKey } from '../common/kinds/secret-keys.ts';
import type { GatewayConfig, ProviderConfig } from './document.ts';
import { parseHeaderReference } from './references.ts';
import { hiddenSegments } from './scrub-text.ts';
import { isSecretHeader } from './secrets/secret-headers.ts';

/** Headers that say nothing of who sends them. */
const PLAIN_HEADERS = new Set(['accept', 'accept-language', 'content-type', 'user-agent']);

/** Texts of a configuration that may be credentials: those of the maps that are withheld wherever a configuration is shown (docs/reference/admin.md#how-a-configuration-is-shown). */
export function secretsOf({
  providers = {},
  mcp_servers: servers,
  observability: { tracing, exporters = [] },
}: GatewayConfig): string[] {
  return [
    ...Object.values(providers).flatMap(literalsOf),
    ...servers.flatMap(({ url = '', env, headers }) => [
      ...textsIn(env),
      ...headerTexts(headers),
      ...hiddenSegments(url),
    ]),
    ...headerTexts(tracing?.headers),
    ...exporters.flatMap(({ config }) => textsIn(config)),
  ];
}

/** What stands where only references may: it is refused, and may be a credential all the same. */
function literalsOf(instance: ProviderConfig): string[] {
  const holders = [instance, ...(instance.credentials ?? [])];
  const secrets = holders.flatMap((holder) => Object.entries(holder).filter(([key]) => isSecretKey(key)));
  const headers = Object.entries(instance.headers ?? {}).filter(([name]) => isSecretHeader(name));
  const texts = [...secrets, ...headers].flatMap(([, value]) => textsIn(value));
  return [...texts, ...textsIn(instance.proxy?.password)].filter((text) => !parseHeaderReference(text));
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
