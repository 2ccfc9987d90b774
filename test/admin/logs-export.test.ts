import { expect } from 'chai';
import { EXPORT_COLUMNS } from '../../builtins/admin/logs/export-lines.ts';
import type { RequestLogRow } from '../../host/contract/index.ts';
import { cases, Dice, eventually, fakeClock, inSoak, startHost } from '../kit/index.ts';
import { type AdminHost, startAdmin } from './kit.ts';
import { fill, forLogs, NOON, read, row } from './logs-kit.ts';

const PATH = '/admin/logs/export';
/** What spreadsheets run, what CSV must quote, what is none of both. */
const TEXTS = [
  '=1+1',
  '+1',
  '-1',
  '@x',
  '\tx',
  '\rx',
  '\nx',
  'a,b',
  'say "hi"',
  'two\r\nlines',
  '',
  '🙂',
  "'quoted",
  'plain',
  'ünïcode',
];

/** A reader of RFC 4180 that is written after its grammar alone. */
function readCsv(text: string): string[][] {
  const lines: string[][] = [];
  let line: string[] = [];
  let at = 0;
  while (at < text.length) {
    let cell = '';
    if (text[at] === '"') {
      for (at += 1; text[at] !== '"' || text[at + 1] === '"'; at += 1) {
        if (text[at] === '"') at += 1;
        cell += text[at];
      }
      at += 1;
    } else for (; text[at] !== ',' && text[at] !== '\r'; at += 1) cell += text[at];
    line.push(cell);
    if (text[at] === ',') at += 1;
    else {
      expect(text.slice(at, at + 2)).to.equal('\r\n');
      at += 2;
      lines.push(line);
      line = [];
    }
  }
  return lines;
}

/** A value of a listing as a cell should show it, guards aside. */
function cellOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const unguarded = (cell: string): string => (/^'[=+\-@\t\r\n]/.test(cell) ? cell.slice(1) : cell);

function someRow(dice: Dice, at: number): RequestLogRow {
  return row({
    trace_id: at.toString(16).padStart(32, '0'),
    stage: dice.pick(['before_request', 'after_request', 'on_error'] as const),
    model: dice.pick(TEXTS),
    provider: dice.pick(['p', 'q']),
    created_at: NOON - dice.below(50) * 1000,
    error_message: dice.pick([undefined, ...TEXTS]),
    status: dice.pick([200, 404, 500]),
    outcome: dice.pick(['ok', 'client', 'provider'] as const),
    user_id: dice.pick([undefined, ...TEXTS]),
    metadata: dice.pick([undefined, { team: '=evil', n: 'a,b' }]),
    tags: dice.pick([undefined, ['a', 'b']]),
    streamed: dice.pick([undefined, true, false]),
    cost_usd: dice.pick([null, -0.5, 1e-7]),
    duration_ms: dice.pick([null, 0.25, 1e6]),
  });
}

/** Every row that a listing gives, page after page. */
async function listed(t: AdminHost, query: string): Promise<Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = [];
  for (let cursor: string | null = 'first'; cursor !== null;) {
    const page: any = await read(t, `/admin/logs?limit=200&cursor=${cursor}${query}`);
    rows.push(...page.data);
    cursor = page.next;
  }
  return rows;
}

const QUERIES = [
  '',
  '&stage=all',
  '&status=5xx',
  '&outcome=failed&provider=p',
  '&text=say',
  '&stage=on_error&model=plain',
  '&metadata.team=%3Devil',
  '&status=418',
];

forLogs('an export of the request log', (start) => {
  it('holds what the list holds, as CSV and as JSON, whatever the filters', async () => {
    const t = await start();
    const dice = new Dice(7);
    fill(
      t,
      Array.from({ length: cases(6000) }, (_each, at) => someRow(dice, at)),
    );
    for (const query of QUERIES) {
      const rows = await listed(t, query);
      const jsonl = await t.get(`${PATH}?format=jsonl${query}`);
      expect(jsonl.headers.get('content-type'), query).to.equal('application/x-ndjson');
      const lines = jsonl.text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line));
      expect(lines, query).to.deep.equal(rows);
      const csv = await t.get(`${PATH}?format=csv${query}`);
      expect(csv.headers.get('content-type')).to.equal('text/csv; charset=utf-8; header=present');
      const [names, ...cells] = readCsv(csv.text);
      expect(names).to.deep.equal(EXPORT_COLUMNS);
      expect(
        cells.map((line) => line.map(unguarded)),
        query,
      ).to.deep.equal(rows.map((each) => EXPORT_COLUMNS.map((name) => cellOf(each[name]))));
      for (const line of cells)
        for (const [at, cell] of line.entries())
          if (/^[=+@\t\r\n]|^-\D/.test(cell)) expect.fail(`${EXPORT_COLUMNS[at]} begins a formula: ${cell}`);
    }
    const { data: trail } = await read(t, '/admin/audit?action=logs.export&limit=1');
    expect(trail[0]).to.include({ target_id: '*', outcome: 'ok' });
    expect(JSON.parse(trail[0].detail)).to.deep.include({ format: 'csv', rows: 0 });
    expect(JSON.parse(trail[0].detail).filters).to.include({ status: '418' });
  });

  it('says whether there are more rows than were asked for', async () => {
    const t = await start();
    fill(
      t,
      Array.from({ length: 5 }, (_each, at) => row({ created_at: NOON - at })),
    );
    for (const [most, isCut, rows] of [
      [4, 'true', 4],
      [5, 'false', 5],
      [6, 'false', 5],
      [99_999_999, 'false', 5],
    ] as const) {
      const answer = await t.get(`${PATH}?format=jsonl&max_rows=${most}`);
      expect(answer.headers.get('x-gateway-export-truncated'), String(most)).to.equal(isCut);
      expect(answer.text.split('\n')).to.have.lengthOf(rows + 1);
    }
    const head = await t.request('HEAD', `${PATH}?format=csv&max_rows=4`);
    expect([head.status, head.text, head.headers.get('x-gateway-export-truncated')]).to.deep.equal([200, '', 'true']);
    expect(head.headers.get('content-disposition')).to.equal('attachment; filename="requests-2026-11-22.csv"');
    expect((await read(t, '/admin/audit?action=logs.export')).data).to.have.lengthOf(4);
  });

  it('gives the columns that were asked for, in that order', async () => {
    const t = await start();
    fill(t, [row({ status: 429, reason: 'key_rpm' })]);
    expect((await t.get(`${PATH}?format=csv&columns=reason,%20status,user`)).text).to.equal(
      'reason,status,user\r\nkey_rpm,429,\r\n',
    );
    expect((await t.get(`${PATH}?format=jsonl&columns=status,user`)).text).to.equal('{"status":429}\n');
  });

  it('refuses what does not go with it, and names it', async () => {
    const t = await start();
    for (const [query, named] of [
      ['', 'format'],
      ['format=xml', 'format'],
      ['format=csv&max_rows=0', 'max_rows'],
      ['format=csv&columns=nosuch', 'trace_id'],
      ...['limit', 'offset', 'cursor', 'sort', 'include'].map((name) => [`format=csv&${name}=1`, name] as const),
      ['format=csv&status=nosuch', 'status'],
    ] as const) {
      const answer = await t.get(`${PATH}?${query}`);
      expect([answer.status, answer.json().error.code], query).to.deep.equal([400, 'invalid_request']);
      expect(answer.json().error.message, query).to.contain(named);
    }
    expect((await t.get(`${PATH}?format=csv`)).status, 'none of these runs on').to.equal(200);
  });

  it('ends with its client, is in the trail then, and leaves its place to another', async () => {
    const t = await start();
    fill(
      t,
      Array.from({ length: 6000 }, (_each, at) => row({ created_at: NOON - at, error_message: 'x'.repeat(4000) })),
    );
    await read(t, '/admin/logs?limit=1');
    const leaving = new AbortController();
    const key = { authorization: `Bearer ${t.host.masterKey}` };
    const answer = await fetch(`${t.url}${PATH}?format=jsonl`, { headers: key, signal: leaving.signal });
    const reader = answer.body!.getReader();
    await reader.read();
    const second = await t.get(`${PATH}?format=csv`);
    expect([second.status, second.headers.get('retry-after')]).to.deep.equal([429, '5']);
    leaving.abort();
    await reader.closed.catch(() => {});
    await eventually(async () => {
      const { data } = await read(t, '/admin/audit?action=logs.export');
      return data.length === 1 && data[0].outcome === 'error';
    });
    expect((await t.get(`${PATH}?format=jsonl&max_rows=3`)).status).to.equal(200);
  });

  inSoak('of a million rows takes no memory', async () => {
    const t = await start();
    for (let batch = 0; batch < 1000; batch += 1) {
      fill(
        t,
        Array.from({ length: 1000 }, (_each, at) => row({ created_at: NOON - batch * 1000 - at })),
      );
      if (batch % 10 === 9) await t.host.stores.logReader.value!.flush!();
    }
    const key = { authorization: `Bearer ${t.host.masterKey}` };
    const answer = await fetch(`${t.url}${PATH}?format=jsonl&max_rows=1000000`, { headers: key });
    let lines = 0;
    for await (const piece of answer.body!) for (const byte of piece) if (byte === 10) lines += 1;
    expect(lines).to.equal(1_000_000);
  });
});

describe('an export without a request log', () => {
  it('is 501, whatever it asks for', async () => {
    const t = await startHost({ targets: [{ virtual_key: 'echo' }] });
    expect((await t.get(`${PATH}?format=xml`)).status).to.equal(501);
  });
});

describe('GET /admin/logs/values', () => {
  it('says what stands in a column, with the names of keys, where it looks too', async () => {
    const clock = fakeClock(NOON);
    const variables = { REQUEST_LOG_STORE_BACKEND: 'sqlite', REQUEST_LOG_STORE_DSN: ':memory:' };
    const t = await startAdmin({ clock, variables });
    const { id } = await t.makeKey({ name: 'Web shop' });
    fill(t, [
      row({ model: 'gpt-a', api_key_id: id }),
      row({ model: 'gpt-a', api_key_id: 'gone', repeats: 4, stage: 'on_error' }),
      row({ model: 'other', created_at: NOON - 40 * 86_400_000 }),
    ]);
    const values = async (query: string): Promise<unknown> => (await read(t, `/admin/logs/values?${query}`)).data;
    await t.host.stores.logReader.value!.flush!();
    expect((await read(t, '/admin/logs/values?field=model')).is_partial, 'nothing is summed up yet').to.equal(true);
    await eventually(async () => {
      clock.advance(60_000);
      return (await read(t, '/admin/logs/values?field=model')).is_partial === undefined;
    });
    expect(await values('field=model&q=GPT')).to.deep.equal([{ value: 'gpt-a', count: 6 }]);
    expect(await values('field=api_key_id')).to.deep.equal([
      { value: 'gone', count: 5 },
      { value: id, count: 1, name: 'Web shop' },
    ]);
    expect(await values('field=api_key_id&q=SHOP')).to.deep.equal([{ value: id, count: 1, name: 'Web shop' }]);
    expect(await values('field=api_key_id&limit=1')).to.have.lengthOf(1);
    for (const query of ['', 'field=nosuch', 'field=model&since=2026-11-22T12:00:00Z&until=2026-11-22T12:00:00Z'])
      expect((await t.get(`/admin/logs/values?${query}`)).status, query).to.equal(400);
  });
});
