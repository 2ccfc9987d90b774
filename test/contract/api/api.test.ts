import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { DECLARATIONS, TYPES, writeTypes } from '../../../build/types.ts';
import { ROOT } from '../../architecture/source.ts';
import { forSuite, temporaryFolder } from '../../kit/index.ts';
import { apiReport } from './api-report.ts';

const RENEW = 'GW_WRITE_DOCS';

/** Fails with what to do: a change of what module authors compile against is meant, or it is a mistake. */
function compare(entry: string, report: string): void {
  const file = join(import.meta.dirname, `${entry}.txt`);
  if (process.env[RENEW]) writeFileSync(file, report);
  expect(
    report,
    `gw/${entry} is not what ${entry}.txt says; when that is meant, renew the file by npm run docs:api and say so in CHANGELOG.md`,
  ).to.equal(readFileSync(file, 'utf8'));
}

describe('the public face of an entry point', () => {
  const written = forSuite(async () => {
    const folder = await temporaryFolder();
    writeTypes(ROOT, folder);
    return folder;
  });

  for (const [entry, declarations] of Object.entries(DECLARATIONS)) {
    const name = entry.slice('./'.length) || 'gateway';
    it(`of gw/${name} is as written down`, () => {
      compare(name, apiReport(join(written(), TYPES, declarations)));
    });
  }

  it('of gw/joi is as written down: joi itself', async () => {
    const joi = await import('gw/joi');
    const own = await import('joi');
    expect(joi.default).to.equal(own.default);
    const members = Object.entries(own.default).map(([name, value]) => `  ${name}: ${typeof value}`);
    compare('joi', [`export ${Object.keys(joi).toSorted().join(', ')}`, ...members.toSorted(), ''].join('\n'));
  });

  it('shows a changed signature, a new export, and a changed type that nothing exports', async () => {
    const place = await temporaryFolder();
    const path = join(place, 'index.d.ts');
    const inner = join(place, 'inner.d.ts');
    const reportOf = (index: string, other: string): string => {
      writeFileSync(path, index);
      writeFileSync(inner, other);
      return apiReport(path);
    };
    const index = "export { run } from './inner.ts';";
    const other =
      'interface Hidden { readonly a: string; }\n/** Runs. */\nexport declare function run(a: Hidden): void;\n';
    const first = reportOf(index, other);
    expect(first).to.equal(
      'export run\n  declare function run(a: Hidden): void;\n\nneeded Hidden\n  interface Hidden { readonly a: string; }\n\n',
    );
    expect(reportOf(index, other.replace('Runs.', 'Runs it.'))).to.equal(first);
    expect(reportOf(index, other.replace('): void', '): string'))).to.not.equal(first);
    expect(reportOf(index, other.replace('a: string', 'a: number'))).to.not.equal(first);
    expect(reportOf(`${index}\nexport type New = 1;`, other)).to.not.equal(first);
  });
});
