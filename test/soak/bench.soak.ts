import { spawnSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { isStream, NAMINGS, SHAPES } from '../bench/bodies.ts';
import { FIGURE_NAMES } from '../bench/figures.ts';
import type { Report } from '../bench/report.ts';
import { temporaryFolder } from '../kit/index.ts';

const BENCH = fileURLToPath(new URL('../bench/bench.ts', import.meta.url));

const SUBJECTS = ['floor', 'gw'];
const SHAPE = 'unary';
const ROWS = NAMINGS.flatMap((naming) => SUBJECTS.map((subject) => `${SHAPE} ${naming} ${subject}`));
/** Noise can take the floor's added latency below zero; then there is no ratio to it. */
const NOISY = new Set(['addedP50', 'addedP99']);

/** How it is interrupted, and what it refuses, is in the ordinary suite. */
describe('npm run bench', () => {
  it('prints every figure of both model names, and leaves nothing behind', async function everyFigure() {
    this.timeout(180_000);
    const [temporary, results] = [await temporaryFolder(), await temporaryFolder()];
    const file = join(results, 'figures.json');
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [BENCH, '--quick', '--shape', SHAPE, '--resilience', '--json', file],
      { env: { ...process.env, TMPDIR: temporary }, encoding: 'utf8' },
    );
    expect(status, stderr).to.equal(0);
    expectTable(stdout);
    expectFigures(JSON.parse(await readFile(file, 'utf8')) as Report);
    expect(await readdir(temporary)).to.deep.equal([]);
  });

  it('prints a row for each shape, model name and subject', function everyShape() {
    this.timeout(180_000);
    const { status, stdout, stderr } = spawnSync(process.execPath, [BENCH, '--quick'], { encoding: 'utf8' });
    expect(status, stderr).to.equal(0);
    const rows = stdout
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .map((line) =>
        line
          .split('|')
          .slice(1, 4)
          .map((cell) => cell.trim())
          .join(' '),
      );
    expect(rows.slice(1)).to.have.members(
      NAMINGS.flatMap((naming) =>
        SHAPES.flatMap((shape) => ['floor', 'gw'].map((subject) => `${shape} ${naming} ${subject}`)),
      ),
    );
  });

  it('prints what a request allocates, and what telemetry costs', function others() {
    this.timeout(300_000);
    for (const [option, subjects] of [
      ['--allocations', ['gw']],
      ['--telemetry', ['gw (telemetry off)', 'gw (telemetry on)']],
    ] as const) {
      const { status, stdout, stderr } = spawnSync(process.execPath, [BENCH, option, '--quick', '--shape', SHAPE], {
        encoding: 'utf8',
      });
      expect(status, stderr).to.equal(0);
      for (const subject of subjects)
        expect(stdout, option).to.match(new RegExp(`${RegExp.escape(subject)} +\\| +[1-9]`));
    }
  });

  it('prints starts of checkout and package, and the phases of a start and a reload', function everyPhase() {
    this.timeout(300_000);
    const { status, stdout, stderr } = spawnSync(process.execPath, [BENCH, '--start', '--quick'], { encoding: 'utf8' });
    expect(status, stderr).to.equal(0);
    const rows = stdout
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      );
    expect(rows.map(([name]) => name)).to.include.members([
      'gw',
      'gw (package)',
      'imports',
      'checks of the shipped modules',
      'listening',
      'reload: reading',
    ]);
    for (const row of rows) expect(row).to.have.lengthOf(3);
  });
});

function expectTable(text: string): void {
  const rows = text
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const [head, ...body] = rows;
  expect(head).to.have.lengthOf(3 + FIGURE_NAMES.length);
  expect(body.map(([shape, naming, subject]) => `${shape} ${naming} ${subject}`)).to.have.members(ROWS);
  for (const row of body) {
    expect(row).to.have.lengthOf(3 + FIGURE_NAMES.length);
    for (const cell of row.slice(3)) expect(cell).to.match(/^(-|-?[\d.]+ \((-|-?[\d.]+)\))$/);
  }
}

function expectFigures({ rows, facts, isQuick }: Report): void {
  expect(facts).to.include({ node: process.version });
  expect(isQuick).to.equal(true);
  expect(rows.map(({ shape, naming, subject }) => `${shape} ${naming} ${subject}`)).to.have.members(ROWS);
  for (const { shape, naming, subject, values, ratios } of rows) {
    for (const figure of FIGURE_NAMES) {
      const where = `${figure} of ${shape} ${naming} ${subject}`;
      if (figure === 'cpuPerChunk' && !isStream(shape)) {
        expect(values[figure], where).to.equal(null);
        continue;
      }
      expect(values[figure], where).to.satisfy(Number.isFinite);
      if (!NOISY.has(figure)) expect(values[figure], where).to.be.above(0);
      if (!NOISY.has(figure) || ratios[figure] !== null) expect(ratios[figure], where).to.satisfy(Number.isFinite);
    }
  }
}
