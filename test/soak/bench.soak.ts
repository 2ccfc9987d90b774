import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { NAMINGS, SHAPES } from '../bench/bodies.ts';

const BENCH = fileURLToPath(new URL('../bench/bench.ts', import.meta.url));

/** One shape of it is in the ordinary suite. */
describe('npm run bench, every shape', () => {
  it('prints a row for each shape, model name and subject', function everyShape() {
    this.timeout(180_000);
    const { status, stdout, stderr } = spawnSync(process.execPath, [BENCH, '--quick'], { encoding: 'utf8' });
    expect(status, stderr).to.equal(0);
    const rows = stdout.split('\n').filter((line) => line.startsWith('| ')).map((line) => line.split('|').slice(1, 4).map((cell) => cell.trim()).join(' '));
    expect(rows.slice(1)).to.have.members(NAMINGS.flatMap((naming) => SHAPES.flatMap((shape) => ['floor', 'gw'].map((subject) => `${shape} ${naming} ${subject}`))));
  });

  it('prints starts of checkout and package, and the phases of a start and a reload', function everyPhase() {
    this.timeout(300_000);
    const { status, stdout, stderr } = spawnSync(process.execPath, [BENCH, '--start', '--quick'], { encoding: 'utf8' });
    expect(status, stderr).to.equal(0);
    const rows = stdout.split('\n').filter((line) => line.startsWith('| ')).map((line) => line.split('|').slice(1, -1).map((cell) => cell.trim()));
    expect(rows.map(([name]) => name)).to.include.members(['gw', 'gw (package)', 'imports', 'checks of the shipped modules', 'listening', 'reload: reading']);
    for (const row of rows) expect(row).to.have.lengthOf(3);
  });
});
