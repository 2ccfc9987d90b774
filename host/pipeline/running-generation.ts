import type { RouteTarget, Surface } from '../contract/index.ts';
import type { StreamTimes } from '../config/stream-times.ts';
import type { GenerationHooks } from './hooks.ts';
import type { LiveExchange } from './live-exchange.ts';
import type { ModelGroups } from './model-group.ts';
import type { PipelineServices } from './pipeline-services.ts';
import type { StreamGuards } from './guards/plugin-instance.ts';
import type { FailoverRules } from './attempts/retry.ts';
import type { Target } from './target.ts';
import type { RunTurn } from './turns/turns.ts';

/** What the pipeline needs of the configuration that a request runs under. Generations implement it. */
export interface RunningGeneration {
  readonly services: PipelineServices;
  readonly hooks: GenerationHooks;
  /** Runs the turns of an exchange: one, unless `turns` wraps it. */
  readonly runTurns: RunTurn;
  /** By virtual key. */
  readonly targets: ReadonlyMap<string, Target>;
  readonly models: RoutedModels;
  /** The groups of models; `undefined` where none are configured. */
  readonly groups: ModelGroups | undefined;
  /** Instances, groups or affinity are configured: requests are said to be placed. */
  readonly isPlaced: boolean;
  readonly strategy: FailoverRules;
  readonly plugins: RunningPlugins;
  /** Milliseconds for a whole request; `undefined` means no limit. */
  readonly requestTimeoutMs: number | undefined;
  readonly streamTimes: StreamTimes;
  readonly unsupportedParams: 'warn' | 'drop' | 'reject';
}

export interface RoutedModels {
  /** Every declared target, in order, marked with whether it serves the model on the surface. */
  routeTargets(model: string, surface: Surface, streaming: boolean, pinned?: string): readonly RouteTarget[];
}

export interface RunningPlugins {
  /** How many there are: without any, no stream is put together again for them. */
  readonly count: number;
  /** Surfaces whose unreadable bodies are refused, because a content guardrail stands before the request. */
  readonly contentGuarded: ReadonlySet<Surface>;
  /** Surfaces whose bodies some plugin may read before the request, an observing one included. */
  readonly inspected: ReadonlySet<Surface>;
  /** Surfaces whose bodies, where they are only forwarded, some plugin before the request needs something of, be it a single member. */
  readonly needsBody: ReadonlySet<Surface>;
  /** Surfaces whose answers some plugin may read. */
  readonly readsAnswers: ReadonlySet<Surface>;
  /** Surfaces whose answers a content guardrail judges; not where it only records what it finds in streams. */
  readonly judgesAnswers: ReadonlySet<Surface>;
  /** Surfaces that a content guardrail leaves out: bodies there are refused altogether. */
  readonly uncovered: ReadonlyMap<Surface, string>;
  /** Whether some plugin counts what answers use, also of those that are forwarded. */
  readonly readsUsage: boolean;
  /** The guards of one stream, by the instance that made them; `undefined` when nothing guards it. */
  readonly openStreamGuards: (exchange: LiveExchange) => StreamGuards | undefined;
}
