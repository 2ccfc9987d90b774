import { lookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isLinkLocal } from '../../config/hosts/host-kinds.ts';

/** A declared instance never connects to a link-local address, whatever its name resolves to. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
  readonly host: string;

  constructor(host: string) {
    super('the host is, or resolves to, a link-local address');
    this.host = host;
  }
}

/** Looks a name up as the system does, without the link-local addresses among the answers; without any other it fails. */
export const guardedLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, found) => {
    const allowed = error ? [] : found.filter(({ address }) => !isLinkLocal(address));
    const [first] = allowed;
    const refused = error ?? (first ? null : new AddressRefused(hostname));
    if (options.all) callback(refused, allowed);
    else callback(refused, first?.address ?? '', (first satisfies LookupAddress | undefined)?.family);
  });
};
