/**
 * Records what an earlier revision makes of 10,000 generated configurations: `npm run no-change -- --from <revision>`. With
 * `--compare <seed>` it prints instead what that revision and the code as it stands make of one of them, where they part.
 */
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { checkOut } from '../bench/against.ts';
import { PROJECT } from '../bench/subjects.ts';
import { createWorkspace, type Workspace } from '../bench/workspace.ts';
import { parting } from './parting.ts';
import { readDigests, writeDigests } from './digests.ts';

const CASES = 10_000;
const PROCESSES = 2;
const PROGRAM = fileURLToPath(new URL('observe-program.ts', import.meta.url));

interface Range {
  readonly first: number;
  readonly last: number;
  readonly form: 'digests' | 'texts';
}

async function observe(workspace: Workspace, root: string, { first, last, form }: Range): Promise<readonly string[]> {
  const command = [process.execPath, PROGRAM, root, String(first), String(last), form];
  return (await workspace.run(command)).trim().split('\n');
}

async function record(workspace: Workspace, folder: string): Promise<readonly string[]> {
  const each = CASES / PROCESSES;
  const parts = Array.from({ length: PROCESSES }, (_none, at) =>
    observe(workspace, folder, { first: at * each + 1, last: (at + 1) * each, form: 'digests' }),
  );
  return (await Promise.all(parts)).flat();
}

async function compare(workspace: Workspace, folder: string, seed: number): Promise<string> {
  const range = { first: seed, last: seed, form: 'texts' } as const;
  const [[before = '""'], [after = '""']] = [
    await observe(workspace, folder, range),
    await observe(workspace, PROJECT, range),
  ];
  return parting(JSON.parse(before) as string, JSON.parse(after) as string);
}

const text = { type: 'string' } as const;
const { from, compare: seed } = parseArgs({ options: { from: text, compare: text } }).values;
const workspace = createWorkspace();
const { hash, folder } = await checkOut(workspace, from ?? readDigests().revision);
if (seed === undefined) writeDigests({ revision: hash, digests: await record(workspace, folder) });
else process.stdout.write(`${await compare(workspace, folder, Number(seed))}\n`);
