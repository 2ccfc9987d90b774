import { destinationsIn, isOrigin } from '../../../host/config/grants/destinations.ts';
import { type Path, pathText, type Problem } from '../../../host/config/problems.ts';
import { type Fields, isFields } from '../../../host/contract/index.ts';
import { isToken, tokensIn } from './withheld-values.ts';

/** The smallest block that holds something withheld, and where it sends that. */
interface SecretPlace {
  readonly path: Path;
  /** What it is: places of other kinds use the same value otherwise. */
  readonly kind: string;
  readonly tokens: readonly string[];
  readonly destinations: readonly string[];
}

/** What destinations are read with. */
export interface PlaceFacts {
  /** A document without tokens. */
  readonly restored: (value: unknown) => unknown;
  /** Whether the gateway ships a plugin: others may send anything anywhere. */
  readonly isShipped: (plugin: string) => boolean;
}

/**
 * What a patch keeps of what is withheld must go where it went: else a caller who may not see a secret could have it sent to a server of its own. Every
 * value of `after` that is withheld must stand in a place of the same kind, with destinations that a place of `before` had that held it.
 */
export function misdirected(before: Fields, after: Fields, facts: PlaceFacts): readonly Problem[] {
  const known = placesIn(before, facts);
  return placesIn(after, facts).flatMap((place) => {
    const had = (token: string): boolean =>
      known.some(
        ({ kind, tokens, destinations }) =>
          kind === place.kind &&
          tokens.includes(token) &&
          place.destinations.every((destination) => destinations.includes(destination)),
      );
    return place.tokens.every(had) ? [] : [problemOf(place)];
  });
}

/** Where something would be shown that was withheld: `again` is the same document, with tokens for what it withholds itself. */
export function exposed(made: unknown, again: unknown, at: Path = []): readonly Problem[] {
  if (isToken(made)) return isToken(again) ? [] : [exposure(at)];
  const parts = Array.isArray(made) ? made.entries() : isFields(made) ? Object.entries(made) : [];
  const found: Problem[] = [];
  for (const [name, member] of parts)
    for (const problem of exposed(member, (again as Fields | undefined)?.[name], [...at, name])) found.push(problem);
  return found;
}

const exposure = (at: Path): Problem => ({
  rule: 'BV40',
  path: pathText(at),
  message: 'it would show what is withheld',
  fix: 'leave it where it was, or write it anew',
});

function problemOf({ path, destinations }: SecretPlace): Problem {
  const to = destinations.find(isOrigin);
  return {
    rule: 'BV40',
    path: pathText(path),
    message: `it would send what is withheld to ${to ?? 'another place'}`,
    fix: 'send its secrets anew, or write ${VAR}',
  };
}

/** Blocks by their paths: entries of lists and of maps, and the blocks that stand alone. */
function placesIn(document: Fields, facts: PlaceFacts): readonly SecretPlace[] {
  return blocksIn(document, []).flatMap(({ path, kind, value }) => {
    const tokens = [...new Set(tokensIn(value))];
    return tokens.length === 0 ? [] : [{ path, kind, tokens, destinations: destinationsOf(value, kind, facts) }];
  });
}

interface Block {
  readonly path: Path;
  readonly kind: string;
  readonly value: unknown;
}

function blocksIn(document: Fields, at: Path): readonly Block[] {
  return Object.entries(document).flatMap(([name, value]): readonly Block[] => {
    const path = [...at, name];
    if (Array.isArray(value))
      return value.map((each: unknown, place) => ({ path: [...path, place], kind: kindOf(path, each), value: each }));
    if (name === 'providers' && isFields(value))
      return Object.entries(value).map(([entry, each]) => ({
        path: [...path, entry],
        kind: kindOf(path, each),
        value: each,
      }));
    if (name === 'observability' && isFields(value)) return blocksIn(value, path);
    return [{ path, kind: pathText(path), value }];
  });
}

/** Entries of a list are alike by what they are, whatever their place. */
function kindOf(path: Path, value: unknown): string {
  const fields = isFields(value) ? value : {};
  const name =
    path.at(-1) === 'providers'
      ? fields['kind']
      : path.at(-1) === 'mcp_servers'
        ? undefined
        : (fields['name'] ?? fields['virtual_key']);
  return typeof name === 'string' ? `${pathText(path)} ${name}` : pathText(path);
}

/** Plugins that the gateway does not ship may send to any of their texts. */
function destinationsOf(value: unknown, kind: string, { restored, isShipped }: PlaceFacts): readonly string[] {
  const isOpen = kind.startsWith('plugins ') && !isShipped(kind.slice('plugins '.length));
  return destinationsIn(restored(value), isOpen);
}
