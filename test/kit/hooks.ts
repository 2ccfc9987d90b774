import { closeAll } from './cleanup.ts';

/** Whatever a test started ends with it. */
export const mochaHooks = {
  async afterEach(): Promise<void> {
    await closeAll();
  },
};
