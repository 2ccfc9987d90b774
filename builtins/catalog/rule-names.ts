import { bareModelName } from '../../host/common/models/model-name.ts';

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
  const prefixAt = (at: number): string | undefined =>
    prefixes.find((prefix) => prefix !== '' && name.startsWith(prefix, at));
  let start = 0;
  for (let found = prefixAt(start); found !== undefined; found = prefixAt(start)) start += found.length;
  return name.slice(start);
}

function withVendorPoint(name: string, { point }: HostNames): string {
  if (point === undefined) return name;
  const pieces = name.split(point);
  return pieces
    .map((piece, at) => (at === 0 ? piece : (isVersion(pieces[at - 1], piece) ? '.' : point) + piece))
    .join('');
}

const isVersion = (before = '', after = ''): boolean => /\d$/.test(before) && /^\d/.test(after);
