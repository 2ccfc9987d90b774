/** `npm run bench`: what the gateway costs, beside a bare proxy and beside others, on this machine, in one run. */
import { writeFileSync } from 'node:fs';
import { against } from './against.ts';
import { formatAllocations, measureAllocations } from './allocations.ts';
import { NAMINGS, type Shape } from './bodies.ts';
import type { Row } from './figures.ts';
import { startGenerators } from './generators.ts';
import { exploreMachine } from './machine.ts';
import { measure, type Setting } from './measure.ts';
import { measureMemory } from './memory.ts';
import { type Options, readOptions, USAGE } from './options.ts';
import { formatPaired, measurePaired, pairedPlan } from './paired.ts';
import { peer } from './peers.ts';
import { formatReport, type Report } from './report.ts';
import { type Bench, floor, gateway, KEEPS_LOG, PROJECT, type Subject } from './subjects.ts';
import { formatStarts, measureStarts } from './starts.ts';
import { settledPlan, telemetrySubjects } from './telemetry.ts';
import { startUpstreams } from './upstreams.ts';
import { createWorkspace } from './workspace.ts';

const NEEDED_NODE = 24;

async function run(bench: Bench, options: Options): Promise<Report> {
  const { machine } = bench;
  const subject = gateway(bench, 'gw', PROJECT);
  const subjects = options.telemetryOnly
    ? await telemetrySubjects(bench)
    : [floor(bench), subject, ...(await others(bench, options))];
  const setting = await settingOf(bench, options);
  const { generators, upstreams } = setting;
  const rows = await measureAll(setting, subjects, options.shapes);
  const memory =
    options.plan.memoryAfter.length > 0 && !options.telemetryOnly ? await measureMemory(setting, subject) : [];
  return {
    at: new Date().toISOString(),
    isQuick: options.isQuick,
    rows,
    memory,
    facts: { ...machine.facts, load: generators.programs, upstream: upstreams.programs },
  };
}

async function settingOf({ workspace, machine }: Bench, { plan, telemetryOnly }: Options): Promise<Setting> {
  return {
    plan: telemetryOnly ? settledPlan(plan) : plan,
    upstreams: await startUpstreams(workspace, machine),
    generators: startGenerators(workspace, machine),
  };
}

async function others(bench: Bench, options: Options): Promise<Subject[]> {
  const subjects: Subject[] = options.isLogging ? [gateway(bench, 'gw+log', PROJECT, KEEPS_LOG)] : [];
  for (const commit of options.against) subjects.push(await against(bench, commit));
  for (const name of options.peers) subjects.push(await peer(bench, name));
  return subjects;
}

async function measureAll(setting: Setting, subjects: readonly Subject[], shapes: readonly Shape[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const naming of NAMINGS) {
    for (const shape of shapes) {
      process.stderr.write(
        `measuring ${shape}, upstream answers with ${naming === 'same' ? 'the requested model' : 'a dated model'}\n`,
      );
      rows.push(
        ...(await measure(
          setting,
          subjects.filter(({ isChatOnly = false }) => !isChatOnly || (shape !== 'forwarded' && shape !== 'messages')),
          shape,
          naming,
        )),
      );
    }
  }
  return rows;
}

/** Ends the process: what runs beside it ends with it. */
async function main(args: readonly string[]): Promise<never> {
  if (Number(process.versions.node.split('.')[0]) < NEEDED_NODE)
    throw new Error(`the bench needs Node ${NEEDED_NODE} or later, this is ${process.versions.node}`);
  const options = optionsOrUsage(args);
  const bench = {
    workspace: createWorkspace(),
    machine: exploreMachine(),
    isResilient: options.isResilient,
    isGuarded: options.isGuarded,
    countsAllocations: options.allocationsOnly,
  };
  const { text, report } = await results(bench, options);
  await bench.workspace.close();
  if (options.jsonFile !== undefined) {
    writeFileSync(options.jsonFile, `${JSON.stringify(report, undefined, 2)}\n`);
    process.stderr.write(`figures: ${options.jsonFile}\n`);
  }
  writeFileSync(process.stdout.fd, text);
  process.exit();
}

interface Result {
  readonly text: string;
  /** What `--json` writes. */
  readonly report: object;
}

function results(bench: Bench, options: Options): Promise<Result> {
  if (options.startsOnly !== undefined) return starts(bench, options, options.startsOnly);
  if (options.pairedOnly) return paired(bench, options);
  return options.allocationsOnly ? allocations(bench, options) : requests(bench, options);
}

async function paired(bench: Bench, options: Options): Promise<Result> {
  const [compared, subject] = [await others(bench, options), gateway(bench, 'gw', PROJECT)];
  const subjects = options.isLogging
    ? [...compared.slice(0, 1), subject, ...compared.slice(1)]
    : [subject, ...compared];
  const setting = await settingOf(bench, { ...options, plan: pairedPlan(options.plan, options.isQuick) });
  const rows = await measurePaired(setting, subjects, options.shapes);
  return { text: formatPaired(rows), report: { paired: rows } };
}

async function allocations(bench: Bench, options: Options): Promise<Result> {
  const subjects = [...(await others(bench, { ...options, peers: [] })), gateway(bench, 'gw', PROJECT)];
  const rows = await measureAllocations(await settingOf(bench, options), subjects, options.shapes);
  return { text: formatAllocations(rows), report: { allocations: rows } };
}

async function requests(bench: Bench, options: Options): Promise<Result> {
  const report = await run(bench, options);
  return { text: formatReport(report), report };
}

async function starts(bench: Bench, options: Options, count: number): Promise<Result> {
  const report = await measureStarts(bench, await others(bench, options), count);
  return { text: formatStarts(report), report };
}

function optionsOrUsage(args: readonly string[]): Options {
  try {
    return readOptions(args);
  } catch (error) {
    throw new Error(`${(error as Error).message}\n\n${USAGE}`, { cause: error });
  }
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`Error: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
