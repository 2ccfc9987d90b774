import { GatewayError } from '../../contract/index.ts';
import type { SpendAnswer, SpendFilters, SpendQuestion, SpendSums } from './spend-ledger.ts';
import { SPEND_COUNTS, type SpendRow, spendSum } from './spend-row.ts';

/** Answers a question by looking at each row. */
export function sumSpend(rows: Iterable<SpendRow>, { from, to, edges, by, filters }: SpendQuestion): SpendAnswer {
  const groups = new Map<string, { readonly bucket: number; readonly row: SpendRow }>();
  let mergedUntil: number | undefined;
  for (const row of rows) {
    const last = row.hour + row.span - 1;
    if (last < from || last >= to || !isAskedFor(row, filters)) continue;
    if (row.span > 1) mergedUntil = Math.max(mergedUntil ?? 0, last + 1);
    const bucket = Math.max(
      0,
      edges.findLastIndex((edge) => edge <= last),
    );
    const key = [bucket, ...by.map((name) => row[name])].join('\0');
    const known = groups.get(key);
    groups.set(key, { bucket, row: known ? spendSum(known.row, row) : row });
  }
  const shown = [...by, ...SPEND_COUNTS];
  return {
    groups: [...groups.values()].map(({ bucket, row }) =>
      exactSums({ bucket, ...Object.fromEntries(shown.map((name) => [name, row[name]])) } as unknown as SpendSums),
    ),
    mergedUntil,
  };
}

/** Throws where a sum is beyond what a number holds. */
export function exactSums(sums: SpendSums): SpendSums {
  for (const name of SPEND_COUNTS)
    if (!Number.isSafeInteger(sums[name]))
      throw new GatewayError('internal_error', `the sum of ${name} is larger than a number can hold`);
  return sums;
}

function isAskedFor(row: SpendRow, { account, tag, ...exact }: SpendFilters): boolean {
  if (account !== undefined && !isWithin(row.account, account)) return false;
  if (tag !== undefined && (tag === '' ? row.tags !== '' : !row.tags.split(',').includes(tag))) return false;
  return Object.entries(exact).every(([name, value]) => value === undefined || row[name as keyof SpendRow] === value);
}

function isWithin(path: string, account: string): boolean {
  return account === '/' || path === account || (account !== '' && path.startsWith(`${account}/`));
}
