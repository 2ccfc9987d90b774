import type { Exchange } from '../contract/index.ts';
import { frozenInput } from './guest-input.ts';
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
  readonly #isHeard: () => boolean;

  constructor(module: ModuleRef, trace: RequestTrace, isHeard: () => boolean) {
    this.module = module;
    this.#trace = trace;
    this.#isHeard = isHeard;
  }

  /** Calls a function of the plugin with its view of an exchange; the log lines that it writes meanwhile carry the request's id. */
  call<A, R>(run: (exchange: Exchange, argument: A) => R, exchange: Seen, argument: A): R {
    if (this.module.file !== undefined) {
      frozenInput(exchange.request);
      frozenInput(exchange.reply);
      if (exchange.error) Object.freeze(exchange.error);
    }
    return this.#isHeard() ? this.#trace.run(exchange.id, run, exchange.view, argument) : run(exchange.view, argument);
  }

  /** The same for what is given no exchange. */
  run<A, B, C, R>(exchangeId: string, run: (first: A, second: B, third: C) => R, first: A, second: B, third: C): R {
    return this.#isHeard() ? this.#trace.run(exchangeId, run, first, second, third) : run(first, second, third);
  }
}
