import type { IdentityBlock, IssuerState } from '../../host/config/identity/identity-place.ts';
import { type Issuer, readIssuer } from './issuer.ts';
import type { IssuerKeys } from './issuer-keys.ts';
import type { KnownIssuer } from './verify-token.ts';

type NewKeys = (issuer: Issuer) => IssuerKeys;

/** The issuers in force, with their keys. Those of an issuer that did not change are kept over a change. */
export class Issuers {
  readonly #newKeys: NewKeys;
  #known: ReadonlyMap<string, KnownIssuer> = new Map();
  #keys: ReadonlyMap<string, IssuerKeys> = new Map();
  #version = 0;
  #haveTokens = false;

  constructor(newKeys: NewKeys) {
    this.#newKeys = newKeys;
  }

  /** Another one after each change. */
  get version(): number {
    return this.#version;
  }

  /** Whether some issuer has tokens that count. */
  get haveTokens(): boolean {
    return this.#haveTokens;
  }

  take(block: IdentityBlock | undefined): void {
    const issuers = (block?.config.issuers ?? []).map(readIssuer);
    const keys = new Map(
      issuers.map((issuer) => [keysOf(issuer), this.#keys.get(keysOf(issuer)) ?? this.#newKeys(issuer)]),
    );
    const added = [...keys].filter(([key]) => !this.#keys.has(key));
    this.#keys = keys;
    this.#known = new Map(
      issuers.flatMap((issuer) => {
        const own = keys.get(keysOf(issuer));
        return own ? [[issuer.url, { issuer, keys: own }] as const] : [];
      }),
    );
    this.#haveTokens = issuers.some(({ bearer }) => bearer !== undefined);
    this.#version += 1;
    for (const [, each] of added) void each.ask(); // so that the first request need not wait
  }

  /** By its address, where tokens of it count. */
  ofTokens(url: string): KnownIssuer | undefined {
    const known = this.#known.get(url);
    return known?.issuer.bearer ? known : undefined;
  }

  /** By its address, whatever it is for. */
  at(url: string): Issuer | undefined {
    return this.#known.get(url)?.issuer;
  }

  named(name: string): KnownIssuer | undefined {
    return this.#known.values().find(({ issuer }) => issuer.name === name);
  }

  get all(): readonly KnownIssuer[] {
    return [...this.#known.values()];
  }

  get states(): readonly IssuerState[] {
    return this.all.map(({ issuer: { name }, keys }) => ({ name, ...keys.state }));
  }
}

/** What the keys of an issuer depend on. */
const keysOf = ({ name, url, keysUrl = '', algorithms, staleMs }: Issuer): string =>
  [name, url, keysUrl, [...algorithms].join(' '), staleMs].join('\n');
