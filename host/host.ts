import type { Clock } from './common/clock.ts';
import type { Surface } from './contract/index.ts';
import type { IdentityPlace } from './config/identity/identity-place.ts';
import type { LoadedFile } from './config/load.ts';
import type { Applier, ApplierDeps } from './generation/apply.ts';
import type { Generation } from './generation/generation.ts';
import type { OfflineDeps } from './generation/offline.ts';
import type { HostHooks } from './host-hooks.ts';
import type { DeniedCredentials } from './http/door/denied-credentials.ts';
import type { ShellHost } from './http/shell.ts';
import type { SurfaceHost } from './http/surface-route.ts';
import type { TlsWatch } from './http/tls/tls-watch.ts';
import type { Redactor } from './log/redact.ts';
import type { Loading } from './registry/discover.ts';
import type { BuildInfo } from './environment/build-info.ts';
import type { Settings } from './environment/settings.ts';
import type { Variables } from './environment/variables.ts';
import type { CounterHub } from './state/counters.ts';
import type { TeamHints } from './state/team-hints.ts';
import type { BoundedLimits } from './stores/bounded-limits.ts';
import type { BoundedPlaces } from './stores/bounded-places.ts';
import type { Stores } from './stores/stores.ts';
import type { Companions } from './common/companions.ts';
import type { ConnectedProvider } from './upstream/connect.ts';
import type { Team } from './workers/team.ts';

/**
 * One gateway in this process. Nothing of it is module-level, so that tests run many. What builds and applies configurations,
 * and what answers requests, knows only the views it extends.
 */
export interface Host extends ApplierDeps, OfflineDeps, ShellHost, SurfaceHost {
  readonly build: BuildInfo;
  /** The command line of the process. */
  readonly argv: readonly string[];
  readonly platform: { readonly node: string; readonly os: string; readonly arch: string };
  /** Where this program is installed. */
  readonly installDirectory: string;
  readonly settings: Settings;
  readonly hooks: HostHooks<Host>;
  readonly counters: CounterHub;
  /** What builtins supply in `open`: principals, request log, configuration store, shared state. */
  readonly stores: Stores;
  /** Limits that replicas hold together, where there is a store for them. */
  readonly limits: BoundedLimits;
  /** Where requests came from whose credential is not known. */
  readonly denied: DeniedCredentials;
  /** Places of calls that replicas take together, where there is a store for them. */
  readonly places: BoundedPlaces;
  readonly applier: Applier;
  /** What this process is among those of one gateway. */
  readonly team: Team;
  /** What processes say to each other in passing. */
  readonly hints: TeamHints | undefined;
  /** Where files may be that are gone with the process. */
  readonly temporaryFolder: string;
  /** Ends the process with an error, because its workers end again and again. Set by the command that serves. */
  giveUp: (() => void) | undefined;
  /** The workers, once there are some: each configuration is theirs too. */
  companions: Companions | undefined;
  /** Surfaces that routes are mounted for. */
  readonly surfaces: readonly Surface[];
  /** Providers whose credentials were found at start, by name; offline ones join with the targets that name them. */
  providers: ReadonlyMap<string, ConnectedProvider>;
  passedOver: ReadonlySet<string>;
  /** The configuration file, in force or not. */
  configFile: LoadedFile | undefined;
  /** Who may come in with credentials of others, by the configuration file. */
  readonly identity: IdentityPlace;
  /** True from the first signal on: readiness answers 503, and requests are served as before until the process drains. */
  isLeaving: boolean;
  /** Connections close after their reply, and nothing new begins. */
  isDraining: boolean;
  /** The credential that opens everything: from `MASTER_KEY`, or made at start. */
  masterKey: string | undefined;
  /** The configuration that serves. */
  readonly current: Generation | undefined;
  /** The certificates of its listeners; none where they speak plain HTTP. */
  readonly certificates: TlsWatch[];
  /** Under it modules are imported. */
  readonly loading: Loading;
  /** Logs an error that was not caught, where it is a third-party module's. False for any other. */
  logBackgroundFault(error: unknown): boolean;
  /** Closes what the host opened, in reverse order; harmless when called twice. */
  close(): Promise<void>;
}

/** What commands may use. The host is made for those that ask for it: most only call a gateway that runs. */
export interface CommandPlace {
  readonly variables: Variables;
  readonly workingDirectory: string;
  readonly build: BuildInfo;
  readonly platform: Host['platform'];
  readonly clock: Clock;
  readonly redactor: Redactor;
  /** Set where this process is a worker. */
  readonly team?: Team;
  /** The one host of the process. `serves`: it is to serve clients, with others where that is asked for. */
  readonly host: (use?: { readonly serves?: boolean }) => Promise<Host>;
}
