import { expect } from 'chai';
import { parse } from 'yaml';
import { runCommand } from './commands.ts';
import { expectOneError, stub } from './support.ts';

const ANSWER = {
  data: [
    {
      account: '/acme/search',
      model: 'gpt-5.4',
      requests: 3,
      prompt_tokens: 300_000,
      completion_tokens: 1000,
      usd: 0.6225,
    },
    { account: '', model: 'claude', requests: 1, prompt_tokens: 10, completion_tokens: 0, usd: 0.000001 },
  ],
  summary: { requests: 14, usd: 12, micro_usd: 12_000_000, groups: 9, returned: 2 },
  filters: {},
};

describe('gw admin spend', () => {
  const scene = async (body = JSON.stringify(ANSWER)) => {
    const { url, seen } = await stub(200, body);
    return {
      seen,
      gw: (...args: string[]): ReturnType<typeof runCommand> =>
        runCommand(['admin', 'spend', ...args, '--gateway-url', url, '--api-key', 'a-key-of-mine']),
    };
  };

  it('prints a table with a last line for the sum of all groups', async () => {
    const { gw, seen } = await scene();
    const { stdout, code } = await gw('--by', 'account,model');
    expect(code).to.equal(0);
    expect(stdout).to.equal(
      [
        'ACCOUNT        MODEL     REQUESTS   TOKENS   USD',
        '-------        -----     --------   ------   ---',
        '/acme/search   gpt-5.4   3          301000   0.6225',
        '-              claude    1          10       0.000001',
        'SUM            -         14         -        12.00',
        '',
      ].join('\n'),
    );
    expect(seen[0]?.call).to.equal('GET /admin/spend?by=account%2Cmodel&limit=20');
  });

  it('sends what it is given, and prints data as it came', async () => {
    const { gw, seen } = await scene();
    const flags = ['--from', '2026-11-01T00:00:00Z', '--to', '2026-11-02T00:00:00Z', '--bucket', 'day'];
    const { stdout } = await gw(...flags, '--under', '/acme', '--limit', '7', '--format', 'json');
    expect(JSON.parse(stdout)).to.deep.equal(ANSWER);
    expect(seen[0]?.call).to.equal(
      'GET /admin/spend?from=2026-11-01T00%3A00%3A00Z&to=2026-11-02T00%3A00%3A00Z&bucket=day&account=%2Facme&limit=7',
    );
    expect(parse((await gw('--format', 'yaml')).stdout)).to.deep.equal(ANSWER);
  });

  it('prints files as they came, and asks for a part of them only where one is named', async () => {
    const table = 'account,usd\r\n"a,b",1\r\n';
    const { gw, seen } = await scene(table);
    expect((await gw('--csv', '--by', 'account')).stdout).to.equal(table);
    expect((await gw('--csv', '--limit', '5')).stdout).to.equal(table);
    expect((await gw('--focus')).stdout).to.equal(table);
    expect(seen.map(({ call }) => call.split('?')[1])).to.deep.equal([
      'by=account&format=csv',
      'limit=5&format=csv',
      'format=focus',
    ]);
  });

  it('takes one form at a time', async () => {
    const { gw, seen } = await scene();
    expectOneError(await gw('--csv', '--focus'), '--csv and --focus');
    expectOneError(await gw('--focus', '--format', 'json'), '--focus', '--format');
    expectOneError(await gw('--limit', '0'), '--limit');
    expect(seen).to.deep.equal([]);
  });
});
