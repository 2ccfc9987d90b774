import type { CanonicalPaths } from '../../host/http/paths/canonical-path.ts';
import { readablePaths } from './path.ts';

/** Where an answer comes from. */
export interface AnswerPlace {
  /** The address that was asked. */
  readonly url: string;
  /** The provider's root: what stands below `/v1` here stands below it there. */
  readonly root: string;
  readonly paths: CanonicalPaths;
}

/** Headers whose value is an address. */
export const ADDRESSES: ReadonlySet<string> = new Set([
  'location',
  'content-location',
  'operation-location',
  'azure-asyncoperation',
]);

/**
 * An address that a provider names, as a client may learn it: below the provider's root it is the gateway's own. `undefined` where it is left
 * out: any other one of the provider's, and any inside a network.
 */
export function relayedAddress(value: string, { url, root, paths }: AnswerPlace): string | undefined {
  const text = Buffer.from(value.trim(), 'latin1').toString('utf8');
  if (!URL.canParse(text, url)) return undefined;
  const [named, own] = [new URL(text, url), new URL(root)];
  if (named.origin === own.origin) return ownAddress(named, own.pathname.replace(/\/$/, ''), paths);
  if (named.protocol !== 'https:' || named.hostname === own.hostname || isInternal(named.hostname)) return undefined;
  if (named.username === '' && named.password === '') return value;
  named.username = '';
  named.password = '';
  return named.href;
}

function ownAddress({ pathname, search, hash }: URL, rootPath: string, paths: CanonicalPaths): string | undefined {
  if (pathname !== rootPath && !pathname.startsWith(`${rootPath}/`)) return undefined;
  const path = `/v1${pathname.slice(rootPath.length)}`;
  return isRefused(path, paths) ? undefined : path + search + hash;
}

/** Whether the gateway would not serve the path. */
function isRefused(path: string, paths: CanonicalPaths): boolean {
  if (paths.isRouted(path)) return false;
  try {
    readablePaths(path);
  } catch {
    return true;
  }
  return paths.misspelt(path) !== undefined;
}

/** Names that no public address has, and addresses without a name. */
function isInternal(host: string): boolean {
  const name = host.replace(/\.$/, '');
  return (
    !name.includes('.') ||
    name.startsWith('[') ||
    /^[\d.]+$/.test(name) ||
    /\.(?:local|internal|localhost|svc)$/.test(name)
  );
}

const LINK = /<([^>]*)>((?:\s*;\s*[^\s=;,"]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]*))?)*)/g;
const ANCHOR = /\s*;\s*anchor\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]*)/gi;

/** A `Link` header with those of its targets that a client may learn; `undefined` where there is none. */
export function relayedLinks(value: string, place: AnswerPlace): string | undefined {
  const links = Array.from(value.matchAll(LINK), ([, target = '', parameters = '']) => {
    const address = relayedAddress(target, place);
    return address === undefined ? undefined : `<${address}>${parameters.replace(ANCHOR, '')}`;
  }).filter((link) => link !== undefined);
  return links.length > 0 ? links.join(', ') : undefined;
}
