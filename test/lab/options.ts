import { parseArgs } from 'node:util';
import { FAULTS, SCRIPTS } from '../kit/faults/index.ts';

export interface LabOptions {
  readonly port: number;
  /** Name of a script, or the path of one. */
  readonly script: string;
  readonly seed: number;
  /** Prints what there is, and ends. */
  readonly isList: boolean;
}

export const USAGE = `usage: npm run lab -- [--port <port>] [--script <name or file>] [--seed <number>] [--list]
  --port <port>    where it listens, on 127.0.0.1; 9000 unless said, 0 for a free one
  --script <name>  what goes wrong: ${Object.keys(SCRIPTS).join(', ')}, or a YAML or JSON file; chaos unless said
  --seed <number>  the same seed, the same faults; 1 unless said
  --list           prints all scripts and faults
`;

/** Throws an Error with a message for people. */
export function readOptions(args: readonly string[]): LabOptions {
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    options: {
      port: { type: 'string', default: '9000' },
      script: { type: 'string', default: 'chaos' },
      seed: { type: 'string', default: '1' },
      list: { type: 'boolean', default: false },
    },
  });
  const { port, script, seed, list } = values;
  return { port: whole('--port', port, 65_535), script, seed: whole('--seed', seed, 2 ** 31 - 1), isList: list };
}

function whole(name: string, text: string, max: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > max) throw new Error(`${name} must be a whole number up to ${max}, not "${text}"`);
  return value;
}

export function catalogue(): string {
  const lines = (entries: Readonly<Record<string, { readonly summary: string }>>): string[] =>
    Object.entries(entries).map(([name, { summary }]) => `  ${name.padEnd(17)} ${summary}`);
  return ['scripts:', ...lines(SCRIPTS), '', 'faults:', ...lines(FAULTS), ''].join('\n');
}
