import type { Variables } from '../environment/variables.ts';

/** What only a gateway with listeners of its own reads, and where an embedded one gets its configuration otherwise. */
const OF_LISTENERS =
  /^(?:PORT|GATEWAY_CONFIG|GW_CONFIG_WATCH|GW_ADDRESS|GW_ADMIN_(?:PORT|ADDRESS)|GW_WORKERS|GW_DRAIN_DELAY|GW_(?:ADMIN_)?TLS_.*)$/;

interface OwnVariables {
  readonly kept: Variables;
  /** Names of those that are set and have no effect, sorted. */
  readonly ignored: readonly string[];
}

/** Leaves out what an embedded gateway does not read. A file that is named is watched, so then that may be said. */
export function ownVariables(variables: Variables, hasFile: boolean): OwnVariables {
  const isIgnored = (name: string): boolean => OF_LISTENERS.test(name) && !(hasFile && name === 'GW_CONFIG_WATCH');
  const entries = Object.entries(variables);
  return {
    kept: Object.fromEntries(entries.filter(([name]) => !isIgnored(name))),
    ignored: entries
      .filter(([name, value]) => isIgnored(name) && value !== undefined && value.trim() !== '')
      .map(([name]) => name)
      .toSorted(),
  };
}
