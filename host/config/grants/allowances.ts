import { isOrigin } from './destinations.ts';

/** An entry of `GW_CONFIG_ENV`. */
export interface Allowance {
  /** A variable, the beginning of some, or `file:` and a path. */
  readonly name: string;
  readonly isPrefix: boolean;
  /** Where it may be sent; `undefined`: anywhere. */
  readonly to: { readonly host: string; readonly port: string | undefined } | undefined;
}

/** What operators let configurations of the admin API refer to (`GW_CONFIG_ENV`). */
export class Allowances {
  readonly #entries: readonly Allowance[];

  constructor(entries: readonly Allowance[]) {
    this.#entries = entries;
  }

  /** An entry with a host fits a place that sends to that host alone. */
  allow(reference: string, destinations: readonly string[]): boolean {
    return this.#entries.some(
      (entry) => namesIt(entry, reference) && (entry.to === undefined || isOnlyTo(entry.to, destinations)),
    );
  }
}

export const namesIt = ({ name, isPrefix }: Allowance, reference: string): boolean =>
  isPrefix ? reference.startsWith(name) : reference === name;

function isOnlyTo({ host, port }: NonNullable<Allowance['to']>, destinations: readonly string[]): boolean {
  return (
    destinations.length > 0 &&
    destinations.every((destination) => {
      const found = isOrigin(destination) ? /^[a-z][a-z0-9+.-]*:\/\/(.*):(\d*)$/.exec(destination) : null;
      return found !== null && found[1] === host && (port === undefined || found[2] === port);
    })
  );
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*(\*?)$/;
const FILE = /^file:\/[^\x00-\x1f\x7f{}]*$/;
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)(?::(\d{1,5}))?$/i;

/** One entry: `NAME`, `PREFIX_*` or `file:/path`, perhaps with `@host` or `@host:port`. `undefined` for anything else. */
export function parseAllowance(text: string): Allowance | undefined {
  const at = text.lastIndexOf('@');
  const written = at < 0 ? text : text.slice(0, at);
  const place = at < 0 ? undefined : HOST.exec(text.slice(at + 1));
  if (place === null || (place && Number(place[2] ?? 1) > 65_535)) return undefined;
  const name = NAME.exec(written);
  if (!name && !FILE.test(written)) return undefined;
  const isPrefix = name?.[1] === '*';
  const to = place && {
    host: hostOf(place[1] ?? ''),
    port: place[2] === undefined ? undefined : String(Number(place[2])),
  };
  return { name: isPrefix ? written.slice(0, -1) : written, isPrefix, to };
}

/** As addresses have it once they are read. */
const hostOf = (text: string): string => (URL.canParse(`http://${text}`) ? new URL(`http://${text}`).hostname : text);
