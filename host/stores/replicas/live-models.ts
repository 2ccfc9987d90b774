import type { DiscoveredModel } from '../../contract/index.ts';

/** Live models by the name of their provider. */
export type LiveModels = ReadonlyMap<string, readonly DiscoveredModel[]>;

/** What providers said that they serve, kept where every replica finds it: one of them asks, and all list the same. */
export interface LiveModelStore {
  /** Whether this process is the one that asks. */
  readonly isLeader: () => boolean;
  read(): Promise<LiveModels>;
  /** Keeps what a provider said last. */
  keep(provider: string, models: readonly DiscoveredModel[]): Promise<void>;
  /** Calls when another process may have kept something. */
  readonly onModels: (changed: () => void) => void;
}
