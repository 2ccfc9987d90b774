import type { PluginCatalog, PluginDescription, PluginEntry } from '../../api/wire.ts';
import { isRedacted, redactedPaths } from '../../lib/redaction.ts';
import type { Tone } from '../../lib/tones.ts';

export interface PluginGroup {
  readonly name: string;
  /** What the catalogue says of it; nothing for a plugin that this gateway does not have. */
  readonly description: PluginDescription | undefined;
  readonly type: string;
  readonly entries: readonly PluginEntry[];
  readonly settings: readonly Setting[];
}

export interface Setting {
  readonly name: string;
  readonly value: string;
  /** Whether a part of it is withheld. */
  readonly isRedacted: boolean;
}

/** The entries of the configuration, one group for each plugin in the order of its first entry. */
export function groupPlugins(entries: readonly PluginEntry[], catalog: PluginCatalog | undefined): PluginGroup[] {
  return [...Map.groupBy(entries, ({ name }) => name)].map(([name, own]) => {
    const description = catalog?.data.find((plugin) => plugin.name === name);
    return {
      name,
      description,
      entries: own,
      type: description?.type ?? own[0]?.type ?? '',
      settings: settingsOf(own),
    };
  });
}

/** Entries of one plugin carry the same settings at every stage, so those of the first stand for all. */
function settingsOf(entries: readonly PluginEntry[]): Setting[] {
  const config = entries.find((entry) => entry.config)?.config ?? {};
  return Object.entries(config).map(([name, value]) => ({
    name,
    value: typeof value === 'string' ? value : JSON.stringify(value),
    isRedacted: isRedacted(name) || redactedPaths(value).length > 0,
  }));
}

export function enabledState(entries: readonly PluginEntry[]): { readonly name: string; readonly tone: Tone } {
  const enabled = entries.filter((entry) => entry.enabled === true).length;
  if (enabled === 0) return { name: 'Disabled', tone: 'neutral' };
  return enabled === entries.length ? { name: 'Enabled', tone: 'ok' } : { name: 'Partly enabled', tone: 'warn' };
}
