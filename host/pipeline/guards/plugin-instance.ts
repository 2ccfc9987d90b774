import type { PluginBoundary } from '../../boundary/plugin-boundary.ts';
import type { PluginHandlers, PluginModule, StreamGuard } from '../../contract/index.ts';

/** One plugin instance: shared by every stage that lists the same name and config. */
export interface PluginInstance {
  readonly module: PluginModule;
  readonly settings: object;
  readonly handlers: PluginHandlers;
  /** Calls them. */
  readonly boundary: PluginBoundary;
}

/** The guards of one stream, by the plugin instance that made them. */
export type StreamGuards = ReadonlyMap<PluginInstance, StreamGuard>;
