import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { FAULT_NAMES, FAULTS, type FaultName, type FaultOptions } from './kinds.ts';
import type { WireCall } from './requests.ts';

/** What one request meets. */
export interface FaultStep extends FaultOptions {
  readonly fault: FaultName;
}

export interface FaultCall extends WireCall {
  /** How many requests came before it. */
  readonly place: number;
  /** How many came before it with the same key. */
  readonly nth: number;
  /** Uniform in [0, 1), from the seed. */
  readonly random: () => number;
}

/** Decides what each request meets. The same calls and seed, the same decisions. */
export type FaultScript = (call: FaultCall) => FaultStep;

/** A line of a script: so many requests meet a fault, or one drawn by weight. */
type ScriptLine = FaultOptions & { readonly times?: number } & (
    | { readonly fault: FaultName }
    | { readonly mix: Readonly<Partial<Record<FaultName, number>>> }
  );

/** A script as operators write it, in YAML or JSON. */
export interface ScriptFile {
  readonly steps: readonly ScriptLine[];
  /** What comes after the last step: the first one again, or ordinary answers. */
  readonly then?: 'repeat' | 'ok';
}

/** Rehearsals for the outages that happen most. */
export const SCRIPTS: Readonly<Record<string, { readonly summary: string; readonly file: ScriptFile }>> = {
  ok: { summary: 'nothing goes wrong', file: { steps: [{ fault: 'ok' }], then: 'repeat' } },
  outage: {
    summary: 'ten good answers, thirty failures in a row, then well again',
    file: {
      steps: [
        { fault: 'ok', times: 10 },
        { fault: 'status', status: 503, times: 30 },
      ],
      then: 'ok',
    },
  },
  unreachable: { summary: 'every connection is reset', file: { steps: [{ fault: 'reset-before' }], then: 'repeat' } },
  brownout: {
    summary: 'slow, and one request in four fails',
    file: {
      steps: [{ mix: { 'slow-headers': 5, 'slow-chunks': 4, status: 2, silence: 1 }, wait_ms: 1500, status: 503 }],
      then: 'repeat',
    },
  },
  'rate-limit': {
    summary: 'five answers, then 429 with Retry-After: 3 for twenty requests, over and over',
    file: {
      steps: [
        { fault: 'ok', times: 5 },
        { fault: 'rate-limit', headers: { 'retry-after': '3' }, times: 20 },
      ],
      then: 'repeat',
    },
  },
  'broken-streams': {
    summary: 'every other stream breaks after it began',
    file: {
      steps: [{ mix: { ok: 4, 'reset-in-body': 1, 'close-in-body': 1, 'error-event': 1, 'no-end': 1 } }],
      then: 'repeat',
    },
  },
  silence: {
    summary: 'answers begin and stop, or never begin',
    file: { steps: [{ mix: { ok: 2, silence: 1, stall: 1 } }], then: 'repeat' },
  },
  'revoked-key': {
    summary: 'the provider refuses the credential',
    file: { steps: [{ fault: 'status', status: 401, message: 'this key was revoked' }], then: 'repeat' },
  },
  chaos: {
    summary: 'every fault there is, as often as good answers',
    file: {
      steps: [{ mix: { ...Object.fromEntries(FAULT_NAMES.map((name) => [name, 1])), ok: FAULT_NAMES.length } }],
      then: 'repeat',
    },
  },
};

/** The script of that name, or of the file at that path. Throws with a message for people. */
export function loadScript(nameOrPath: string): FaultScript {
  const known = SCRIPTS[nameOrPath];
  if (known) return compileScript(known.file);
  let text: string;
  try {
    text = readFileSync(nameOrPath, 'utf8');
  } catch {
    throw new Error(
      `"${nameOrPath}" is neither a script (${Object.keys(SCRIPTS).join(', ')}) nor a file that can be read`,
    );
  }
  return compileScript(checkScript(parse(text), nameOrPath));
}

/** Lines in order, each as often as it says. */
export function compileScript({ steps, then = 'ok' }: ScriptFile): FaultScript {
  const ends: number[] = [];
  for (const { times = 1 } of steps) ends.push((ends.at(-1) ?? 0) + times);
  const total = ends.at(-1) ?? 0;
  return ({ place, random }) => {
    const at = then === 'repeat' ? place % total : place;
    const line = steps[ends.findIndex((end) => at < end)];
    if (!line) return { fault: 'ok' };
    const { times: _times, ...rest } = line;
    if ('fault' in rest) return rest;
    const { mix, ...options } = rest;
    return { ...options, fault: drawn(mix, random) };
  };
}

function drawn(mix: Readonly<Partial<Record<FaultName, number>>>, random: () => number): FaultName {
  const weights = Object.entries(mix) as readonly (readonly [FaultName, number])[];
  let left = random() * weights.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [name, weight] of weights) {
    left -= weight;
    if (left < 0) return name;
  }
  return 'ok';
}

const KEYS: ReadonlySet<string> = new Set(['fault', 'mix', 'times', 'status', 'headers', 'message', 'wait_ms', 'at']);

function checkScript(value: unknown, path: string): ScriptFile {
  const refuse = (why: string): never => {
    throw new Error(`${path}: ${why}`);
  };
  const { steps, then, ...others } = (typeof value === 'object' && value !== null ? value : {}) as Partial<
    Record<string, unknown>
  >;
  if (!Array.isArray(steps) || steps.length === 0)
    return refuse('a script is an object with a list "steps" of at least one line');
  if (Object.keys(others).length > 0)
    refuse(`unknown key "${Object.keys(others)[0]}"; a script has "steps" and "then"`);
  if (then !== undefined && then !== 'repeat' && then !== 'ok') refuse('"then" is "repeat" or "ok"');
  for (const [at, line] of (steps as readonly unknown[]).entries())
    checkLine(line, (why) => refuse(`steps[${at}]: ${why}`));
  return value as ScriptFile;
}

function checkLine(value: unknown, refuse: (why: string) => never): void {
  if (typeof value !== 'object' || value === null) refuse('must be an object');
  const line = value as Readonly<Record<string, unknown>>;
  const strange = Object.keys(line).find((key) => !KEYS.has(key));
  if (strange !== undefined) refuse(`unknown key "${strange}"; known are ${[...KEYS].join(', ')}`);
  if ((line['fault'] === undefined) === (line['mix'] === undefined)) refuse('needs either "fault" or "mix"');
  const { fault, mix } = line;
  if (fault === undefined && (typeof mix !== 'object' || mix === null)) refuse('"mix" must be an object of weights');
  const names =
    fault === undefined ? Object.keys(mix as object) : [typeof fault === 'string' ? fault : JSON.stringify(fault)];
  for (const name of names)
    if (!Object.hasOwn(FAULTS, name)) refuse(`unknown fault "${name}"; known are ${FAULT_NAMES.join(', ')}`);
  if (fault === undefined && Object.values(mix as object).some((weight) => typeof weight !== 'number' || weight < 0))
    refuse('the weights of "mix" must be numbers, 0 or more');
  for (const key of ['times', 'status', 'wait_ms', 'at']) {
    const number = line[key];
    if (number !== undefined && (!Number.isInteger(number) || (number as number) < 1))
      refuse(`"${key}" must be a whole number above 0`);
  }
}
