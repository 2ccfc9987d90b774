import { spendRoute } from '../../../builtins/admin/spend/spend-route.ts';
import type {
  SpendAnswer as Found,
  SpendLedger,
  SpendQuestion,
  SpendSums,
} from '../../../host/stores/spend/spend-ledger.ts';
import type { SpendText } from '../../../host/stores/spend/spend-row.ts';
import type { JsonAnswer, JsonCall } from '../../../host/http/json-route.ts';
import { Dice } from '../../kit/index.ts';

type Reader = Pick<SpendLedger, 'read'>;

export const HOUR = 3_600_000;
export const hourAt = (text: string): number => Math.floor(Date.parse(text) / HOUR);

/** One row of the ledger, as its table has it. */
export interface SpendRow {
  readonly hour: number;
  readonly span: number;
  readonly texts: Readonly<Record<SpendText, string>>;
  readonly figures: Omit<SpendSums, 'bucket' | SpendText>;
}

const TEXTS: Readonly<Record<SpendText, readonly string[]>> = {
  account: ['', '/acme', '/acme/search', '/acme/search/alice', '/acmeother', '/beta', '/beta/x'],
  key_id: ['', 'key_1', 'key_2', 'master-key:0123456789abcdef', '(other)'],
  tags: ['', 'nightly', 'nightly,project=red', 'project=red', 'a,b,c', '(other)'],
  model: ['gpt-5.4', '=cmd|"/c calc"', '+1', '-x', '@sum', 'two\nlines', 'a,b', 'quo"te', 'ümlaut 模型', ''],
  provider: ['openai', 'anthropic', ''],
  target: ['openai', 'claude', 'second\r\nline'],
  credential: ['', 'main'],
  surface: ['chat', 'embeddings'],
  line: ['standard', 'above272000+flex', ''],
  catalog: ['2026-11-26'],
  source: ['usage', 'estimated', 'reported', 'entered', 'correction', 'imported'],
};

/** Rows of random hours in a range; merged days where they are asked for. */
export function randomRows(
  seed: number,
  count: number,
  { from, to, merged = false }: { readonly from: number; readonly to: number; readonly merged?: boolean },
): SpendRow[] {
  const dice = new Dice(seed);
  return Array.from({ length: count }, () => {
    const hour = from + dice.below(to - from);
    const isMerged = merged && hour < to - 24 && dice.below(2) === 0;
    const source = dice.pick(TEXTS.source);
    return {
      hour: isMerged ? hour - (hour % 24) : hour,
      span: isMerged ? 24 : 1,
      texts: {
        ...(Object.fromEntries(Object.entries(TEXTS).map(([name, values]) => [name, dice.pick(values)])) as Record<
          SpendText,
          string
        >),
        source,
      },
      figures: {
        requests: dice.below(50),
        prompt_tokens: dice.below(1e6),
        completion_tokens: dice.below(1e5),
        cache_read_tokens: dice.below(1000),
        cache_write_tokens: dice.below(1000),
        images: dice.below(3),
        unpriced: dice.below(2),
        reasoning_tokens: 0,
        milliseconds: 0,
        characters: 0,
        searches: 0,
        micro_usd: (source === 'correction' ? -1 : 1) * dice.below(dice.pick([1, 10, 1e6, 1e12])),
      },
    };
  });
}

const matches = ({ texts }: SpendRow, filters: SpendQuestion['filters']): boolean =>
  Object.entries(filters).every(([name, value]) => {
    if (name === 'account')
      return value === '/' || texts.account === value || (value !== '' && texts.account.startsWith(`${value}/`));
    if (name === 'tag') return texts.tags.split(',').includes(value);
    return texts[name as SpendText] === value;
  });

/** Reads rows one by one. */
export function naiveReader(rows: readonly SpendRow[]): Reader & { readonly asked: SpendQuestion[] } {
  const asked: SpendQuestion[] = [];
  return {
    asked,
    async read(query): Promise<Found> {
      asked.push(query);
      const { from, to, edges, by, filters } = query;
      const groups = new Map<string, SpendSums>();
      let mergedUntil: number | undefined;
      for (const row of rows) {
        const last = row.hour + row.span - 1;
        if (last < from || last >= to || !matches(row, filters)) continue;
        if (row.span > 1) mergedUntil = Math.max(mergedUntil ?? 0, row.hour + row.span);
        const bucket = Math.max(
          0,
          edges.findLastIndex((edge) => edge <= last),
        );
        const texts = Object.fromEntries(by.map((name) => [name, row.texts[name]]));
        const id = JSON.stringify([bucket, texts]);
        const known = groups.get(id);
        const figures = Object.fromEntries(
          Object.entries(row.figures).map(([name, value]) => [
            name,
            value + ((known?.[name as keyof SpendSums] as number) ?? 0),
          ]),
        ) as SpendRow['figures'];
        groups.set(id, { bucket, ...texts, ...figures });
      }
      return { groups: [...groups.values()], mergedUntil };
    },
  };
}

export interface AskedSpend {
  readonly now?: number;
  readonly timezone?: string;
  readonly keys?: Readonly<Record<string, string>>;
}

/** Asks the route without a gateway around it. */
export async function askSpend(
  reader: Reader | undefined,
  query: string,
  { now = Date.UTC(2026, 10, 27, 12), timezone = 'UTC', keys = { key_1: 'ci' } }: AskedSpend = {},
): Promise<JsonAnswer> {
  const page = async ({ ids = [] }: { readonly ids?: readonly string[] }): Promise<object> => ({
    keys: ids.flatMap((id) => (keys[id] === undefined ? [] : [{ id, name: keys[id] }])),
    next: undefined,
  });
  const host = {
    log: {},
    services: { clock: { now: () => now } },
    stores: { keys: { page } },
  } as unknown as Parameters<typeof spendRoute>[0];
  const route = spendRoute(host, {
    reader: () => reader,
    timezone: () => timezone,
    accountTitle: (path) => (path === '/acme' ? 'Acme, Inc.' : ''),
  });
  const call = { request: { url: `/admin/spend?${query}` }, signal: new AbortController().signal };
  return (await route.answer(call as unknown as JsonCall)) as JsonAnswer;
}

export interface SpendAnswer {
  readonly data: readonly Record<string, any>[];
  readonly summary: Record<string, any>;
  readonly filters: Record<string, any>;
}

export const spendOf = async (...asked: Parameters<typeof askSpend>): Promise<SpendAnswer> =>
  (await askSpend(...asked)).body as SpendAnswer;

export const csvOf = async (...asked: Parameters<typeof askSpend>): Promise<string> =>
  String((await askSpend(...asked)).content?.body);
