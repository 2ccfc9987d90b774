// What missing.test.ts runs in a process of its own: suites that need what no machine has.
import { forSuite } from './cleanup.ts';
import { Missing } from './missing.ts';
import { requireTool } from './tools.ts';

for (const name of ['one', 'two']) {
  describe(`suite ${name}`, () => {
    const moon = forSuite<object>(() => Promise.reject(new Missing('the moon', 'it is too far away')));
    it('holds it', () => {
      moon();
    });
    describe('inside', () => {
      it('holds it too', () => {
        moon();
      });
    });
  });
}

describe('a test', () => {
  it('runs a tool', function runTool() {
    requireTool(this, 'no-such-tool');
  });
  it('needs nothing', () => {});
});
