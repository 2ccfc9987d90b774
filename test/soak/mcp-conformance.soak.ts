import { expect } from 'chai';
import { CLIENT, EXPECTED, runSuite, scenarios } from '../mcp/conformance/suite.ts';

describe('every client scenario of the conformance suite', () => {
  it('passes with the gateway as its client, but for what is listed', async () => {
    const names = await scenarios('client');
    expect(names).to.include.members(['initialize', 'tools_call', 'auth/resource-mismatch']);
    for (const scenario of names) {
      const { code, output } = await runSuite([
        'client',
        '--command',
        CLIENT,
        '--scenario',
        scenario,
        '--timeout',
        '20000',
        '--expected-failures',
        EXPECTED,
      ]);
      expect(code, `${scenario}\n${output}`).to.equal(0);
    }
  });
});
