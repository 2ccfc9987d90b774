/**
 * Shows that a refactoring changed no answer: `npm run replay -- --against <revision>`. A fixed set of exchanges runs through
 * the gateway as it stands and through that of an earlier revision; what clients got and what upstreams were sent is
 * compared byte by byte. The exit code is 1 where anything differs.
 */
import { parseArgs } from 'node:util';
import { checkOut } from '../bench/against.ts';
import { PROJECT } from '../bench/subjects.ts';
import { createWorkspace } from '../bench/workspace.ts';
import { differences } from './compare.ts';
import { describe, summary } from './print.ts';
import { record } from './record.ts';
import { chosen, TOTAL } from './scenes/scenes.ts';

const USAGE = `usage: npm run replay -- --against <revision> [--only <text>] [--exchanges <number>] [--show <number>]
  --against    the revision of git to compare with
  --only       exchanges whose title holds this text, such as "strict · messages"
  --exchanges  at most so many of them, evenly over all (${TOTAL})
  --show       how many differences to print (10)
`;

interface Options {
  readonly against: string;
  readonly only: string;
  readonly exchanges: number;
  readonly show: number;
}

function readOptions(): Options {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({ options: { against: text, only: text, exchanges: text, show: text } });
  const number = (name: 'exchanges' | 'show', usual: number): number => {
    const value = Number(values[name] ?? usual);
    if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} must be a whole number above 0`);
    return value;
  };
  if (!values.against) throw new Error('--against must name a revision');
  return {
    against: values.against,
    only: values.only ?? '',
    exchanges: number('exchanges', TOTAL),
    show: number('show', 10),
  };
}

function tell(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function main({ against, only, exchanges, show }: Options): Promise<number> {
  const scenes = chosen(only, exchanges);
  if (scenes.length === 0) throw new Error(`the title of no exchange holds "${only}"`);
  const workspace = createWorkspace();
  const { folder, hash } = await checkOut(workspace, against);
  const before = await record(workspace, folder, scenes);
  const after = await record(workspace, PROJECT, scenes);
  const found = differences(before, after);
  for (const difference of found.slice(0, show)) tell(`${describe(difference)}\n`);
  if (found.length > show) tell(`… and ${found.length - show} more\n`);
  tell(`${summary(scenes.length, found.length)} from ${hash}`);
  return found.length > 0 ? 1 : 0;
}

let options: Options;
try {
  options = readOptions();
} catch (error) {
  process.stderr.write(`replay: ${(error as Error).message}\n${USAGE}`);
  process.exit(2);
}
process.exitCode = await main(options);
