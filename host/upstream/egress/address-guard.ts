import { lookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isLinkLocal } from '../../config/hosts/host-kinds.ts';
import { AddressRefused } from './refusals.ts';

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
