import './frozen.ts'; // before anything else
import type { Context, Suite } from 'mocha';
import { closeAll } from './cleanup.ts';
import { expectGivenBack, type Holdings, holdings } from './holdings.ts';

/** Whatever a test started ends with it, and whatever a suite opened is closed after it: handles, timers, listeners. */
export const mochaHooks = {
  beforeAll(this: Context): void {
    const root = this.test?.parent;
    for (const suite of root?.suites ?? []) countHoldings(suite);
  },
  async afterEach(): Promise<void> {
    await closeAll();
  },
};

/** Longer than waiting for what is closed makes sense. */
const HOOK_LIMIT_MS = 20_000;

/** Around all hooks of the suite's own. */
function countHoldings(suite: Suite): void {
  let before: Holdings = {};
  const own = hooksOf(suite);
  suite.beforeAll('count what is open', async () => {
    await new Promise((resolve) => { setImmediate(resolve); }); // the runner arms its own timer once the hook has begun
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
