import type { PluginEntry } from '../config/document.ts';
import { readSettings } from '../config/module-settings.ts';
import { GatewayError, type PluginModule, type Stage, type Surface } from '../contract/index.ts';
import { covers, guardsContent } from '../pipeline/guards/plugin-policy.ts';

/** What an explanation says of the configured plugins. */
export interface ExplainedPlugins {
  readonly running: readonly { readonly name: string; readonly stage: Stage }[];
  readonly refusal: GatewayError | undefined;
  readonly notes: readonly string[];
}

export function readPlugins(
  entries: readonly PluginEntry[],
  surface: Surface,
  known: ReadonlyMap<string, PluginModule>,
): ExplainedPlugins {
  const enabled = entries
    .filter((entry) => entry.enabled)
    .flatMap((entry) => {
      const module = known.get(entry.name);
      return module ? [{ module, entry, stage: entry.stage as Stage }] : [];
    });
  const before = enabled.filter(({ stage }) => stage === 'before_request');
  const blind = before.find(
    ({ module, entry }) =>
      !covers(module, surface) && guardsContent(module, readSettings(module.settings, entry.config)),
  );
  const changing = before.filter(
    ({ module }) => covers(module, surface) && module.type === 'transform' && module.keepsModel !== true,
  );
  return {
    running: enabled
      .filter(({ module }) => covers(module, surface))
      .map(({ module, stage }) => ({ name: module.name, stage })),
    refusal:
      blind &&
      new GatewayError(
        'request_rejected',
        `${blind.module.name} does not read ${surface} bodies, and they are not forwarded uninspected`,
      ),
    notes: changing.map(({ module }) => `${module.name} may change the model; this is the route without it`),
  };
}
