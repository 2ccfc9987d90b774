import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Router } from 'express';
import { AsyncSeriesHook, SyncBailHook, SyncHook } from 'tapable';
import type { CommandLine } from './command-line.ts';
import type { CheckContext } from './config/rules/rule.ts';
import type { GatewayConfig } from './config/document.ts';
import type { GenerationDraft } from './generation/generation.ts';
import type { Surface } from './contract/index.ts';
import type { Host } from './host.ts';
import type { ModelCollector } from './generation/model-index.ts';
import type { ModuleCheck, RegisteredModule } from './registry/registry.ts';

/** Hooks that live as long as the process. Builtins tap them in `apply`, and nothing taps them later. */
export function createHostHooks() {
  return {
    /** A module has been taken into the registry. */
    registered: new SyncHook<[RegisteredModule]>(['module']),
    /** One tap per rule about modules. */
    checkModule: new SyncHook<[ModuleCheck]>(['check']),
    /** One tap per rule about configurations; the tap's name is the rule's id. */
    checkConfig: new SyncHook<[GatewayConfig, CheckContext]>(['config', 'context']),
    /** Adds model ids to a provider's set: catalog, discovery. */
    models: new SyncHook<[ModelCollector]>(['collector']),
    /** Declares commands. */
    command: new SyncHook<[CommandLine, Host]>(['commandLine', 'host']),
    /** Names the surfaces this build serves. */
    surfaces: new SyncHook<[Set<Surface>]>(['surfaces']),
    /** A request that no route has seen yet. Whoever answers it says so, and nobody else sees it. */
    arrived: new SyncBailHook<[IncomingMessage, ServerResponse, Host], 'answered' | undefined>(['request', 'response', 'host']),
    /** Mounts routes. */
    mount: new SyncHook<[Router, Host]>(['router', 'host']),
    /** Opens what needs I/O: stores, sockets. */
    open: new AsyncSeriesHook<[Host]>(['host']),
    /** Loads what a command that only answers questions must know: files of this machine, no network. */
    openOffline: new AsyncSeriesHook<[Host]>(['host']),
    /** Closes it again; taps run in reverse order of their declaration. */
    close: new AsyncSeriesHook<[Host]>(['host']),
    /** A configuration is being built: tap its pipeline here. */
    assemble: new AsyncSeriesHook<[GenerationDraft]>(['draft']),
  };
}

export type HostHooks = ReturnType<typeof createHostHooks>;

interface Freezable {
  intercept(interceptor: { register: (tap: { readonly name: string }) => never }): void;
}

/** Makes every later tap throw. Freezing the object would not: taps live inside the hook. */
export function sealHooks(hooks: Readonly<Record<string, Freezable>>, why: string): void {
  for (const [name, hook] of Object.entries(hooks)) sealHook(hook, name, why);
}

export function sealHook(hook: Freezable, name: string, why: string): void {
  // tapable runs `register` over existing taps when the interceptor is added, so only taps from now on may throw.
  let isSealed = false;
  hook.intercept({
    register: (tap) => {
      if (isSealed) throw new Error(`hook ${name} is sealed: ${tap.name} taps it too late, ${why}`);
      return tap as never;
    },
  });
  isSealed = true;
}
