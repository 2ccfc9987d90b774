import type { Log, SharedState, Surface } from './contract/index.ts';
import type { CommandLine } from './command-line.ts';
import type { LoadedFile } from './config/load.ts';
import type { Applier } from './generation/apply.ts';
import type { CarryoverStore } from './generation/carryover.ts';
import type { Generation } from './generation/generation.ts';
import type { Slot } from './generation/slot.ts';
import type { HostHooks } from './hooks.ts';
import type { Activity } from './http/activity.ts';
import type { Outbox } from './http/outbox.ts';
import type { Redactor } from './log/redact.ts';
import type { PipelineServices } from './pipeline/services.ts';
import type { Registry } from './registry/registry.ts';
import type { Settings } from './settings.ts';
import type { CounterHub } from './state/counters.ts';
import type { ConnectedProvider, Variables } from './upstream/connect.ts';

/** What this program is: stamped into `package.json` by the build, `dev` in a checkout. */
export interface BuildInfo {
  readonly version: string;
  readonly commit: string;
  readonly built: string;
}

/** One gateway in this process. Nothing of it is module-level, so that tests run many. */
export interface Host {
  readonly build: BuildInfo;
  readonly platform: { readonly node: string; readonly os: string; readonly arch: string };
  /** Where this program is installed. */
  readonly installDirectory: string;
  readonly workingDirectory: string;
  readonly variables: Variables;
  readonly settings: Settings;
  readonly hooks: HostHooks;
  readonly registry: Registry;
  readonly log: Log;
  readonly redactor: Redactor;
  readonly counters: CounterHub;
  readonly state: SharedState;
  readonly carryover: CarryoverStore;
  readonly slot: Slot;
  readonly applier: Applier;
  readonly activity: Activity;
  readonly outbox: Outbox;
  readonly services: PipelineServices;
  readonly commandLine: CommandLine;
  /** Surfaces that routes are mounted for. */
  readonly surfaces: readonly Surface[];
  /** Providers whose credentials were found at start, by name; offline ones join with the targets that name them. */
  providers: ReadonlyMap<string, ConnectedProvider>;
  /** The file the configuration came from. */
  configFile: LoadedFile | undefined;
  /** True from the first signal on: readiness answers 503, connections close after their reply. */
  isDraining: boolean;
  /** The credential that opens everything: from `MASTER_KEY`, or made at start. */
  masterKey: string | undefined;
  /** The configuration that serves. */
  readonly current: Generation | undefined;
  /** Closes what the host opened, in reverse order; harmless when called twice. */
  close(): Promise<void>;
}
