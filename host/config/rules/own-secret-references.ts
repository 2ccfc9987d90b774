import { canonicalJson } from '../canonical.ts';
import type { GatewayConfig } from '../document.ts';
import { isOwnSecret } from '../own-secrets.ts';
import { type Path, pathText, type Problem } from '../problems.ts';
import { referencesIn } from '../references.ts';

/** The smallest part of a configuration that holds references: where one of them is sent, the others are too. */
interface ReferencePlace {
  readonly path: Path;
  /** All of it, to know it again. */
  readonly whole: unknown;
  /** What of it is resolved. */
  readonly texts: readonly (readonly [path: Path, value: unknown])[];
}

/** Every place where a variable of the environment takes the place of `${NAME}`, beside `providers`, which has rules of its own (CV47 to CV49). */
export function referencePlaces(config: GatewayConfig): ReferencePlace[] {
  const { plugins, mcp_servers: servers, observability } = config;
  const { tracing, exporters = [] } = observability;
  return [
    ...plugins.flatMap((plugin, index) =>
      plugin.enabled ? [place(['plugins', index], plugin, { config: plugin.config })] : [],
    ),
    ...servers.map((server, index) => {
      const { url, headers, env } = server;
      return place(['mcp_servers', index], server, { url, headers, env });
    }),
    ...(tracing && tracing.enabled !== false
      ? [place(['observability', 'tracing'], tracing, { headers: tracing.headers })]
      : []),
    ...exporters.flatMap((exporter, index) =>
      exporter.enabled ? [place(['observability', 'exporters', index], exporter, { config: exporter.config })] : [],
    ),
  ];
}

function place(path: Path, whole: unknown, members: Readonly<Record<string, unknown>>): ReferencePlace {
  return { path, whole, texts: Object.entries(members).map(([name, value]) => [[...path, name], value]) };
}

/** Names that only a start uses: their values are no less secret afterwards. */
const BOOTSTRAP = 'ADMIN_BOOTSTRAP_';
const FILE = '_FILE';

/** Whether the variable, or the file that it names, holds a secret of the gateway itself. */
function isOwn(name: string): boolean {
  const plain = name.endsWith(FILE) ? name.slice(0, -FILE.length) : name;
  return name.startsWith(BOOTSTRAP) || isOwnSecret(name) || isOwnSecret(plain);
}

const placeText = ({ path: [kind = ''], whole }: ReferencePlace): string => `${kind} ${canonicalJson(whole)}`;

/**
 * References to secrets of the gateway that an admin write would have it send somewhere, or compare with what clients say. A place that
 * runs already exactly as it is may be sent once more. See docs/decisions/0111-own-secrets-stay.md.
 */
export function newOwnSecrets(config: GatewayConfig, running: GatewayConfig | undefined): Problem[] {
  let known: ReadonlySet<string> | undefined; // seldom asked
  const isRunning = (each: ReferencePlace): boolean =>
    (known ??= new Set(running ? referencePlaces(running).map(placeText) : [])).has(placeText(each));
  return referencePlaces(config).flatMap((each) => {
    const found = each.texts.flatMap(([path, value]) => referencesIn(value, path)).filter(({ name }) => isOwn(name));
    return found.length === 0 || isRunning(each) ? [] : found.map(problemOf);
  });
}

const problemOf = ({ path, name }: { readonly path: Path; readonly name: string }): Problem => ({
  path: pathText(path),
  rule: 'BV30',
  message: `\${${name}} is a secret of the gateway itself, and no configuration that the admin API writes may use it`,
  fix: 'use a variable of its own, or write it into the configuration file',
});
