import { execFile } from 'node:child_process';
import { expect } from 'chai';
import { type Cell, csvLine, figure } from '../../../builtins/admin/spend/csv.ts';
import { cases, Dice, requireTool } from '../../kit/index.ts';
import { askSpend, csvOf, hourAt, naiveReader, randomRows } from './kit.ts';

const RANGE = { from: hourAt('2026-11-01T00:00:00Z'), to: hourAt('2026-11-26T00:00:00Z') };

/** What Python's reader makes of a table. */
async function pythonReads(python: string, table: string): Promise<string[][]> {
  const script = `import csv, io, json, sys
text = sys.stdin.buffer.read().decode('utf-8')
print(json.dumps(list(csv.reader(io.StringIO(text, newline=''), strict=True))))`;
  const text = await new Promise<string>((resolve, reject) => {
    const child = execFile(python, ['-c', script], { maxBuffer: 1 << 26 }, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    );
    child.stdin?.end(table);
  });
  return JSON.parse(text) as string[][];
}

const HOSTILE = [
  '=cmd|"/c calc"!A1',
  '+1',
  '-1',
  '@SUM(A1)',
  '"',
  '""',
  'a\r\nb',
  '\n',
  ',',
  ',,',
  "'",
  '',
  ' ',
  'ü 模型 😀',
  '\t=1',
];
/** As a text stands in a table. */
const guarded = (text: string): string => (/^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text);

describe('a table of spend', () => {
  it('is read by the reader of Python as it was meant, hostile texts included', async function () {
    const python = requireTool(this, 'python3');
    const dice = new Dice(5);
    const lines = Array.from({ length: cases(2000) }, () =>
      Array.from({ length: 6 }, (): Cell => {
        if (dice.below(4) === 0) return figure(-dice.below(1e9) / 1e6);
        return Array.from({ length: 1 + dice.below(3) }, () => dice.pick(HOSTILE)).join('');
      }),
    );
    const read = await pythonReads(python, lines.map(csvLine).join(''));
    expect(read).to.deep.equal(
      lines.map((line) => line.map((cell) => (typeof cell === 'string' ? guarded(cell) : cell.figure))),
    );
  });

  it('of a report holds every name and every sum that JSON has', async function () {
    const python = requireTool(this, 'python3');
    const reader = naiveReader(randomRows(21, 300, RANGE));
    const asked = 'by=model,target,tag&bucket=week&from=2026-11-01T00:00:00Z';
    const { data } = (await askSpend(reader, `${asked}&limit=1000`)).body as { data: Record<string, unknown>[] };
    const [header = [], ...rows] = await pythonReads(python, await csvOf(reader, `${asked}&format=csv`));
    expect(header.slice(0, 4)).to.deep.equal(['bucket', 'model', 'target', 'tag']);
    expect(header.toSorted()).to.deep.equal(Object.keys(data[0]!).toSorted());
    const shown = (value: unknown): string => (typeof value === 'string' ? guarded(value) : String(value));
    expect(rows.slice(0, data.length)).to.deep.equal(data.map((row) => header.map((name) => shown(row[name]))));
  });

  it('is a download', async () => {
    const { headers, content } = await askSpend(naiveReader([]), 'by=account&bucket=day&format=csv');
    expect(headers).to.deep.equal(['Content-Disposition', 'attachment; filename="spend.csv"']);
    expect(content?.type).to.equal('text/csv; charset=utf-8');
    expect(String(content?.body)).to.equal(
      'bucket,account,requests,prompt_tokens,completion_tokens,cache_read_tokens,cache_write_tokens,images,unpriced,usd,micro_usd,estimated_usd,reported_usd\r\n',
    );
  });
});
