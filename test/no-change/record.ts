/**
 * Records what an earlier revision makes of 10,000 generated configurations: `npm run no-change -- --from <revision>`. With
 * `--compare <seed>` it prints instead where that revision and the code as it stands part on one of them.
 */
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { checkOut } from '../bench/against.ts';
import { PROJECT } from '../bench/subjects.ts';
import { createWorkspace, type Workspace } from '../bench/workspace.ts';
import { parting } from './parting.ts';
import { readRecorded, type Recorded, writeRecorded } from './recorded.ts';
import type { Unused } from './unused.ts';

const CASES = 10_000;
const PROCESSES = 2;
const PROGRAM = fileURLToPath(new URL('observe-program.ts', import.meta.url));

/** Lines of a process that runs the code of a folder. */
type Observe = (folder: string, ...args: readonly string[]) => Promise<readonly string[]>;

const observing =
  (workspace: Workspace): Observe =>
  async (folder, ...args) =>
    (await workspace.run([process.execPath, PROGRAM, folder, ...args])).trim().split('\n');

async function record(observe: Observe, folder: string): Promise<Omit<Recorded, 'revision'>> {
  const each = CASES / PROCESSES;
  const [unused = ''] = await observe(folder, 'unused');
  const parts = Array.from({ length: PROCESSES }, (_none, at) =>
    observe(folder, 'digests', String(at * each + 1), String((at + 1) * each)),
  );
  return { digests: (await Promise.all(parts)).flat(), unused: JSON.parse(unused) as Unused };
}

async function compare(observe: Observe, folder: string, seed: string): Promise<string> {
  const [before = ''] = await observe(folder, 'texts', seed);
  const [after = ''] = await observe(PROJECT, 'texts', seed);
  return parting(JSON.parse(before) as string, JSON.parse(after) as string);
}

const text = { type: 'string' } as const;
const { from, compare: seed } = parseArgs({ options: { from: text, compare: text } }).values;
if (from === undefined && seed === undefined) {
  process.stderr.write('usage: npm run no-change -- --from <revision> | --compare <seed>\n');
  process.exit(2);
}
const workspace = createWorkspace();
const observe = observing(workspace);
const { hash, folder } = await checkOut(workspace, from ?? readRecorded().revision);
if (seed === undefined) writeRecorded({ revision: hash, ...(await record(observe, folder)) });
else process.stdout.write(`${await compare(observe, folder, seed)}\n`);
