import { deepFrozen } from '../common/deep-frozen.ts';
import type { Exchange } from '../contract/index.ts';
import type { ModuleRef } from './module-fault.ts';
import type { RequestTrace } from './module-log.ts';

/** An exchange of the host, with what a plugin sees of it. */
export interface Seen extends Exchange {
  readonly view: Exchange;
}

/** What stands between the host and the functions of one plugin instance. What they throw passes through: the caller decides what follows. */
export class PluginBoundary {
  readonly module: ModuleRef;
  readonly #trace: RequestTrace;

  constructor(module: ModuleRef, trace: RequestTrace) {
    this.module = module;
    this.#trace = trace;
  }

  /** Calls a function of the plugin with its view of an exchange; log lines that a third-party one writes meanwhile carry the request's id. */
  call<A, R>(run: (exchange: Exchange, argument: A) => R, exchange: Seen, argument: A): R {
    if (this.module.file === undefined) return run(exchange.view, argument);
    deepFrozen(exchange.request);
    deepFrozen(exchange.reply);
    if (exchange.error) Object.freeze(exchange.error);
    return this.#trace.run({ module: this.module, exchangeId: exchange.id }, run, exchange.view, argument);
  }

  /** Runs a function of the module that is given no exchange. */
  run<A, B, C, R>(exchangeId: string, run: (first: A, second: B, third: C) => R, first: A, second: B, third: C): R {
    return this.module.file === undefined
      ? run(first, second, third)
      : this.#trace.run({ module: this.module, exchangeId }, run, first, second, third);
  }
}
