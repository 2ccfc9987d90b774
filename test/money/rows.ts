import { eventually, type TestHost } from '../kit/index.ts';

/** What a test reads of a row of the request log. */
export interface LoggedRow {
  readonly trace_id: string;
  readonly cost_usd: number;
  readonly price_line?: string;
}

/** Headers that give the request of this number its id. Rows of one millisecond have no order of their own. */
export const numbered = (index: number): Readonly<Record<string, string>> => ({
  'x-request-id': (index + 1).toString(16).padStart(32, '0'),
});

/** The most that one answer has. */
const PAGE = 200;

/** The rows of as many numbered requests, in their order. */
export async function numberedRows(t: TestHost, count: number): Promise<readonly LoggedRow[]> {
  const page = async (offset: number): Promise<LoggedRow[]> =>
    ((await t.get(`/admin/logs?limit=${PAGE}&offset=${offset}`)).json() as { data: LoggedRow[] }).data;
  await eventually(async () => (await page(count - 1)).length === 1);
  const rows: LoggedRow[] = [];
  for (let offset = 0; offset < count; offset += PAGE) for (const row of await page(offset)) rows.push(row);
  return rows.toSorted((a, b) => (a.trace_id < b.trace_id ? -1 : 1));
}
