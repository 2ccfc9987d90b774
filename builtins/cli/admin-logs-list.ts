import { type CommandInput, type CommandIo, type RunCommand, UsageError } from '../../host/cli/command.ts';
import type { CommandPlace } from '../../host/host.ts';
import { Client } from './client.ts';
import { column, printRows, type Row, timeColumn } from './show.ts';

/** `gw admin logs list` */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const limit = readLimit(input.options);
  const rows = await new Client(input, place).rows(`/admin/logs?limit=${limit}`);
  return printRows(io, input.format, rows, columns(io, place.clock.now()));
};

/** `--limit`, 50 unless said. */
export function readLimit({ limit = '50' }: CommandInput['options']): string {
  if (!/^[1-9]\d{0,8}$/.test(String(limit))) throw new UsageError(`--limit "${String(limit)}" is not a number above zero`);
  return String(limit);
}

const columns = (io: CommandIo, now: number): Parameters<typeof printRows>[3] => [
  column('TRACE_ID', 'trace_id'), column('PROVIDER', 'provider'), column('MODEL', 'model'), column('STAGE', 'stage'),
  { title: 'DURATION_MS', cell: ({ duration_ms: ms }: Row) => (typeof ms === 'number' ? String(Math.round(ms)) : '-') },
  timeColumn('CREATED_AT', 'created_at', io, now),
];
