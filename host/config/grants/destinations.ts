import { isFields } from '../../contract/index.ts';
import { canonicalJson } from '../canonical.ts';

/** What is written beside a secret that decides where it goes, whatever it looks like. */
const ADDRESSES: ReadonlySet<string> = new Set([
  'url',
  'base_url',
  'host',
  'endpoint',
  'address',
  'proxy',
  'command',
  'args',
  'region',
]);

/**
 * Where a block sends what it holds: the origin of each address in it. What names an address counts whatever it looks like, other texts where they hold `://`.
 * `isOpen`: every text counts, because it is not known which of them is read as an address.
 */
export function destinationsIn(value: unknown, isOpen = false): readonly string[] {
  const found = new Set<string>();
  const look = (each: unknown, isAddress: boolean): void => {
    if (typeof each === 'string') {
      if (isAddress || isOpen || each.includes('://')) found.add(destinationOf(each));
    } else if (Array.isArray(each)) {
      if (isAddress) found.add(canonicalJson(each));
      else for (const item of each) look(item, false);
    } else if (isFields(each)) for (const [name, member] of Object.entries(each)) look(member, ADDRESSES.has(name));
  };
  look(value, false);
  return [...found];
}

/** The origin of an address; a text that has none, or that a reference decides, is a destination as it stands. */
export function destinationOf(text: string): string {
  if (!URL.canParse(text) || /\$\{/.test(text.replace(/^([a-z][a-z0-9+.-]*:\/\/[^/?#]*).*$/is, '$1'))) return text;
  const { protocol, host, port, hostname } = new URL(text);
  if (host === '') return text;
  return `${protocol}//${hostname.toLowerCase()}:${port === '' ? (PORTS[protocol] ?? '') : port}`;
}

const PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#@$]+$/;

/** Whether a destination may be shown: others may hold a secret themselves. */
export const isOrigin = (destination: string): boolean => ORIGIN.test(destination);
