import { baseUrlVariable } from '../../../../host/common/kinds/base-url-variable.ts';
import type { GatewayConfig } from '../../../../host/config/document.ts';
import { decodeText } from '../../../../host/config/decode.ts';
import { buildOffline } from '../../../../host/generation/offline.ts';
import type { Host } from '../../../../host/host.ts';
import { SecretValues } from '../../../../host/upstream/secrets/secret-values.ts';
import type { Variable } from '../variables.ts';
import { answerFor } from './answers.ts';
import { readBifrostSource } from './bifrost-source.ts';
import { compare, type Compared } from './compare.ts';
import { readLitellmSource } from './litellm-source.ts';
import { readPortkeySource } from './portkey-source.ts';
import type { ReadSource } from './source.ts';

const SOURCES = new Map<string, ReadSource>([
  ['litellm', readLitellmSource],
  ['portkey', readPortkeySource],
  ['bifrost', readBifrostSource],
]);

export interface ImportedParts {
  readonly kind: string;
  /** What was imported. */
  readonly source: object;
  /** What it became. */
  readonly document: Readonly<Record<string, unknown>>;
  readonly variables: readonly Variable[];
  readonly lookUp: (name: string) => string | undefined;
}

/** The one variable that every secret of the document is taken to be. */
const ANY_SECRET = 'GW_IMPORTED_SECRET';
const REFERENCE = /\$\{[^{}]*\}/g;

/** Explains each imported name, with the imported providers taken as set, and compares it with the document it came from. */
export async function proveImport(host: Host, parts: ImportedParts): Promise<Compared> {
  const read = SOURCES.get(parts.kind);
  const config = configOf(parts.document);
  if (!read || !config) return { lost: [], elsewhere: [], asked: 0 };
  const variables = assumedVariables(host, parts);
  const { services, state, stores, registry, carryover, hooks, workingDirectory, redactor, log } = host;
  const secrets = new SecretValues({ clock: services.clock, variables, directories: [], redactor, log });
  const generation = await buildOffline(
    { services, state, stores, registry, carryover, hooks, workingDirectory, variables, secrets },
    config,
  );
  try {
    const deps = { services, registry, plugins: [] };
    return compare(read(parts.source, valueIn(parts)), (name) =>
      answerFor(name, { config, generation, deps, variables }),
    );
  } finally {
    await generation.dispose();
  }
}

function configOf(document: Readonly<Record<string, unknown>>): GatewayConfig | undefined {
  return decodeText(JSON.stringify(document).replaceAll(REFERENCE, `\${${ANY_SECRET}}`), 'json').config;
}

/** What a variable of the other gateway holds: its value here, or what the import writes in its place. */
const valueIn =
  ({ lookUp }: ImportedParts) =>
  (name: string): string =>
    lookUp(name) ?? `set-${slug(name)}`;

const slug = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');

function assumedVariables({ registry }: Host, parts: ImportedParts): Readonly<Record<string, string>> {
  const addresses = new Set([...registry.providers.values()].map((module) => baseUrlVariable(module)));
  const valueOf = valueIn(parts);
  const assumed = new Map([[ANY_SECRET, 'imported']]);
  for (const { name, value, state } of parts.variables) {
    if (state === 'place') continue;
    const text = value.replaceAll(/\$\{(\w+)\}/g, (_whole, other: string) => valueOf(other));
    assumed.set(name, addresses.has(name) && !URL.canParse(text) ? `https://${text}.invalid` : text);
  }
  return Object.fromEntries(assumed);
}
