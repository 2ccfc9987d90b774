import type { CommandInput, RunCommand } from '../../../host/cli/command.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client } from '../client.ts';
import { column, printRows, type Row } from '../show.ts';
import { ACCOUNTS, budgetsText } from './account-call.ts';

/** Accounts of one answer, the most that the gateway gives. */
const PAGE = 1000;

/** `gw admin accounts list` */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const rows = await allOf(new Client(input, place), input.options);
  return printRows(io, input.format, rows, [
    column('PATH', 'path'),
    column('TITLE', 'title'),
    column('ORIGIN', 'origin'),
    column('KEYS', 'keys'),
    { title: 'BLOCKED', cell: ({ blocked }: Row) => (blocked === true ? 'yes' : 'no') },
    { title: 'BUDGETS', cell: budgetsText },
  ]);
};

async function allOf(client: Client, { under, search: q }: CommandInput['options']): Promise<readonly Row[]> {
  const asked = Object.entries({ under, q }).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value]] : [],
  );
  const rows: Row[] = [];
  for (;;) {
    const page = new URLSearchParams([...asked, ['limit', String(PAGE)], ['offset', String(rows.length)]]);
    const found = await client.rows(`${ACCOUNTS}?${page.toString()}`);
    for (const row of found) rows.push(row);
    if (found.length < PAGE) return rows;
  }
}
