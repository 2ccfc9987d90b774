import { kindKeys } from '../../common/kinds/kind-keys.ts';
import { settingVariables } from '../../common/kinds/setting-values.ts';
import type { Connection, ProviderModule } from '../../contract/index.ts';
import { canonicalJson } from '../canonical.ts';
import type { GatewayConfig } from '../document.ts';
import { type Path, pathText } from '../problems.ts';
import { type FoundReference, parseHeaderReference, parseReference, referencesIn } from '../references.ts';
import { allSecrets, type Declared, declaredIn } from '../rules/instances/declared-instances.ts';
import { destinationOf, destinationsIn } from './destinations.ts';

/** The smallest part of a configuration that holds references: where one of them is sent, the others are too. */
export interface ReferencePlace {
  readonly path: Path;
  /** What it is: another kind of place does something else with the same value. */
  readonly kind: string;
  /** All of it, to know it again. */
  readonly whole: unknown;
  /** What of it is replaced. A file is named `file:/path`. */
  readonly references: readonly FoundReference[];
  /** Where it sends what it holds; read only where there are references. */
  readonly destinations: () => readonly string[];
}

/** What places are read with. */
export interface PlaceModules {
  readonly providers: ReadonlyMap<string, Pick<ProviderModule, 'name' | 'connection'>>;
  /** Whether the gateway ships a plugin: others may send anything anywhere. */
  readonly isShippedPlugin: (name: string) => boolean;
}

/** Every place where a variable of the environment, or a file, takes the place of `${…}`. What is switched off resolves nothing. */
export function referencePlaces(config: GatewayConfig, modules: PlaceModules): readonly ReferencePlace[] {
  const { plugins, mcp_servers: servers, observability } = config;
  const { tracing, exporters = [] } = observability;
  return [
    ...plugins.flatMap((plugin, index) =>
      plugin.enabled
        ? [
            place(['plugins', index], plugin, {
              kind: `plugin ${plugin.name}`,
              members: { config: plugin.config },
              sendsTo: () =>
                modules.isShippedPlugin(plugin.name) ? destinationsIn(plugin.config) : placedTexts(plugin.config, []),
            }),
          ]
        : [],
    ),
    ...servers.map((server, index) => {
      const { url, headers, env } = server;
      return place(['mcp_servers', index], server, { kind: 'mcp', members: { url, headers, env } });
    }),
    ...(tracing && tracing.enabled !== false
      ? [
          place(['observability', 'tracing'], tracing, {
            kind: 'tracing',
            members: { headers: tracing.headers },
            // Without an endpoint that of the environment counts.
            sendsTo: () => destinationsIn({ ...tracing, endpoint: tracing.endpoint ?? 'OTEL_EXPORTER_OTLP_ENDPOINT' }),
          }),
        ]
      : []),
    ...exporters.flatMap((exporter, index) =>
      exporter.enabled
        ? [
            place(['observability', 'exporters', index], exporter, {
              kind: `exporter ${exporter.name ?? ''}`,
              members: { config: exporter.config },
            }),
          ]
        : [],
    ),
    ...declaredIn(config).map((declared) => instancePlace(declared, modules.providers)),
  ];
}

interface PlaceParts {
  readonly kind: string;
  readonly members: Readonly<Record<string, unknown>>;
  readonly sendsTo?: () => readonly string[];
}

function place(path: Path, whole: unknown, { kind, members, sendsTo }: PlaceParts): ReferencePlace {
  return {
    path,
    kind,
    whole,
    references: Object.entries(members).flatMap(([name, value]) => referencesIn(value, [...path, name])),
    destinations: sendsTo ?? (() => destinationsIn(whole)),
  };
}

/** Each text with where it stands: a module that the gateway does not ship may read any of them as an address. */
function placedTexts(value: unknown, at: Path): readonly string[] {
  if (typeof value === 'string') return [`${pathText(at)} ${value}`];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => placedTexts(member, [...at, name]));
}

/** An instance sends its secrets to its address, and to its proxy. */
function instancePlace(declared: Declared, kinds: PlaceModules['providers']): ReferencePlace {
  const { name, block } = declared;
  const path = ['providers', name];
  const module = kinds.get(block.kind ?? '');
  const texts = allSecrets(declared).map(({ path: at, text }) => [at, parseReference(text)] as const);
  const headers = Object.entries(block.headers ?? {}).map(
    ([header, text]) => [`${declared.path}.headers.${header}`, parseHeaderReference(text)?.reference] as const,
  );
  return {
    path,
    kind: `provider ${block.kind ?? ''}`,
    whole: block,
    references: [...texts, ...headers].flatMap(([at, reference]) =>
      reference
        ? [{ path: [at], name: reference.kind === 'variable' ? reference.name : `file:${reference.path}` }]
        : [],
    ),
    destinations: () => [
      ...(block.proxy?.url === undefined ? [] : [destinationOf(block.proxy.url)]),
      block.base_url === undefined ? defaultDestination(module, block.settings ?? {}) : destinationOf(block.base_url),
    ],
  };
}

/** Where an instance without an address sends: what its kind makes of its settings, else the settings themselves. */
function defaultDestination(
  module: Pick<ProviderModule, 'name' | 'connection'> | undefined,
  settings: Readonly<Record<string, unknown>>,
): string {
  const root = module && rootOf(module.connection, settingVariables(kindKeys(module).settings, settings));
  return root === undefined ? canonicalJson(settings) : destinationOf(root);
}

/** The default root of a kind; `undefined` where the variables make none. */
export function rootOf({ baseUrl }: Connection, variables: Readonly<Record<string, string>>): string | undefined {
  try {
    const root = typeof baseUrl === 'string' ? baseUrl : baseUrl(variables);
    return URL.canParse(root) ? root : undefined;
  } catch {
    return undefined;
  }
}
