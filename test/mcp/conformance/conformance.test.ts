import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { some, startHost } from '../../kit/index.ts';
import { eventually } from '../../kit/holdings.ts';
import { CLIENT, EXPECTED, expectedLines, runSuite, withKey } from './suite.ts';

const TOOLS = fileURLToPath(new URL('tool-server.ts', import.meta.url));

describe('the conformance suite of the Model Context Protocol', () => {
  it('passes against /mcp, but for what is listed', async () => {
    const t = await startHost({
      strategy: { mode: 'single' },
      targets: [{ virtual_key: 'echo' }],
      mcp_servers: [{ name: 'tools', command: process.execPath, args: [TOOLS] }],
    });
    await eventually(() => t.host.current?.hooks.toolServers.call()?.tools().length === 7, 20_000);
    const { code, output } = await runSuite([
      'server',
      '--url',
      `${await withKey(t.url)}/mcp`,
      '--suite',
      'all',
      '--expected-failures',
      EXPECTED,
    ]);
    expect(code, output).to.equal(0);
    expect(output).to.contain('dns-rebinding-protection').and.to.contain('json-schema-2020-12');
  });

  for (const scenario of some(['initialize', 'tools_call'], { every: 2, from: 1 })) {
    it(`passes with the gateway as its client: ${scenario}`, async () => {
      const { code, output } = await runSuite(['client', '--command', CLIENT, '--scenario', scenario]);
      expect(code, output).to.equal(0);
    });
  }

  it('has a reason for every failure that is expected', () => {
    for (const line of expectedLines()) expect(line).to.match(/^ {2}- [\w./-]+ # \S.+/);
  });
});
