import './frozen.js'; // before anything else
import { strictEqual } from 'node:assert';
import type { Context, Runner, Suite } from 'mocha';
import type { Bundled } from './bundled.ts';
import { closeAll } from './cleanup.ts';
import { expectGivenBack, type Holdings, holdings } from './holdings.ts';
import { noteMissing, tellMissing } from './missing.ts';
import { BUNDLE_VARIABLE } from './program.ts';
import { SharedPostgres } from './shared-postgres.ts';

let shared: SharedPostgres | undefined;
let bundled: Bundled | undefined;

/** Before the first file; of a parallel run, in the process that starts the files. */
export async function mochaGlobalSetup(this: Runner): Promise<void> {
  noteMissing();
  if (!(this as Runner & { isParallelMode(): boolean }).isParallelMode()) return; // its types leave it out
  shared = new SharedPostgres(async () => (await import('./postgres-server.ts')).launchPostgres());
  await shared.open();
  if (process.env[BUNDLE_VARIABLE] !== undefined) return; // a run within a run has that of the outer one
  bundled = await (await import('./bundled.ts')).bundleGateway();
  process.env[BUNDLE_VARIABLE] = bundled.bin;
}

export async function mochaGlobalTeardown(): Promise<void> {
  bundled?.remove();
  await shared?.close();
  await tellMissing();
}

/** Whatever a test started ends with it, and whatever a suite opened is closed after it: handles, timers, listeners. */
export const mochaHooks = {
  beforeAll(this: Context): void {
    const root = this.test?.parent;
    for (const suite of root?.suites ?? []) countHoldings(suite);
  },
  async afterEach(): Promise<void> {
    await closeAll();
    strictEqual(Array.prototype.constructor, Array, 'something was written into what every list inherits');
  },
};

/** Longer than waiting for what is closed makes sense. */
const HOOK_LIMIT_MS = 20_000;

/** Around all hooks of the suite's own. */
function countHoldings(suite: Suite): void {
  let before: Holdings = {};
  const own = hooksOf(suite);
  suite.beforeAll('count what is open', async () => {
    await new Promise((resolve) => {
      setImmediate(resolve);
    }); // the runner arms its own timer once the hook has begun
    before = holdings();
  });
  own.unshift(...own.splice(-1));
  suite.afterAll('count what stayed open', async function count() {
    this.timeout(HOOK_LIMIT_MS);
    await expectGivenBack(before);
  });
}

/** Mocha has no way to add a hook before those that are there. */
const hooksOf = (suite: Suite): unknown[] => (suite as unknown as { readonly _beforeAll: unknown[] })._beforeAll;
