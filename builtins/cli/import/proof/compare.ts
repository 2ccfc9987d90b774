import type { Answer } from './answers.ts';
import type { SourceName, SourcePlace, SourceRoute } from './source.ts';

/** A name that another place would serve, with both places. */
export interface Elsewhere {
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

export interface Compared {
  /** Names that no longer answer, and why. */
  readonly lost: readonly { readonly name: string; readonly why: string }[];
  readonly elsewhere: readonly Elsewhere[];
  /** How many names were asked. */
  readonly asked: number;
}

/** How far a share may be from that of the document. */
const TOLERANCE = 0.01;

/** Compares where each name goes with where it went: what is asked first, in which shares, and all that may be asked. */
export function compare(names: readonly SourceName[], answerTo: (asked: string) => Answer): Compared {
  const lost: { name: string; why: string }[] = [];
  const elsewhere: Elsewhere[] = [];
  for (const source of names) {
    const answer = answerTo(source.asked);
    if (answer.refusal !== undefined) lost.push({ name: source.name, why: answer.refusal });
    else if (!isSame(source, answer))
      elsewhere.push({ name: source.name, from: told(source.routes), to: told(answer.routes) });
  }
  return { lost, elsewhere, asked: names.length };
}

function isSame(source: SourceName, answer: Answer): boolean {
  const [from, to] = [summed(source.routes), summed(answer.routes)];
  const all = new Set([...from.keys(), ...source.followers.map(keyOf)]);
  const reached = new Set([...to.keys(), ...answer.followers.map(keyOf)]);
  return (
    [...from].every(([key, share]) => share === 0 || (to.has(key) && isNear(share, to.get(key)))) &&
    [...to].every(([key, share]) => share === 0 || (from.has(key) && isNear(from.get(key), share))) &&
    [...from.keys()].every((key) => reached.has(key)) &&
    [...reached].every((key) => all.has(key))
  );
}

const isNear = (a: number | undefined, b: number | undefined): boolean =>
  a === undefined || b === undefined || Math.abs(a - b) <= TOLERANCE;

/** Keys of one place count together. */
function summed(routes: readonly SourceRoute[]): ReadonlyMap<string, number | undefined> {
  const found = new Map<string, number | undefined>();
  for (const { place, share } of routes) {
    const key = keyOf(place);
    found.set(key, share === undefined ? undefined : share + (found.get(key) ?? 0));
  }
  return found;
}

const keyOf = ({ kind, address, within, model }: SourcePlace): string =>
  JSON.stringify([kind, rootOf(address), within.toSorted(), model]);

/** An address without what does not tell one service from another: the scheme, the version, the path of one route. */
function rootOf(address: string): string {
  if (!URL.canParse(address)) return address.replace(/\/+$/, '');
  const { host, pathname } = new URL(address);
  const path = pathname
    .replaceAll(/\/{2,}/g, '/')
    .replace(/\/openai(?:\/deployments)?(?:\/.*)?$/, '')
    .replace(/\/+$/, '')
    .replace(/(?:\/(?:chat\/completions|completions|embeddings|messages|responses|rerank|models))+$/i, '')
    .replace(/\/v1$/, '');
  return `${host.replace(/\.invalid$/, '')}${path}`;
}

const told = (routes: readonly SourceRoute[]): string =>
  routes
    .map(({ place, share }) => `${placeText(place)}${share === undefined ? '' : ` ${Math.round(share * 100)} %`}`)
    .join(', ') || 'nowhere';

const placeText = ({ kind, address, within, model }: SourcePlace): string => {
  const where = [rootOf(address), ...within].filter((text) => text !== '').join(' ');
  return `${kind}${where === '' ? '' : ` (${where})`} ${model}`;
};
