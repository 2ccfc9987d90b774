import { isDeepStrictEqual } from 'node:util';
import type { GatewayConfig } from '../../config/document.ts';
import type { Log } from '../../contract/index.ts';

type Declared = GatewayConfig['accounts'];

export interface AccountLinesDeps {
  readonly log: Pick<Log, 'info'>;
  /** What is stored now. */
  readonly stored: { readonly count: number; readonly version: number; onChange(then: () => void): void };
}

/** Logs that other accounts count from now on: because a configuration declares them, or because they were stored. */
export class AccountLines {
  readonly #deps: AccountLinesDeps;
  #declared: Declared;
  #isServing = false;

  constructor(deps: AccountLinesDeps) {
    this.#deps = deps;
    deps.stored.onChange(() => {
      if (this.#isServing) this.#write();
    });
  }

  /** After a configuration has become the one in force. */
  write(declared: Declared): void {
    const isFirst = !this.#isServing;
    const isOther = !isDeepStrictEqual(declared ?? [], this.#declared ?? []);
    this.#isServing = true;
    this.#declared = declared;
    if (isOther || (isFirst && this.#deps.stored.count > 0)) this.#write();
  }

  #write(): void {
    const { log, stored } = this.#deps;
    log.info('accounts changed', {
      declared: this.#declared?.length ?? 0,
      stored: stored.count,
      version: stored.version,
    });
  }
}
