import { expect } from 'chai';
import type { RequestLogRow, Stage } from '../../host/contract/index.ts';
import { cases, Dice, inSoak } from '../kit/index.ts';
import type { AdminHost } from './kit.ts';
import { fill, forLogs, NOON, read, row } from './logs-kit.ts';

type Shown = Record<string, any>;

const OUTCOMES = [undefined, 'ok', 'client', 'policy', 'budget', 'rate', 'provider', 'gateway'] as const;
const TEXTS = [undefined, 'a', "it's", '100%', 'a_b', '😀'];
const ERRORS = [undefined, '', 'Too LATE', 'too late', '50% off', 'a_b', "it's late"];
const METADATA = [
  undefined,
  { team: 'search' },
  { team: 'sea,"x":"y', x: 'y' },
  { 'a"b': 'c', team: 'x' },
  { q: '😀' },
];
const ACCOUNTS = [undefined, '/acme', '/acme/search', '/acme2', '/Acme', '/a_me', '/'];
const TAGS = [undefined, ['nightly'], ['nightly-2', 'x'], ['project=red', 'x'], ['X']];
const AMOUNTS = [null, 0, 0.5, 12, 1500.25];

/** The newest first, as they are written. */
function made(dice: Dice, count: number): RequestLogRow[] {
  return Array.from({ length: count }, (_, at) =>
    row({
      trace_id: `${at}`.padStart(32, '0'),
      model: `m${at}`,
      stage: dice.pick<Stage>(['after_request', 'after_request', 'on_error', 'before_request']),
      created_at: NOON - dice.below(20) * 1000,
      error_message: dice.pick(ERRORS),
      upstream_message: dice.pick(ERRORS),
      status: dice.pick([undefined, 200, 400, 429, 499, 500, 503]),
      outcome: dice.pick(OUTCOMES),
      code: dice.pick([undefined, 'rate_limit_exceeded', 'upstream_error']),
      reason: dice.pick([undefined, 'key_rpm', 'plugin:x']),
      target: dice.pick(TEXTS),
      surface: dice.pick(['chat', 'messages']),
      user_id: dice.pick(TEXTS),
      address: dice.pick([undefined, '10.0.0.1', '::1']),
      cache: dice.pick([undefined, 'hit', 'miss']),
      session_id: dice.pick(TEXTS),
      metadata: dice.pick(METADATA),
      price_line: dice.pick([undefined, 'standard', 'batch']),
      account: dice.pick(ACCOUNTS),
      tags: dice.pick(TAGS),
      over_from: dice.pick(TEXTS),
      duration_ms: dice.pick(AMOUNTS),
      cost_usd: dice.pick(AMOUNTS),
      total_tokens: dice.below(50),
    }),
  );
}

const isFailed = ({ stage, error_message: text }: RequestLogRow): boolean => stage === 'on_error' || Boolean(text);
const outcomeOf = (each: RequestLogRow): string => each.outcome ?? (isFailed(each) ? 'unknown' : 'ok');
const folded = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/** What each filter means, in JavaScript over all rows. */
const MEANINGS: Readonly<Record<string, (each: RequestLogRow, asked: string) => boolean>> = {
  status: ({ status }, asked) =>
    status !== undefined &&
    asked.split(',').some((word) => (word.endsWith('xx') ? String(status)[0] === word[0] : String(status) === word)),
  code: ({ code }, asked) => code !== undefined && asked.split(',').includes(code),
  outcome: (each, asked) =>
    asked.split(',').some((word) => (word === 'failed' ? outcomeOf(each) !== 'ok' : word.trim() === outcomeOf(each))),
  reason: ({ reason }, asked) => reason === asked,
  target: ({ target }, asked) => target === asked,
  surface: ({ surface }, asked) => surface === asked,
  user: ({ user_id: user }, asked) => user === asked,
  address: ({ address }, asked) => address === asked,
  cache: ({ cache }, asked) => cache === asked,
  session_id: ({ session_id: session }, asked) => session === asked,
  price_line: ({ price_line: line }, asked) => line === asked,
  over_from: ({ over_from: from }, asked) => from === asked,
  account: ({ account }, asked) => asked === '/' || (account !== undefined && `${account}/`.startsWith(`${asked}/`)),
  tag: ({ tags }, asked) => tags?.includes(asked) === true,
  'metadata.team': ({ metadata }, asked) => (metadata as Shown | undefined)?.['team'] === asked,
  'metadata.x': ({ metadata }, asked) => (metadata as Shown | undefined)?.['x'] === asked,
  'metadata.a"b': ({ metadata }, asked) => (metadata as Shown | undefined)?.['a"b'] === asked,
  min_duration_ms: ({ duration_ms: ms }, asked) => typeof ms === 'number' && ms >= Number(asked),
  min_cost_usd: ({ cost_usd: usd }, asked) => typeof usd === 'number' && usd >= Number(asked),
  text: ({ error_message: error, upstream_message: said }, asked) =>
    [error, said].some((text) => text !== undefined && folded(text).includes(folded(asked))),
};
const VALUES: Readonly<Record<string, readonly string[]>> = {
  status: ['429', '4xx', '200,5xx', '1xx'],
  code: ['rate_limit_exceeded', 'upstream_error,rate_limit_exceeded'],
  outcome: ['ok', 'failed', 'unknown', 'rate, provider', 'ok,failed'],
  reason: ['key_rpm', 'plugin:x', '%'],
  target: ["it's", '100%', 'a_b', '😀', "' OR 1=1 --"],
  surface: ['chat', 'messages'],
  user: ['a', '_'],
  address: ['10.0.0.1', '::1'],
  cache: ['hit', 'miss'],
  session_id: ['a', '😀'],
  price_line: ['standard', 'x'],
  over_from: ['a', '%'],
  account: ['/', '/acme', '/a_me', '/acme/search'],
  tag: ['x', 'nightly', 'project=red', 'night'],
  'metadata.team': ['search', 'sea,"x":"y', 'y'],
  'metadata.x': ['y'],
  'metadata.a"b': ['c'],
  min_duration_ms: ['0', '12', '1500.25'],
  min_cost_usd: ['0', '0.5'],
  text: ['LATE', 'too', '50%', 'a_b', "it's"],
};

const addressOf = (asked: Readonly<Record<string, string>>): string =>
  `/admin/logs?${new URLSearchParams(asked).toString()}`;

/** All pages of a search, by cursor. */
async function pages(t: AdminHost, asked: Readonly<Record<string, string>>): Promise<Shown[]> {
  const found: Shown[] = [];
  let cursor = 'first';
  for (let page = 0; page < 100; page += 1) {
    const answer = await read(t, addressOf({ ...asked, cursor }));
    found.push(...answer.data);
    if (answer.next === null) return found;
    cursor = answer.next;
  }
  throw new Error('a search that does not end');
}

forLogs('a search of the request log', (start) => {
  const isListed = ({ stage }: RequestLogRow): boolean => stage !== 'before_request';

  it('finds by each filter, and by pairs of them, what it would find by looking at every row', async () => {
    const dice = new Dice(45);
    const rows = made(dice, 300);
    const t = await start();
    fill(t, rows);
    const names = Object.keys(MEANINGS);
    expect(Object.keys(VALUES)).to.have.members(names);
    const asked = names.flatMap((name) => VALUES[name]!.map((value) => ({ [name]: value })));
    for (let pair = 0; pair < cases(60); pair += 1) {
      const [one, other] = [dice.pick(names), dice.pick(names)];
      asked.push({ [one]: dice.pick(VALUES[one]!), [other]: dice.pick(VALUES[other]!) });
    }
    const newest = rows.toReversed().toSorted((a, b) => b.created_at - a.created_at);
    for (const filters of asked) {
      const expected = newest.filter(
        (each) => isListed(each) && Object.entries(filters).every(([name, value]) => MEANINGS[name]!(each, value)),
      );
      const found = await pages(t, { limit: '37', ...filters });
      expect(
        found.map(({ model }) => model),
        JSON.stringify(filters),
      ).to.deep.equal(expected.map(({ model }) => model));
    }
  });

  inSoak('gives pages without a gap or a repeat while rows are written', async () => {
    const t = await start();
    const rows = made(new Dice(7), 200);
    fill(t, rows);
    const found: string[] = [];
    let cursor: string | null = 'first';
    for (let at = 0; cursor !== null; at += 1) {
      const answer: Shown = await read(t, addressOf({ limit: '9', outcome: 'failed,ok', cursor }));
      found.push(...answer['data'].map(({ model }: Shown) => model));
      cursor = answer['next'];
      fill(t, [row({ model: `later ${at}`, outcome: 'ok', created_at: NOON + 1000 + at })]);
    }
    const expected = rows.toReversed().toSorted((a, b) => b.created_at - a.created_at);
    expect(found).to.deep.equal(expected.filter(isListed).map(({ model }) => model));
  });

  it('says how far it looked, what it was asked, and gives no total', async () => {
    const t = await start();
    fill(t, [
      row({ model: 'old', created_at: NOON - 5000, status: 429 }),
      row({ model: 'new', status: 200 }),
      row({ model: 'newest', status: 429 }),
    ]);
    const all = await read(t, '/admin/logs?status=429&metadata.team=&user=');
    expect(all.summary).to.deep.equal({
      total_entries: null,
      returned_entries: 2,
      searched_entries: 3,
      searched_to: '2026-11-22T11:59:55Z',
    });
    expect(all.filters).to.deep.equal({
      limit: 50,
      stage: '',
      stages: ['after_request', 'on_error'],
      model: '',
      provider: '',
      api_key_id: '',
      since: '',
      status: '429',
    });
    expect(all.next).to.equal(null);
    const none = await read(t, '/admin/logs?status=500&since=2030-01-01T00:00:00Z');
    expect([none.data, none.summary.searched_entries, none.summary.searched_to]).to.deep.equal([[], 0, null]);
    expect((await read(t, '/admin/logs?metadata.team=x')).filters).to.include({ 'metadata.team': 'x' });
  });

  it('gives the largest of what it looked at, and no next page', async () => {
    const t = await start();
    const rows = made(new Dice(9), 120);
    fill(t, rows);
    for (const [sort, of] of [
      ['duration', (each: RequestLogRow) => each.duration_ms ?? -1],
      ['cost', (each: RequestLogRow) => each.cost_usd ?? -1],
      ['tokens', (each: RequestLogRow) => each.total_tokens ?? -1],
    ] as const) {
      const sizes = rows
        .filter(isListed)
        .map(of)
        .sort((a, b) => b - a);
      const { data, next } = await read(t, `/admin/logs?sort=${sort}&limit=20`);
      const byModel = new Map(rows.map((each) => [each.model, each]));
      expect(
        data.map(({ model }: Shown) => of(byModel.get(model)!)),
        sort,
      ).to.deep.equal(sizes.slice(0, 20));
      expect(next).to.equal(null);
    }
  });

  it('keeps to lists where nothing but until, trace_id or a page is asked', async () => {
    const t = await start();
    fill(t, [
      row({ model: 'a', trace_id: 'ab'.repeat(16) }),
      row({ model: 'b', created_at: NOON + 1000 }),
      row({ model: 'c', created_at: NOON + 2000 }),
    ]);
    const named = await read(t, `/admin/logs?trace_id=${'AB'.repeat(16)}&offset=0`);
    expect(named.data.map(({ model }: Shown) => model)).to.deep.equal(['a']);
    expect(named.summary).to.deep.equal({ total_entries: 1, returned_entries: 1 });
    expect(named).to.not.have.property('next');
    const until = await read(t, '/admin/logs?until=2026-11-22T12:00:02Z&since=2026-11-22T12:00:00Z&offset=1');
    expect(until.data.map(({ model }: Shown) => model)).to.deep.equal(['a']);
    expect(until.summary.total_entries).to.equal(2);
  });

  it('refuses what it cannot mean, and says what to write', async () => {
    const t = await start();
    const { next } = await (async () => {
      fill(t, [row({ status: 200 }), row({ status: 200 })]);
      return read(t, '/admin/logs?status=200&limit=1');
    })();
    for (const [asked, says] of [
      ['status=4xx,abc', 'status has "abc"'],
      ['status=200,,500', 'status has an empty entry'],
      ['status=600', 'status has "600"'],
      [`status=${Array.from({ length: 11 }, (_, at) => 200 + at).join(',')}`, 'status has 11 entries, the limit is 10'],
      ['code=rate_limit_exceded', 'did you mean rate_limit_exceeded?'],
      ['outcome=fail', 'outcome has "fail"'],
      ['cache=maybe', 'cache is "maybe"; use hit or miss'],
      ['text=ab', 'text has 2 characters; use 3 to 200'],
      [`text=${'x'.repeat(201)}`, 'text has 201 characters; use 3 to 200'],
      ['min_duration_ms=-1', 'min_duration_ms is "-1"'],
      ['min_cost_usd=free', 'min_cost_usd is "free"'],
      ['tag=%23x', 'tag is "#x", which names no tag'],
      ['metadata.=x', 'metadata. lacks a name behind it'],
      [
        'metadata.a=1&metadata.b=1&metadata.c=1&metadata.d=1&metadata.e=1&metadata.f=1',
        'stands 6 times, the limit is 5',
      ],
      ['status=200&offset=0', 'offset does not go with a search; use cursor'],
      ['sort=duration&cursor=first', 'cursor does not go with sort'],
      ['sort=size', 'sort is "size"'],
      ['cursor=garbage', 'cursor is not one that a search has answered with'],
      [`status=201&cursor=${next}`, 'cursor belongs to a search with other filters'],
      ['since=2026-11-22T12:00:00Z&until=2026-11-22T12:00:00Z', 'until is not after since'],
      [`trace_id=${'a'.repeat(65)}`, 'trace_id has 65 characters, the limit is 64'],
    ] as const) {
      const answer = await t.get(`/admin/logs?${asked}`);
      expect([asked, answer.status]).to.deep.equal([asked, 400]);
      expect(answer.json().error.message, asked).to.contain(says);
    }
    expect((await read(t, `/admin/logs?status=200&limit=1&cursor=${next}`)).data).to.have.length(1);
  });
});

forLogs('one request of the log', (start) => {
  it('is shown with all of its rows, the oldest first, and how it was routed', async () => {
    const t = await start();
    const id = 'cd'.repeat(16);
    const decision = { model: 'm', strategy: 'single', attempts: [{ target: 'x' }] };
    fill(t, [
      row({ trace_id: id, stage: 'before_request', created_at: NOON - 2 }),
      row({ trace_id: id, target: 'x', status: 200, outcome: 'ok', decision, metadata: { team: 'search' } }),
      row({ trace_id: 'other' }),
    ]);
    const found = await read(t, `/admin/logs/${id.toUpperCase()}`);
    expect(Object.keys(found)).to.deep.equal(['trace_id', 'request', 'rows', 'decision', 'attempts']);
    expect([found.trace_id, found.rows.map(({ stage }: Shown) => stage)]).to.deep.equal([
      id,
      ['before_request', 'after_request'],
    ]);
    expect(found.request).to.deep.include({ outcome: 'ok', status: 200, metadata: { team: 'search' } });
    expect(found.decision).to.deep.equal(await read(t, `/admin/explain/${id}`));
    expect(found.attempts).to.have.length(1);
    expect(found.attempts[0]).to.include({ target: 'x', upstream_model: 'm', ended: 'answered' });
  });

  it('has the newest hundred of many rows, and says that there are older ones', async () => {
    const t = await start();
    const id = 'ef'.repeat(16);
    fill(
      t,
      Array.from({ length: 101 }, (_, at) => row({ trace_id: id, model: `m${at}`, created_at: NOON + at })),
    );
    const { rows, request, has_older_rows, decision, attempts } = await read(t, `/admin/logs/${id}`);
    expect([rows.length, rows[0].model, rows.at(-1).model, request.model]).to.deep.equal([100, 'm1', 'm100', 'm100']);
    expect([has_older_rows, decision, attempts]).to.deep.equal([true, null, []]);
  });

  it('names the list of the key that refused it', async () => {
    const t = await start();
    fill(t, [row({ trace_id: 'k', stage: 'on_error', outcome: 'policy', reason: 'key_models' })]);
    expect(await read(t, '/admin/explain/k')).to.include({ refused_by: 'key_models' });
  });

  it('is 404 where there is none, and for what is not an id', async () => {
    const t = await start();
    for (const id of ['nothing', '%00', 'a'.repeat(65), "' OR 1=1"]) {
      const answer = await t.get(`/admin/logs/${encodeURIComponent(id)}`);
      expect([id, answer.status, answer.json().error.code]).to.deep.equal([id, 404, 'resource_not_found']);
    }
    expect((await read(t, '/admin/logs/stats')).summary.total_entries).to.equal(0);
  });
});

forLogs('statistics of a search', (start) => {
  const isListed = ({ stage }: RequestLogRow): boolean => stage !== 'before_request';
  const SPLITS: Readonly<Record<string, (each: RequestLogRow) => string>> = {
    by_key: ({ api_key_id: id }) => id || 'unknown',
    by_target: ({ target }) => target || 'unknown',
    by_surface: ({ surface }) => surface || 'unknown',
    by_outcome: outcomeOf,
    by_status: ({ status }) => (status === undefined ? 'unknown' : String(status)),
    by_code: ({ code }) => code || 'unknown',
  };

  it('sum up, by each filter and by each part, what the search finds', async () => {
    const dice = new Dice(46);
    const rows = made(dice, 200).map((each) => ({ ...each, api_key_id: dice.pick([undefined, 'k1', 'k2']) }));
    const t = await start();
    fill(t, rows);
    const include = Object.keys(SPLITS).join(',');
    const asked = Object.entries(VALUES)
      .filter(([name]) => name !== 'text')
      .flatMap(([name, values]) => values.map((value) => ({ [name]: value })));
    for (const filters of [{}, ...asked]) {
      const found = rows.filter(
        (each) => isListed(each) && Object.entries(filters).every(([name, value]) => MEANINGS[name]!(each, value)),
      );
      const query = new URLSearchParams({ ...filters, include }).toString();
      const stats = await read(t, `/admin/logs/stats?${query}`);
      const what = JSON.stringify(filters);
      expect(stats.summary.total_entries, what).to.equal(found.length);
      for (const [split, nameOf] of Object.entries(SPLITS)) {
        const among = split === 'by_code' ? found.filter((each) => outcomeOf(each) !== 'ok') : found;
        const expected = Object.fromEntries(
          [...Map.groupBy(among, nameOf)].map(([name, of]) => [name, of.length] as const),
        );
        const shown = Object.entries<any>(stats[split]).map(([name, of]) => [name, of.count ?? of] as const);
        const counted = Object.fromEntries(shown.filter(([, count]) => count > 0));
        expect(counted, `${split} ${what}`).to.deep.equal(expected);
      }
      expect(stats.by_outcome).to.include.all.keys('ok', 'client', 'policy', 'budget', 'rate', 'provider', 'gateway');
    }
  });

  it('end before until, and take no filter that has no part in a figure', async () => {
    const t = await start();
    fill(t, [row({ created_at: NOON - 60_000 }), row({ created_at: NOON - 30_000, api_key_id: 'k' }), row()]);
    const window = 'since=2026-11-22T11:59:00Z&until=2026-11-22T12:00:00Z';
    const { summary, series, filters } = await read(t, `/admin/logs/stats?${window}&buckets=2`);
    expect(summary.total_entries).to.equal(2);
    expect(series.points.map(({ requests }: Shown) => requests)).to.deep.equal([1, 1]);
    expect(series.end).to.equal('2026-11-22T12:00:00Z');
    expect(filters).to.include({ until: '2026-11-22T12:00:00Z' });
    const ofKey = await read(t, '/admin/logs/stats?api_key_id=k&include=by_key&limit=1');
    expect(ofKey.by_key).to.deep.equal({
      k: { count: 1, errors: 0, tokens: 0, prompt_tokens: 0, completion_tokens: 0, cost_usd: 0, unpriced: 1 },
    });
    for (const asked of ['text=abc', 'trace_id=a', 'sort=cost', 'cursor=first']) {
      const answer = await t.get(`/admin/logs/stats?${asked}`);
      expect([asked, answer.status]).to.deep.equal([asked, 400]);
    }
  });
});
