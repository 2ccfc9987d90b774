import { setTimeout as sleep } from 'node:timers/promises';
import { CHUNKS, endpointOf, isStream, type Naming, requestBody, type Shape } from './bodies.ts';
import { median, ratiosTo, type Row, type Values } from './figures.ts';
import type { Generators } from './generators.ts';
import type { LoadOrder, LoadResult } from './load.ts';
import type { Drive, Plan } from './options.ts';
import type { RunningSubject, Subject } from './subjects.ts';
import type { Upstreams } from './upstreams.ts';
import { cpuMicroseconds, peakResidentMb } from './usage.ts';

export interface Setting {
  readonly plan: Plan;
  readonly upstreams: Upstreams;
  readonly generators: Generators;
}

/** Log lines and timers that a run leaves behind belong to its cost. */
export const SETTLE_MS = 60;

interface Samples {
  readonly running: RunningSubject;
  readonly readyMs: readonly number[];
  readonly requestsPerSecond: number[];
  readonly cpuPerRequest: number[];
  readonly p50: number[];
  readonly p99: number[];
}

type Target = Pick<RunningSubject, 'name' | 'baseUrl' | 'headers'>;

/** One row a subject, all measured in turns; the first subject is what the others are compared with. */
export async function measure(
  setting: Setting,
  subjects: readonly Subject[],
  shape: Shape,
  naming: Naming,
): Promise<Row[]> {
  const passes: Values[][] = [];
  for (let pass = 0; pass < setting.plan.processes; pass += 1)
    passes.push(await measurePass(setting, subjects, shape, naming));
  const values = subjects.map((_unused, index) => mediansOf(passes.map((pass) => pass[index]!)));
  return values.map((value, index) => ({
    shape,
    naming,
    subject: subjects[index]!.name,
    values: value,
    ratios: ratiosTo(values[0]!, value),
  }));
}

/** One process of each subject. Two processes of the same program differ by up to a tenth, for as long as they run. */
async function measurePass(
  setting: Setting,
  subjects: readonly Subject[],
  shape: Shape,
  naming: Naming,
): Promise<Values[]> {
  const { plan, upstreams } = setting;
  const upstreamUrl = upstreams.baseUrl(shape, naming);
  const samples = await startAll(subjects, upstreamUrl, plan.starts);
  const ask = asker(setting, shape);
  const directly: Target = {
    name: 'the upstream',
    baseUrl: upstreamUrl,
    headers: { 'content-type': 'application/json' },
  };
  const direct = { p50: [] as number[], p99: [] as number[] };
  for (const sample of samples) await checkAnswer(sample.running, shape);
  for (let round = -plan.warmUps; round < plan.rounds; round += 1) {
    const turn = round + plan.warmUps;
    const base = await ask('latency', directly);
    if (round >= 0) keep(direct, base);
    // Each sample is first in turn.
    for (let index = 0; index < samples.length; index += 1)
      await measureOnce(ask, samples[(index + turn) % samples.length]!, round >= 0);
  }
  const values = samples.map((sample) =>
    summarise(sample, shape, { p50: median(direct.p50), p99: median(direct.p99) }),
  );
  for (const { running } of samples) await running.stop();
  return values;
}

/** The median of each figure over the processes. */
function mediansOf(passes: readonly Values[]): Values {
  const [first] = passes;
  const entries = Object.entries(first!).map(([name, value]: [string, number | null]) => {
    const figures = passes.map((pass) => pass[name as keyof Values]).filter((figure) => figure !== null);
    return [name, value === null ? null : median(figures)];
  });
  return Object.fromEntries(entries) as Values;
}

async function startAll(subjects: readonly Subject[], upstreamUrl: string, starts: number): Promise<Samples[]> {
  const readyMs = subjects.map(() => [] as number[]);
  const last: RunningSubject[] = [];
  for (let start = 1; start <= starts; start += 1) {
    for (const [index, subject] of subjects.entries()) {
      const running = await subject.start(upstreamUrl);
      readyMs[index]!.push(running.readyMs);
      if (start < starts) await running.stop();
      else last.push(running);
    }
  }
  return last.map((running, index) => ({
    running,
    readyMs: readyMs[index]!,
    requestsPerSecond: [],
    cpuPerRequest: [],
    p50: [],
    p99: [],
  }));
}

type Ask = (kind: 'load' | 'latency', target: Target) => Promise<LoadResult>;

/** Throws when any request fails: figures of errors mean nothing. */
export function asker({ plan, generators }: Setting, shape: Shape): Ask {
  const body = requestBody(shape);
  const until = shape === 'paced' ? 'first-piece' : 'end';
  return async (kind, { name, baseUrl, headers }) => {
    const { requests, connections }: Drive = plan[kind][shape];
    const order: LoadOrder = { url: `${baseUrl}${endpointOf(shape)}`, headers, body, requests, connections, until };
    const result = await generators[kind](shape)(order);
    if (result.failures > 0) throw new Error(`${result.failures} of ${requests} ${shape} requests to ${name} failed`);
    return result;
  };
}

/** What a whole answer holds. */
const STREAMED = ['"stop"', '[DONE]'];
const MARKS: Readonly<Record<Shape, readonly string[]>> = {
  unary: ['Rayleigh'],
  forwarded: ['Rayleigh'],
  burst: STREAMED,
  paced: STREAMED,
  messages: ['"end_turn"', '"message_stop"'],
};

/** The subject answers what the upstream said, whole. */
export async function checkAnswer({ name, baseUrl, headers }: Target, shape: Shape): Promise<void> {
  const reply = await fetch(`${baseUrl}${endpointOf(shape)}`, {
    method: 'POST',
    headers: { ...headers },
    body: requestBody(shape),
  });
  const text = await reply.text();
  const isWhole = MARKS[shape].every((mark) => text.includes(mark));
  if (reply.status !== 200 || !isWhole)
    throw new Error(`${name} answers a ${shape} request with ${reply.status}: ${text.slice(0, 500)}`);
}

async function measureOnce(ask: Ask, sample: Samples, counts: boolean): Promise<void> {
  const latency = await ask('latency', sample.running);
  const before = cpuMicroseconds(sample.running.pid);
  const { requests, seconds } = await ask('load', sample.running);
  await sleep(SETTLE_MS);
  const used = cpuMicroseconds(sample.running.pid) - before;
  if (!counts) return;
  keep(sample, latency);
  sample.requestsPerSecond.push(requests / seconds);
  sample.cpuPerRequest.push(used / requests);
}

function keep(into: { readonly p50: number[]; readonly p99: number[] }, { p50, p99 }: LoadResult): void {
  into.p50.push(p50);
  into.p99.push(p99);
}

function summarise(sample: Samples, shape: Shape, direct: { readonly p50: number; readonly p99: number }): Values {
  const cpuPerRequest = median(sample.cpuPerRequest);
  return {
    requestsPerSecond: median(sample.requestsPerSecond),
    cpuPerRequest,
    cpuPerChunk: isStream(shape) ? cpuPerRequest / CHUNKS : null,
    addedP50: median(sample.p50) - direct.p50,
    addedP99: median(sample.p99) - direct.p99,
    peakMb: peakResidentMb(sample.running.pid),
    readyMs: median(sample.readyMs),
  };
}
