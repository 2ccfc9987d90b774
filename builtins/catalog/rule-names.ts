import { bareModelName } from '../../host/common/model-name.ts';

/** How hosts of models write their names, beside the names that the models' vendors gave them. */
export interface HostNames {
  readonly providers: readonly string[];
  /** Beginnings that say where a model runs, or whose it is. */
  readonly prefixes?: readonly string[];
  /** The letter that stands for the point of a version. */
  readonly point?: string;
}

/** The name of a model as rules know it: `us.anthropic.claude-opus-5-v1:0` is `claude-opus-5-v1:0`. See docs/catalog.md#rules-of-models. */
export function nameInRules(provider: string, model: string, hosts: readonly HostNames[]): string {
  const own = hosts.filter(({ providers }) => providers.includes(provider));
  const name = bareModelName(model);
  return own.reduce((text, host) => withVendorPoint(withoutPrefixes(text, host), host), name);
}

function withoutPrefixes(name: string, { prefixes = [] }: HostNames): string {
  const found = prefixes.find((prefix) => name.startsWith(prefix));
  return found === undefined ? name : withoutPrefixes(name.slice(found.length), { providers: [], prefixes });
}

function withVendorPoint(name: string, { point }: HostNames): string {
  if (point === undefined) return name;
  const pieces = name.split(point);
  return pieces.reduce((text, piece) => text + (/\d$/.test(text) && /^\d/.test(piece) ? '.' : point) + piece);
}
