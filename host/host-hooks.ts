import type { IncomingMessage } from 'node:http';
import type { Router } from 'express';
import { AsyncSeriesHook, SyncBailHook, SyncHook } from 'tapable';
import type { BudgetMove } from './common/budgets/budget-move.ts';
import type { CheckContext } from './config/rules/rule.ts';
import type { GatewayConfig } from './config/document.ts';
import type { GenerationDraft } from './generation/generation.ts';
import type { FirstModels } from './generation/instances/first-models.ts';
import type { Surface } from './contract/index.ts';
import type { ModelCollector } from './generation/model-index.ts';
import type { OfflineHost } from './generation/offline.ts';
import type { RequestContext } from './http/context.ts';
import type { JsonObject } from './http/body/json-body.ts';
import type { Protection } from './http/protection.ts';
import type { Refused } from './http/door/refused.ts';
import type { Arrival } from './http/reply.ts';
import type { ReadForwarded } from './http/surface-route.ts';
import type { TakeUpgrade } from './http/connections/upgrades.ts';
import type { Handshake } from './pipeline/tool-servers.ts';
import type { ModuleCheck, RegisteredModule } from './registry/registry.ts';
import type { CounterHub, Gauges } from './state/counters.ts';
import type { ClientWires } from './wire/client-wires.ts';

/** A configuration as an operator would write it. */
export interface DefaultDocument {
  readonly strategy: { readonly mode: string };
  readonly targets: readonly { readonly virtual_key: string }[];
  plugins: readonly object[];
}

/** One finding of `gw doctor`. */
export interface Finding {
  readonly level: 'good' | 'bad' | 'warning' | 'absent';
  readonly text: string;
}

/** What `gw doctor` is about to say: taps of `examine` add sections to it. */
export interface Examination<H> {
  readonly host: H;
  readonly add: (title: string, findings: readonly Finding[]) => void;
  /** A checked configuration whose instances are to be asked for their models. */
  readonly probed: GatewayConfig | undefined;
}

/** A step that is missing, or those that a table has got. */
export type MigrationLine =
  | { readonly store: string; readonly pending: string; readonly kind: string }
  | {
      readonly store: string;
      readonly backend: 'sqlite' | 'postgres';
      readonly from: number;
      readonly to: number;
      readonly steps: readonly string[];
    };

/** What `gw migrate` asks of those who keep tables. */
export interface MigrationRun<H> {
  readonly host: H;
  /** Only tells; changes nothing. */
  readonly isCheck: boolean;
  /** Called for each place with tables. */
  readonly found: () => void;
  readonly report: (line: MigrationLine) => void;
}

interface CloseOptions<H> {
  readonly limitMs?: (host: H) => number;
}

/**
 * Hooks that live as long as the process. Builtins tap them in `apply`, and nothing taps them later. `H` is the host that
 * taps receive; it holds these hooks itself, and so its type is named where both are known.
 */
export function createHostHooks<H>() {
  return {
    /** A module has been taken into the registry. */
    registered: new SyncHook<[RegisteredModule]>(['module']),
    /** One tap per rule about modules. */
    checkModule: new SyncHook<[ModuleCheck]>(['check']),
    /** One tap per rule about configurations; the tap's name is the rule's id. */
    checkConfig: new SyncHook<[GatewayConfig, CheckContext]>(['config', 'context']),
    /** Adds model ids to a provider's set: catalog, discovery. */
    models: new SyncHook<[ModelCollector]>(['collector']),
    /** Asks instances of a configuration that is being built for their models, before it serves. */
    firstModels: new AsyncSeriesHook<[FirstModels, H]>(['first', 'host']),
    /** Completes the configuration that stands in where none was written, before it is checked as any other. */
    defaults: new SyncHook<[DefaultDocument, H]>(['document', 'host']),
    /** Lists what clients without limits of their own may ask for, as `GET /v1/models` does; the first tap that can is asked. */
    modelList: new SyncBailHook<[], Promise<readonly object[]> | undefined>([]),
    /** Names the surfaces this build serves. */
    surfaces: new SyncHook<[Set<Surface>]>(['surfaces']),
    /** Attaches what keeps figures, before anything is counted. */
    figures: new SyncHook<[CounterHub, H]>(['counters', 'host']),
    /** Reads gauges, at each scrape. */
    gauges: new SyncHook<[Gauges, H]>(['gauges', 'host']),
    /** Declares which paths need a credential. */
    protect: new SyncHook<[Protection]>(['protection']),
    /** Names the paths whose clients speak another wire than the common one. */
    clientWires: new SyncHook<[ClientWires, H]>(['wires', 'host']),
    /**
     * A request that no route has seen yet. A tap that refuses it returns how it is answered, and then no other tap and no route
     * sees it; one that cannot decide at once returns a promise, and the request waits for it. It gets no response: a request that
     * asks for another protocol has none.
     */
    arrived: new SyncBailHook<[IncomingMessage, RequestContext, H], Arrival>(['request', 'context', 'host']),
    /** A request is over that was refused before it had an exchange, whatever refused it. Its answer has left. */
    refused: new SyncHook<[Refused, H]>(['refused', 'host']),
    /**
     * A request that asks for another protocol (`Upgrade`). A tap that speaks it on this path returns what takes the connection
     * over once shell and `arrived` have let the request pass; where no tap does, it is served as any other request.
     */
    upgrade: new SyncBailHook<[IncomingMessage, H], TakeUpgrade | undefined>(['request', 'host']),
    /**
     * Reads a request of the Responses API that its target cannot be given as it is: the first tap that does says on which surface it
     * is answered instead. Throws a `GatewayError` for what it cannot read.
     */
    readForwarded: new SyncBailHook<[JsonObject, IncomingMessage, Buffer], ReadForwarded | undefined>([
      'body',
      'request',
      'bytes',
    ]),
    /** Gives the body of a request that goes on to a vendor of the Responses API without what only this gateway understands; nothing where there is none. */
    cleanForwarded: new SyncBailHook<[Buffer], Buffer | undefined>(['bytes']),
    /** Mounts routes. */
    mount: new SyncHook<[Router, H]>(['router', 'host']),
    /** Opens what needs I/O: stores, sockets. */
    open: new AsyncSeriesHook<[H]>(['host']),
    /** Loads what a command that only answers questions must know: files of this machine, no network. */
    openOffline: new AsyncSeriesHook<[OfflineHost]>(['host']),
    /** Looks at what a start would use and reports it, changing nothing: for `gw doctor`. */
    examine: new AsyncSeriesHook<[Examination<H>]>(['examination']),
    /** Brings tables of stores up to date, or tells what they lack: for `gw migrate`. Nothing is opened for it. */
    migrate: new AsyncSeriesHook<[MigrationRun<H>]>(['run']),
    /** Closes it again; taps run in reverse order of their declaration. `limitMs` asks for another limit than the usual one, when the time has come. */
    close: new AsyncSeriesHook<[H], CloseOptions<H>>(['host']),
    /** A handshake with a tool server is over, or has failed: connections outlive the configurations that name them. */
    toolServerTried: new SyncHook<[Handshake, H]>(['handshake', 'host']),
    /** What is booked in a budget has reached a share of its limit at which a warning is asked for: once for each window and share, by all processes that share a store. */
    budgetMoved: new SyncHook<[BudgetMove, H]>(['move', 'host']),
    /** A configuration is being built: tap its pipeline here. `host` is `undefined` for a command that only answers questions: nothing is open then. */
    assemble: new AsyncSeriesHook<[GenerationDraft, H | undefined]>(['draft', 'host']),
  };
}

export type HostHooks<H> = ReturnType<typeof createHostHooks<H>>;
