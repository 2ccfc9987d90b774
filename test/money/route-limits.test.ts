import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { FREE, gateway, limitsOf, PASSED, PROBES, routesOf, tableOf } from './route-limits.ts';

const PAGE = fileURLToPath(new URL('../../docs/stores.md', import.meta.url));
const BEGIN = '<!-- what binds where: npm run docs:limits -->\n';
const END = '\n<!-- end of what binds where -->';

describe('what binds on each route', () => {
  it('is known of every route that is mounted', async () => {
    const { t } = await gateway();
    const probed = new Set(
      PROBES.map(({ path }) => path.replace(/\?.*/, '').replace(/\/models\/m:\w+$/, '/models/*model')),
    );
    const routes = [...new Set(routesOf(t))].filter(
      (path) => ![...FREE, ...PASSED].some((pattern) => pattern.test(path)),
    );
    expect(routes.filter((path) => !probed.has(path.replace(/\{?:\w+\}?$|(\*model).*$/, '$1')))).to.deep.equal([]);
  });

  const rows: (readonly string[])[] = [];
  for (const [index, probe] of PROBES.entries()) {
    it(`a spent key reaches no upstream, a running one is booked: ${probe.path}${probe.stream ? ', streamed' : ''}${probe.name.includes('background') ? ', in the background' : ''}`, async () => {
      const row = await limitsOf(probe);
      rows[index] = row;
      const isCounting = /count|input_tokens/i.test(probe.path);
      expect(row[1], 'a spent key').to.be.oneOf(isCounting ? ['no call', 'served'] : ['refused']);
      if (!isCounting && !/moderations/.test(probe.path)) expect(row[2], 'is booked').to.equal('yes');
    });
  }

  it('stands in docs/stores.md', () => {
    if (rows.filter((row) => row !== undefined).length < PROBES.length) return; // of some rows alone there is no table
    const page = readFileSync(PAGE, 'utf8');
    const [before, rest = ''] = page.split(BEGIN);
    const [table, after] = rest.split(END);
    if (process.env['GW_WRITE_DOCS']) writeFileSync(PAGE, `${before}${BEGIN}${tableOf(rows)}${END}${after}`);
    else expect(table).to.equal(tableOf(rows));
  });
});
