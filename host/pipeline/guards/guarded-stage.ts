import type { Stage } from '../../contract/index.ts';
import type { Clock } from '../../common/clock.ts';
import type { GenerationHooks } from '../hooks.ts';
import type { PluginInstance } from './plugin-instance.ts';

/** The hooks that hear of verdicts, failures and runs of plugins, and the clock for the runs. */
export interface GuardDeps {
  readonly hooks: Pick<GenerationHooks, 'stageRan' | 'verdict' | 'pluginFailed'>;
  readonly clock: Pick<Clock, 'monotonic' | 'timer'>;
}

/** One handler of one plugin instance: made once, when the configuration is bound. */
export interface GuardedStage {
  readonly instance: PluginInstance;
  readonly stage: Stage;
  readonly deps: GuardDeps;
}
