import type { CommandIo, OutputFormat } from '../../../host/cli/command.ts';
import type { Clock } from '../../../host/common/clock.ts';
import type { Client } from '../client.ts';
import type { Row } from '../show.ts';

const EVERY_MS = 1000;
const PAGE = 200;
/** Rows are stored in batches, and not always in the order of their time. */
const OVERLAP_MS = 10_000;

interface Following {
  readonly client: Client;
  readonly clock: Clock;
  /** Rows that were shown already. */
  readonly shown: readonly Row[];
  readonly print: (rows: readonly Row[]) => Promise<void>;
  /** Whether the reader of what is printed has left. */
  readonly isOutputLost: (() => boolean) | undefined;
}

/** The moment that the process is asked to stop. To be called before anything is waited for. */
export function stopOf({ onStop }: CommandIo): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  onStop(resolve);
  return promise;
}

/** Shows rows as they come, oldest first, until then. */
export async function followLogs(
  { client, clock, shown, print, isOutputLost }: Following,
  stopped: Promise<void>,
): Promise<void> {
  let isStopped = false;
  const stop = stopped.then(() => {
    isStopped = true;
  });
  let seen = new Map(shown.map((row) => [JSON.stringify(row), timeIn(row)]));
  let newest = shown.reduce((most, row) => Math.max(most, timeIn(row)), clock.now() - OVERLAP_MS);
  const start = newest;
  for (;;) {
    await Promise.race([sleep(clock), stop]);
    if (isStopped || isOutputLost?.()) return;
    const since = Math.max(newest - OVERLAP_MS, shown.length > 0 ? start : 0);
    const fresh = (await rowsSince(client, since)).filter((row) => !seen.has(JSON.stringify(row)));
    if (fresh.length > 0) await print(fresh.toReversed());
    newest = fresh.reduce((most, row) => Math.max(most, timeIn(row)), newest);
    const kept = newest - OVERLAP_MS;
    seen = new Map(
      [...seen, ...fresh.map((row) => [JSON.stringify(row), timeIn(row)] as const)].filter(([, at]) => at >= kept),
    );
  }
}

const timeIn = ({ created_at: at }: Row): number => (typeof at === 'string' ? Date.parse(at) || 0 : 0);

const sleep = (clock: Clock): Promise<void> =>
  new Promise((resolve) => {
    clock.timer(EVERY_MS, resolve);
  });

/** All of them, newest first. */
async function rowsSince(client: Client, since: number): Promise<Row[]> {
  const rows = new Map<string, Row>(); // rows that come meanwhile move others to the next page
  for (let offset = 0; ; offset += PAGE) {
    const page = await client.rows(
      `/admin/logs?limit=${PAGE}&offset=${offset}&since=${encodeURIComponent(new Date(since).toISOString())}`,
    );
    for (const row of page) rows.set(JSON.stringify(row), row);
    if (page.length < PAGE) return [...rows.values()];
  }
}

/** Rows as data while they come: a JSON line each, or a YAML document. */
export async function printEach(
  { out }: CommandIo,
  format: Exclude<OutputFormat, 'table'>,
  rows: readonly Row[],
): Promise<void> {
  const { yamlText } = format === 'yaml' ? await import('../yaml-text.ts') : { yamlText: undefined };
  for (const row of rows) out(yamlText ? `---\n${yamlText(row)}` : `${JSON.stringify(row)}\n`);
}
