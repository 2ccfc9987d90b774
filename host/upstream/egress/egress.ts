import { parseHeaderReference } from '../../config/references.ts';
import type { Log } from '../../contract/index.ts';
import type { Redactor } from '../../log/redact.ts';
import type { EgressOfCall } from '../upstream-call.ts';
import type { AuthorityFile } from './authorities.ts';
import type { InstanceHeaders } from './instance-headers.ts';
import type { Proxy } from './proxy-tunnel.ts';
import { type Authorities, Way } from './way.ts';

/** What a declared instance says of how its calls leave, as it is written. */
export interface EgressSettings {
  /** The name of the instance. */
  readonly provider: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly proxy?: ProxySettings | undefined;
}

interface ProxySettings {
  readonly url: string;
  readonly username?: string | undefined;
}

export interface EgressDeps {
  /** What the reference in the value of a header stands for, by the name of the header as it is written. */
  readonly secretOf: (header: string) => string | undefined;
  readonly proxyPassword: string | undefined;
  readonly authorities: AuthorityFile | undefined;
  readonly redactor: Pick<Redactor, 'register'>;
  readonly log: Pick<Log, 'warn'>;
}

/** How the calls of a declared instance leave: its headers, its proxy, its authorities. Other values of its secrets make another. */
export class Egress implements EgressOfCall {
  /** Headers of every call that gets the credential; `undefined` without any. */
  readonly headers: InstanceHeaders | undefined;
  readonly #provider: string;
  readonly #log: EgressDeps['log'];
  readonly #proxy: Proxy | undefined;
  readonly #file: AuthorityFile | undefined;
  #authorities: Authorities | undefined;
  #way: Way;

  constructor({ provider, headers, proxy }: EgressSettings, deps: EgressDeps) {
    this.headers = headers && headersOf(headers, deps.secretOf);
    this.#provider = provider;
    this.#log = deps.log;
    this.#proxy = proxy && proxyOf(proxy, deps);
    this.#file = deps.authorities;
    this.#authorities = this.#file?.current;
    this.#way = this.#newWay();
  }

  /** The way that calls take from now on: another one when the authorities are others. */
  get way(): Way {
    if (this.#file && this.#file.current !== this.#authorities) {
      this.#authorities = this.#file.current;
      this.#way = this.#newWay();
    }
    return this.#way;
  }

  /** The transport did not connect to an address of this instance. */
  addressRefused(host: string): void {
    this.#log.warn('address refused', { provider: this.#provider, host });
  }

  #newWay(): Way {
    return new Way({ proxy: this.#proxy, authorities: this.#authorities });
  }
}

/** Where a value holds a reference, with what it stands for behind the scheme word. */
function headersOf(
  headers: Readonly<Record<string, string>>,
  secretOf: EgressDeps['secretOf'],
): InstanceHeaders | undefined {
  const all = Object.entries(headers).map(([name, text]) => {
    const scheme = parseHeaderReference(text)?.scheme;
    const secret = secretOf(name);
    const value = scheme === undefined || secret === undefined ? secret : `${scheme} ${secret}`;
    return [name.toLowerCase(), value ?? text] as const;
  });
  return all.length === 0 ? undefined : Object.fromEntries(all);
}

function proxyOf({ url, username }: ProxySettings, { proxyPassword, redactor }: EgressDeps): Proxy {
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') throw new Error('its proxy is not an http or https address');
  const hasUser = username !== undefined || proxyPassword !== undefined;
  const token = hasUser ? Buffer.from(`${username ?? ''}:${proxyPassword ?? ''}`).toString('base64') : undefined;
  if (token !== undefined && proxyPassword !== undefined) redactor.register(token);
  return {
    protocol,
    hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
    port,
    authorization: token === undefined ? undefined : `Basic ${token}`,
  };
}
