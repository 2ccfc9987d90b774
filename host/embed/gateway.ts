import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { PluginModule, ProviderModule, StrategyModule } from '../contract/index.ts';

/** What `createGateway` takes. Everything may be left out. */
export interface GatewayOptions {
  /**
   * Path of a configuration file, from the working directory, or a configuration as an object. Without it the built-in defaults hold: a
   * target for each provider whose credential is set. No file is looked for.
   */
  readonly config?: string | object;
  /** Environment variables; a copy of those of the process unless given. What speaks of listeners is ignored, with one warning. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What is served: models and tools (`data`), or also the admin API, figures and the dashboard (`control`). `['data']` unless given. */
  readonly planes?: readonly ('data' | 'control')[];
  /** Takes each line of the log, which is JSON without a line end. Standard output unless given. */
  readonly log?: (line: string) => void;
  /** Modules of your own, beside those that the configuration names. */
  readonly modules?: readonly (ProviderModule | StrategyModule | PluginModule)[];
  /** Where the server mounts the gateway, such as `/ai`: for `upgrade` alone, because upgrades pass no router. `/` unless given. */
  readonly mountPath?: string;
}

/** One gateway in a server of yours. Its functions may be handed on without it: none reads `this`. */
export interface Gateway {
  /**
   * Answers a request of Express or of `node:http`. It reads `request.url`, from which Express has cut the path that it mounts the gateway
   * at. With `next`, paths that are not the gateway's go there; without, they are a 404 of the gateway. Mount it before body parsers.
   */
  readonly handler: (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void) => void;
  /** Takes a connection that asks for another protocol over, for the event `upgrade`. False where it is not the gateway's: nothing was done then. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean;
  /** The models that clients may ask for, as `GET /v1/models` lists them. */
  readonly fetchModels: () => Promise<readonly object[]>;
  /** Brings another configuration into force. Throws a `ConfigRefused` with every problem, and changes nothing then. */
  readonly apply: (document: object) => Promise<void>;
  /** Where a chat request would go and why, without sending it; `surface` names another kind of request. */
  readonly explain: (request: object, surface?: string) => object;
  /** Whether requests can be served, as `GET /readyz` says it. */
  readonly isReady: boolean;
  /**
   * Has `isReady` at false, waits for requests in flight, for `ms` milliseconds at most (`GW_SHUTDOWN_TIMEOUT` unless given), ends what is
   * left, and closes stores and connections to providers. The server stays as it is. Calling it again gives the same promise.
   */
  readonly drain: (ms?: number) => Promise<void>;
}

/** What `createGateway` and `apply` throw for a configuration with problems; its `name` is `ConfigRefused`. */
export interface ConfigRefused extends Error {
  readonly name: 'ConfigRefused';
  readonly problems: readonly {
    /** Where, for example `targets[0].retry`. */
    readonly path: string;
    /** Rule id, for example `CV09`. */
    readonly rule: string;
    readonly message: string;
    /** What to write instead. */
    readonly fix: string;
  }[];
}
