import type { Catalog } from '../../host/common/catalog.ts';
import { loadCatalog } from '../../builtins/catalog/load.ts';
import { chainsOf } from '../../builtins/catalog/lookup.ts';
import { MODULES } from '../../builtins/manifest.ts';
import type { TestHost } from '../kit/index.ts';

/** The prefixes that shipped providers name. */
export const CHAINS = chainsOf(MODULES.filter((module) => module.kind === 'provider'));

/** A catalog of these entries, in the format of a catalog file. */
export function catalogOf(entries: object): Catalog {
  return loadCatalog(JSON.stringify(entries), undefined, { chains: CHAINS }).catalog;
}

/** The nth log line with this message, once it is there. */
export function logged({ lines }: TestHost, message: string, nth = 1): Promise<Record<string, any>> {
  return arrival(lines, ({ msg }) => msg === message, nth);
}

/** The nth member of a growing list that fits, once it is there. */
export function arrival<T>(list: T[], fits: (member: T) => boolean, nth = 1): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<T>();
  const push = list.push.bind(list);
  const look = (): void => {
    const found = list.filter(fits)[nth - 1];
    if (found) resolve(found);
  };
  Object.defineProperty(list, 'push', {
    configurable: true,
    value: (...more: readonly T[]) => {
      const length = push(...more);
      look();
      return length;
    },
  });
  look();
  return promise;
}
