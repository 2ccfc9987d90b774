import { expect } from 'chai';
import { keyOf } from '../../builtins/stores/key-rows.ts';
import type { Answer } from '../kit/index.ts';
import { forBackends, refusal, startAdmin } from '../admin/kit.ts';

const said = (answer: Answer): unknown[] => [...refusal(answer), answer.json().error.message];

const DAY = { usd: 5, every: 'day' };

/** What is wrong with a list of budgets, and the message that says it. */
const WRONG: readonly (readonly [unknown, string])[] = [
  ['x', 'budgets must be a list of budgets, not "x"'],
  [[1], 'budgets[0] must be a budget such as {"usd": 50, "every": "day"}, not 1'],
  [[{}], 'budgets[0] must have exactly one of usd, tokens, requests'],
  [[{ usd: 1, tokens: 1 }], 'budgets[0] must have exactly one of usd, tokens, requests'],
  [[{ usd: -1 }], 'budgets[0].usd must be a number from 0 to 1000000000 with at most six decimals, not -1'],
  [[{ usd: 0.0000001 }], 'budgets[0].usd must be a number from 0 to 1000000000 with at most six decimals, not 1e-7'],
  [
    [{ usd: 1e9 + 1 }],
    'budgets[0].usd must be a number from 0 to 1000000000 with at most six decimals, not 1000000001',
  ],
  [[DAY, { tokens: 1.5 }], 'budgets[1].tokens must be an integer from 0 to 9007199254740991, not 1.5'],
  [[{ requests: '1' }], 'budgets[0].requests must be an integer from 0 to 9007199254740991, not "1"'],
  [[{ ...DAY, reserve_tokens: -1 }], 'budgets[0].reserve_tokens must be an integer from 0 to 9007199254740991, not -1'],
  ...['90s', '0m', '61s', '87601h', 'year', '5'].map(
    (every) =>
      [
        [{ usd: 1, every }],
        `budgets[0].every must be day, week, month, total, or a duration of whole minutes from 1m to 87600h, not "${every}"`,
      ] as const,
  ),
  [[{ ...DAY, at: '24:00' }], 'budgets[0].at must be a time such as 06:00, not "24:00"'],
  [
    [{ ...DAY, timezone: 'Europe/Atlantis' }],
    'budgets[0].timezone must be a time zone such as Europe/Berlin, not "Europe/Atlantis"',
  ],
  [[{ ...DAY, timezone: '+02:00' }], 'budgets[0].timezone must be a time zone such as Europe/Berlin, not "+02:00"'],
  [[{ ...DAY, on: 1 }], 'budgets[0].on is of no use beside every "day"; it is for week and month'],
  [
    [{ usd: 1, every: 'week', on: 'monday' }],
    'budgets[0].on must be one of mon, tue, wed, thu, fri, sat, sun, not "monday"',
  ],
  [[{ usd: 1, every: 'month', on: 32 }], 'budgets[0].on must be a day of the month from 1 to 31, not 32'],
  [
    [{ ...DAY, from: '2026-01-01T00:00:00Z' }],
    'budgets[0].from is of no use beside every "day"; it is for durations such as 5h',
  ],
  [
    [{ usd: 1, every: '5h', at: '06:00' }],
    'budgets[0].at is of no use beside every "5h"; it is for day, week and month',
  ],
  [
    [{ usd: 1, timezone: 'UTC' }],
    'budgets[0].timezone is of no use beside every "total"; it is for day, week and month',
  ],
  [
    [{ usd: 1, every: '5h', from: '2026-02-30T00:00:00Z' }],
    'budgets[0].from must be an RFC 3339 timestamp in whole seconds such as 2026-01-31T12:00:00Z, not "2026-02-30T00:00:00Z"',
  ],
  [
    [
      { usd: 1, every: '5h' },
      { tokens: 1, every: '5h' },
      { usd: 2, every: '300m', from: '1970-01-01T02:00:00+02:00' },
    ],
    'budgets[2] counts what budgets[0] counts, in the same windows; leave one of them out',
  ],
  [
    [{ ...DAY, opening: 1 }],
    'budgets[0] has no member "opening"; its members are usd, tokens, requests, every, at, on, timezone, from, reserve_tokens, warn, overrun, over, models',
  ],
  ...[{}, { use: '', more: 1 }, { use: 'm' }, { use: 'm', more: 1, less: 2 }, 'm', null].map(
    (over) =>
      [
        [{ ...DAY, over }],
        `budgets[0].over must name a model and how much more it may spend, such as {"use": "gpt-5-nano", "more": 25}, not ${over === null ? 'null' : over === 'm' ? '"m"' : 'an object'}`,
      ] as const,
  ),
  [
    [{ ...DAY, over: { use: 'm', more: -1 } }],
    'budgets[0].over.more must be a number from 0 to 1000000000 with at most six decimals, not -1',
  ],
  [
    [{ tokens: 5, over: { use: 'm', more: 0.5 } }],
    'budgets[0].over.more must be an integer from 0 to 9007199254740991, not 0.5',
  ],
  [[{ ...DAY, overrun: 'two' }], 'budgets[0].overrun must be one or none, not "two"'],
  ...[0.5, [0], [1.1], [0.8, 0.5], [0.5, 0.5], ['0.5'], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [null]].map(
    (warn) =>
      [
        [{ ...DAY, warn }],
        `budgets[0].warn must be at most 5 ascending numbers above 0, up to 1, such as [0.5, 0.8], not ${typeof warn === 'number' ? warn : 'a list'}`,
      ] as const,
  ),
  [
    Array.from({ length: 17 }, (_each, at) => ({ usd: 1, every: `${at + 1}m` })),
    'budgets has 17 entries, the limit is 16',
  ],
];

describe('budgets that are written', () => {
  it('are refused by name where they are none, and nothing changes', async () => {
    const t = await startAdmin();
    const made = await t.makeKey({ budgets: [DAY] });
    for (const [budgets, message] of WRONG) {
      const wanted = [400, 'invalid_request', message];
      expect(said(await t.post('/admin/keys', { name: 'k', budgets })), message).to.deep.equal(wanted);
      const changed = await t.request('PUT', `/admin/keys/${made.id}`, { budgets, name: 'other' });
      expect(said(changed), message).to.deep.equal(wanted);
    }
    const shown = (await t.get(`/admin/keys/${made.id}`)).json();
    expect([shown['name'], shown['budgets']]).to.deep.equal([made['name'], [DAY]]);
  });

  it('are taken whole: a list replaces the one before, null and an empty one take it away', async () => {
    const t = await startAdmin();
    const made = await t.makeKey({ budgets: [DAY] });
    const put = async (body: object): Promise<unknown> =>
      (await t.request('PUT', `/admin/keys/${made.id}`, body)).json()['budgets'];
    expect(await put({ name: 'n' })).to.deep.equal([DAY]);
    expect(await put({ budgets: [{ requests: 1 }] })).to.deep.equal([{ requests: 1 }]);
    expect(await put({ budgets: [] })).to.equal(undefined);
    expect(await put({ budgets: [DAY] })).to.deep.equal([DAY]);
    expect(await put({ budgets: null })).to.equal(undefined);
  });
});

forBackends('budgets in a row of the store', (start) => {
  it('are what was written after the row is read again', async () => {
    const t = await start();
    const budgets = [{ usd: 0.1, every: 'month', on: 31, timezone: 'Asia/Kolkata' }, { requests: 3 }];
    const made = await t.makeKey({ budgets });
    expect((await t.get(`/admin/keys/${made.id}`)).json()['budgets']).to.deep.equal(budgets);
  });
});

describe('a row with budgets that cannot be read', () => {
  for (const text of ['', 'x', '{}', '[{"usd":"5"}]', '[{"usd":5,"every":"year"}]', '[{"usd":5,"over":{"use":"m"}}]'])
    it(`grants nothing: ${text}`, () => {
      expect(keyOf({ id: 'k', key_hash: 'h', budgets: text, created_at: '2026-01-01T00:00:00Z' }).limits).to.deep.equal(
        {
          budgets: [{ requests: 0 }],
        },
      );
    });

  it('is none where the column is empty', () => {
    expect(keyOf({ id: 'k', key_hash: 'h', budgets: null, created_at: '2026-01-01T00:00:00Z' }).limits).to.deep.equal(
      {},
    );
  });
});
