import { type CommandInput, type CommandIo, type RunCommand, UsageError } from '../../../host/cli/command.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client } from '../client.ts';
import { logFilters } from '../logs/log-filters.ts';
import { followLogs, printEach, stopOf } from '../logs/follow-logs.ts';
import { type Column, column, printMore, printRows, type Row, timeColumn } from '../show.ts';

/** `gw admin logs list`: newest first; with `--follow` oldest first, and then what comes. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const { format, options } = input;
  const limit = readLimit(options);
  const filters = logFilters(input);
  const stopped = options['follow'] === true ? stopOf(io) : undefined;
  const client = new Client(input, place);
  const rows = await client.rows(`/admin/logs?limit=${limit}${filters}`);
  if (!stopped) return printRows(io, format, rows, columns(io, place.clock.now()));
  if (format === 'table') await printRows(io, format, rows.toReversed(), columns(io, undefined));
  else await printEach(io, format, rows.toReversed());
  const print = async (fresh: readonly Row[]): Promise<void> =>
    format === 'table' ? printMore(io, fresh, columns(io, undefined)) : printEach(io, format, fresh);
  await followLogs({ client, clock: place.clock, shown: rows, print, isOutputLost: io.isOutputLost }, stopped);
};

/** `--limit`, 50 unless said. */
export function readLimit({ limit = '50' }: CommandInput['options']): string {
  if (!/^[1-9]\d{0,8}$/.test(String(limit)))
    throw new UsageError(`--limit "${String(limit)}" is not a number above zero`);
  return String(limit);
}

const columns = (io: CommandIo, now: number | undefined): readonly Column[] => [
  column('TRACE_ID', 'trace_id'),
  column('PROVIDER', 'provider'),
  column('MODEL', 'model'),
  column('STAGE', 'stage'),
  { title: 'DURATION_MS', cell: ({ duration_ms: ms }: Row) => (typeof ms === 'number' ? String(Math.round(ms)) : '-') },
  timeColumn('CREATED_AT', 'created_at', io, now),
];
