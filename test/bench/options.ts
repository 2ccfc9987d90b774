import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { isShape, type Shape, SHAPES } from './bodies.ts';
import { PEERS } from './peers.ts';

/** How much a run does. */
export interface Plan {
  /** Measured rounds; every figure is the median over them. */
  readonly rounds: number;
  /** Rounds before them that are not counted: the compiler is still at work. */
  readonly warmUps: number;
  /** Processes of each subject that are measured, one after the other; every figure is the median over them. */
  readonly processes: number;
  /** Times each subject is started for a process that is measured; time to ready is the median. */
  readonly starts: number;
  readonly load: Readonly<Record<Shape, Drive>>;
  readonly latency: Readonly<Record<Shape, Drive>>;
  /** Requests after which the gateway's memory is read. */
  readonly memoryAfter: readonly number[];
}

export interface Drive {
  readonly requests: number;
  readonly connections: number;
}

export const FULL: Plan = {
  rounds: 5,
  warmUps: 5,
  processes: 1,
  starts: 3,
  load: {
    unary: { requests: 10_000, connections: 16 },
    forwarded: { requests: 10_000, connections: 16 },
    burst: { requests: 2500, connections: 16 },
    paced: { requests: 160, connections: 16 },
    messages: { requests: 2500, connections: 16 },
  },
  latency: {
    unary: { requests: 1000, connections: 1 },
    forwarded: { requests: 1000, connections: 1 },
    burst: { requests: 200, connections: 1 },
    paced: { requests: 16, connections: 4 },
    messages: { requests: 200, connections: 1 },
  },
  memoryAfter: [100_000, 200_000],
};

/** Enough to see that everything works; its figures say little. */
export const QUICK: Plan = {
  rounds: 1,
  warmUps: 0,
  processes: 1,
  starts: 1,
  load: {
    unary: { requests: 1500, connections: 16 },
    forwarded: { requests: 1500, connections: 16 },
    burst: { requests: 400, connections: 16 },
    paced: { requests: 16, connections: 16 },
    messages: { requests: 400, connections: 16 },
  },
  latency: {
    unary: { requests: 200, connections: 1 },
    forwarded: { requests: 200, connections: 1 },
    burst: { requests: 60, connections: 1 },
    paced: { requests: 8, connections: 4 },
    messages: { requests: 60, connections: 1 },
  },
  memoryAfter: [],
};

/** Starts whose median counts. */
const STARTS = 9;
/** Processes of each subject of a paired run. */
const PAIRED_PROCESSES = 8;

export interface Options {
  readonly plan: Plan;
  readonly isQuick: boolean;
  /** Keys of `PEERS`. */
  readonly peers: readonly string[];
  readonly against: readonly string[];
  readonly shapes: readonly Shape[];
  readonly isResilient: boolean;
  /** Streams pass a guardrail that looks in a window and one that masks. */
  readonly isGuarded: boolean;
  /** The gateway that keeps a request log is measured too. */
  readonly isLogging: boolean;
  /** Starts alone are measured, this many of each subject. */
  readonly startsOnly?: number;
  /** Bytes alone are counted. */
  readonly allocationsOnly: boolean;
  /** The gateway alone is measured, without and with all that watches it. */
  readonly telemetryOnly: boolean;
  /** CPU time alone is compared, in many short rounds in turns. */
  readonly pairedOnly: boolean;
  /** Where the figures go as JSON. */
  readonly jsonFile?: string;
}

export const USAGE = `usage: bench [--peer <name>]... [--against <commit>]... [--shape <name>]... [--resilience] [--guards] [--logging] [--processes <n>] [--start | --allocations | --telemetry | --paired] [--quick] [--json [file]]
  --peer <name>       measure this gateway too (${Object.keys(PEERS).join(', ')})
  --against <commit>  measure an earlier state of this project too
  --shape <name>      measure this shape alone (${SHAPES.join(', ')}); may be repeated
  --resilience        configure retries, a circuit breaker and a concurrency limit
  --guards            configure word-filter in a window and pii-redact for answers
  --logging           measure the gateway with a request log on SQLite too
  --processes <n>     measure so many processes of each, one after the other: two of the same program differ by up to a tenth
  --start             measure starts alone: this checkout, its package, earlier states, and each phase
  --allocations       count the bytes alone that a request allocates, of this checkout and of earlier states
  --telemetry         measure the gateway alone: log, figures and traces off, and all of them on
  --paired            compare the CPU time alone with that of earlier states, in short rounds in turns, of ${PAIRED_PROCESSES} processes unless said
  --quick             small counts, no memory section: a smoke test
  --json [file]       write the figures to a file as well
`;

/** Throws an Error with a message for the user. */
export function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      peer: { type: 'string', multiple: true },
      against: { type: 'string', multiple: true },
      shape: { type: 'string', multiple: true },
      resilience: { type: 'boolean' },
      guards: { type: 'boolean' },
      logging: { type: 'boolean' },
      processes: { type: 'string' },
      start: { type: 'boolean' },
      allocations: { type: 'boolean' },
      telemetry: { type: 'boolean' },
      paired: { type: 'boolean' },
      quick: { type: 'boolean' },
      json: { type: 'boolean' },
    },
  });
  const {
    peer: peers = [],
    against = [],
    shape: shapes = SHAPES,
    resilience: isResilient = false,
    guards: isGuarded = false,
    logging: isLogging = false,
    processes: count,
    start: isStart = false,
    allocations: allocationsOnly = false,
    telemetry: telemetryOnly = false,
    paired: pairedOnly = false,
    quick: isQuick = false,
    json: wantsJson = false,
  } = values;
  const unknown = peers.find((name) => !Object.hasOwn(PEERS, name));
  if (unknown !== undefined) throw new Error(`no peer "${unknown}", known are: ${Object.keys(PEERS).join(', ')}`);
  if (!shapes.every(isShape))
    throw new Error(`no shape "${shapes.find((shape) => !isShape(shape))}", known are: ${SHAPES.join(', ')}`);
  const [file, ...surplus] = positionals;
  if (surplus.length > 0 || (file !== undefined && !wantsJson))
    throw new Error(`unexpected argument "${surplus[0] ?? file}"`);
  if ([isStart, allocationsOnly, telemetryOnly, pairedOnly].filter(Boolean).length > 1)
    throw new Error('--start, --allocations, --telemetry and --paired exclude each other');
  if (pairedOnly && against.length === 0 && !isLogging)
    throw new Error('--paired needs something to compare with: --against or --logging');
  const processes = Number(count ?? (pairedOnly && !isQuick ? PAIRED_PROCESSES : 1));
  if (!Number.isInteger(processes) || processes < 1)
    throw new Error(`--processes is ${count}, and must be a whole number from 1 on`);
  const plan = { ...(isQuick ? QUICK : FULL), processes, ...(processes > 1 && { starts: 1 }) };
  const shared = {
    plan,
    isQuick,
    peers,
    against,
    shapes,
    isResilient,
    isGuarded,
    isLogging,
    allocationsOnly,
    telemetryOnly,
    pairedOnly,
    ...(isStart && { startsOnly: isQuick ? 1 : STARTS }),
  };
  return wantsJson ? { ...shared, jsonFile: resolve(file ?? join(tmpdir(), `gw-bench-${Date.now()}.json`)) } : shared;
}
