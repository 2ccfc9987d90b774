import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { csvOf, hourAt, naiveReader, randomRows } from '../admin/spend/kit.ts';
import { FOCUS_PYTHON, FOCUS_VALIDATOR } from './install.ts';

const RANGE = { from: hourAt('2026-10-20T00:00:00Z'), to: hourAt('2026-11-26T00:00:00Z') };
/** What the gateway has of what FOCUS leaves to its generators. */
const APPLICABLE = [
  'ACCOUNT_NAMING_SUPPORTED',
  'SUB_ACCOUNT_SUPPORTED',
  'USAGE_MEASUREMENT_SUPPORTED',
  'RESOURCE_TYPE_ASSIGNMENT_SUPPORTED',
  'TAGGING_SUPPORTED',
];

interface Verdict {
  readonly passed: readonly string[];
  readonly failed: readonly string[];
}

async function validate(table: string): Promise<Verdict> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-focus-'));
  const file = join(folder, 'focus.csv');
  writeFileSync(file, table);
  const args = [
    '--data-file',
    file,
    '--validate-version',
    '1.2.0.1',
    '--focus-dataset',
    'CostAndUsage',
    '--block-download',
  ];
  const site = await said(FOCUS_PYTHON, ['-c', 'import sysconfig; print(sysconfig.get_paths()["purelib"])'], folder);
  // It looks for its list of currencies below the folder it runs in.
  const report = await said(FOCUS_VALIDATOR, [...args, '--applicability-criteria', APPLICABLE.join(',')], site.trim());
  rmSync(folder, { recursive: true });
  const rules = (word: string): string[] =>
    Array.from(report.matchAll(new RegExp(`(\\S+): ${word}\\b`, 'g')), ([, rule = '']) => rule);
  return { passed: rules('PASS'), failed: rules('FAIL') };
}

const said = (program: string, args: readonly string[], cwd: string): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(program, args, { cwd, maxBuffer: 1 << 26, timeout: 240_000 }, (error, stdout, stderr) =>
      error ? reject(new Error(stderr || stdout, { cause: error })) : resolve(stdout),
    );
  });

/** `npm run test:differential`. The FinOps Foundation's own validator reads what the gateway exports. */
describe('the validator of FOCUS', () => {
  it('finds the export of spend to be a dataset of FOCUS 1.2', async function () {
    if (!existsSync(FOCUS_VALIDATOR)) this.skip();
    const table = await csvOf(naiveReader(randomRows(31, 500, RANGE)), 'format=focus&from=2026-10-20T00:00:00Z');
    const { passed, failed } = await validate(table);
    expect(passed.length).to.be.above(150);
    // Invoices are either named or not, and the validator asks for both: the rule above it, that one of the two holds, passes.
    expect(failed).to.deep.equal(['InvoiceId-C-005-C']);
    expect(passed).to.include('InvoiceId-C-003-C');
  });

  it('notices a column that is missing', async function () {
    if (!existsSync(FOCUS_VALIDATOR)) this.skip();
    const table = await csvOf(naiveReader(randomRows(32, 20, RANGE)), 'format=focus&from=2026-10-20T00:00:00Z');
    const { failed } = await validate(table.replace('ServiceName', 'x_ServiceName'));
    expect(failed).to.include('ServiceName-C-000-M');
  });
});
