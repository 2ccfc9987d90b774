import { expect } from 'chai';
import { timeOf } from '../../builtins/stores/database/database.ts';
import { isExposed, POSTGRES } from '../../builtins/stores/database/postgres.ts';
import { derivedDsn, readSqliteDsn } from '../../builtins/stores/database/sqlite-dsn.ts';

describe('the DSN of a SQLite database', () => {
  const files: readonly (readonly [dsn: string, file: string])[] = [
    ['/data/keys.db', '/data/keys.db'],
    ['keys.db', 'keys.db'],
    ['keys.db?mode=memory', 'keys.db'],
    ['/data/a b%20.db', '/data/a b%20.db'],
    ['file:/data/a%20b.db', '/data/a b.db'],
    ['file:///data/keys.db', '/data/keys.db'],
    ['file://localhost/data/keys.db', '/data/keys.db'],
    ['file:keys.db?cache=shared', 'keys.db'],
    [':memory:', ':memory:'],
    ['file::memory:', ':memory:'],
    ['file::memory:?cache=shared', ':memory:'],
    ['file:x?mode=memory', ':memory:'],
  ];
  for (const [dsn, file] of files)
    it(`${dsn} names ${file}`, () => {
      expect(readSqliteDsn(dsn).file).to.equal(file);
    });

  for (const dsn of ['file://elsewhere/keys.db', 'file:', 'file:/a%zz.db', '?x=1', 'keys.db?_pragma=a;DROP']) {
    it(`${dsn} is refused`, () => {
      expect(() => readSqliteDsn(dsn)).to.throw(Error);
    });
  }

  it('sets what its query says', () => {
    expect(
      readSqliteDsn('keys.db?_pragma=busy_timeout(100)&_pragma=journal_mode%3DDELETE&_synchronous=FULL&cache=shared')
        .pragmas,
    ).to.deep.equal([
      ['busy_timeout', '100'],
      ['journal_mode', 'DELETE'],
      ['synchronous', 'FULL'],
    ]);
  });

  const derived: readonly (readonly [dsn: string, sessions: string])[] = [
    ['/data/keys.db', '/data/keys-sessions.db'],
    ['/data/keys', '/data/keys-sessions.db'],
    ['/data/app.v2/keys.db', '/data/app.v2/keys-sessions.db'],
    ['/data/app.v2/keys', '/data/app.v2/keys-sessions.db'],
    ['file:/data/keys.db?_pragma=busy_timeout(1)', 'file:/data/keys-sessions.db?_pragma=busy_timeout(1)'],
    ['keys.sqlite3?a=b', 'keys-sessions.db?a=b'],
    [':memory:', ':memory:'],
    ['file::memory:', 'file::memory:'],
    ['file:x?mode=memory', 'file:x?mode=memory'],
  ];
  for (const [dsn, sessions] of derived)
    it(`${dsn} puts sessions at ${sessions}`, () => {
      expect(derivedDsn(dsn, 'sessions')).to.equal(sessions);
    });
});

describe('a Postgres database', () => {
  const exposed = [
    'postgres://u:p@db.example.com/gw',
    'postgres://u:p@8.8.8.8/gw?sslmode=disable',
    'postgres://u:p@[2001:db8::1]:5432/gw',
    'postgres://db.example.com/gw?sslmode=allow',
  ];
  const fine = [
    'postgres://u:p@db.example.com/gw?sslmode=require',
    'postgres://db.example.com/gw?sslmode=verify-full',
    'postgres://db.example.com/gw?ssl=true',
    'postgres://u@localhost/gw',
    'postgres://u@127.0.0.1/gw',
    'postgres://u@10.1.2.3/gw',
    'postgres://u@172.20.0.2/gw',
    'postgres://u@192.168.1.2/gw',
    'postgres://u@[::1]/gw',
    'postgres://u@[fd00::1]/gw',
    'postgres://u@db/gw',
    'postgres://u@db.internal/gw',
    'postgres://u@db.prod.svc/gw',
    'postgres://u@/gw?host=/var/run/postgresql',
    'host=/var/run/postgresql',
  ];
  for (const dsn of exposed)
    it(`${dsn} can be read on its way`, () => {
      expect(isExposed(dsn)).to.equal(true);
    });
  for (const dsn of fine)
    it(`${dsn} is not warned of`, () => {
      expect(isExposed(dsn)).to.equal(false);
    });

  it('knows the year 0 by another name', () => {
    expect([POSTGRES.time(Date.parse('0000-05-06T07:08:09.010Z')), POSTGRES.time(0)]).to.deep.equal([
      '0001-05-06T07:08:09.010Z BC',
      '1970-01-01T00:00:00.000Z',
    ]);
  });
});

describe('a moment in a database', () => {
  const noon = Date.parse('2026-11-22T12:00:00.120Z');
  for (const text of [
    '2026-11-22T12:00:00.120Z',
    '2026-11-22 12:00:00.12+00',
    '2026-11-22 14:00:00.12+02',
    '2026-11-22 17:30:00.12+05:30',
    '2026-11-22 12:00:00.120',
    '2026-11-22 12:00:00.120000000 +0000 UTC',
    noon,
  ]) {
    it(`is read from ${text}`, () => {
      expect(timeOf(text)).to.equal(noon);
    });
  }

  it('is absent, of seconds, or refused', () => {
    expect([timeOf(null), timeOf(undefined), timeOf(1_700_000_000)]).to.deep.equal([
      undefined,
      undefined,
      1_700_000_000_000,
    ]);
    for (const text of ['', 'yesterday', '2026-13-40T00:00:00Z', '2026-11-22'])
      expect(() => timeOf(text), text).to.throw('is not a moment');
  });
});
