import { type CommandInput, type RunCommand, UsageError } from '../../../host/cli/command.ts';
import { isFields } from '../../../host/contract/json/fields.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client } from '../client.ts';
import { type Column, column, printData, printRows, type Row, textOf } from '../show.ts';
import { readLimit } from './logs-list.ts';

const PATH = '/admin/spend';
const ROWS = '20';

/** `gw admin spend`: as a table with a last line for the sum, as data, or as a file. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const { options, format } = input;
  const client = new Client(input, place);
  const file = fileFormat(input);
  if (file !== undefined) {
    io.out((await client.ok('GET', `${PATH}?${queryOf(options, file)}`)).text);
    return undefined;
  }
  const answer = await client.object('GET', `${PATH}?${queryOf(options)}`);
  if (format !== 'table') return printData(io, format, answer);
  const { data, summary } = answer;
  const rows = Array.isArray(data) ? data.filter(isFields) : [];
  return printRows(io, format, [...rows, sumRow(summary, options)], columnsOf(options));
};

function fileFormat({ options, format }: CommandInput): 'csv' | 'focus' | undefined {
  const { csv, focus } = options;
  if (csv !== true && focus !== true) return undefined;
  if (csv === true && focus === true) throw new UsageError('--csv and --focus are two forms; give one of them');
  if (format !== 'table')
    throw new UsageError(`--${csv === true ? 'csv' : 'focus'} is a form itself; leave out --format`);
  return csv === true ? 'csv' : 'focus';
}

/** What is not given is the gateway's to choose, but for the number of rows that a person reads. */
function queryOf({ by, from, to, bucket, under, limit }: CommandInput['options'], file?: 'csv' | 'focus'): string {
  const rows = limit === undefined ? (file === undefined ? ROWS : undefined) : readLimit({ limit });
  const given = { by, from, to, bucket, account: under, limit: rows, format: file };
  return new URLSearchParams(
    Object.entries(given).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  ).toString();
}

const namesIn = ({ by, bucket }: CommandInput['options']): readonly string[] => [
  ...(typeof bucket === 'string' ? ['bucket'] : []),
  ...(typeof by === 'string' ? new Set(by.split(',').map((name) => name.trim())) : []),
];

function columnsOf(options: CommandInput['options']): readonly Column[] {
  return [
    ...namesIn(options).map((name) => column(name.toUpperCase(), name)),
    column('REQUESTS', 'requests'),
    { title: 'TOKENS', cell: (row: Row) => tokensOf(row) },
    { title: 'USD', cell: ({ usd }: Row) => (typeof usd === 'number' ? usd.toFixed(6).replace(/0{1,4}$/, '') : '-') },
  ];
}

function tokensOf({ prompt_tokens: prompt, completion_tokens: completion }: Row): string {
  return typeof prompt === 'number' && typeof completion === 'number' ? String(prompt + completion) : '-';
}

/** The sum over all groups, also those that are not shown. */
function sumRow(summary: unknown, options: CommandInput['options']): Row {
  const { requests, usd } = isFields(summary) ? summary : {};
  const [first] = namesIn(options);
  return { ...(first !== undefined && { [first]: 'SUM' }), requests: textOf(requests), usd };
}
