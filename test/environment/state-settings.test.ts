import { expect } from 'chai';
import { readStateFailure, readStateSettings } from '../../host/environment/state-settings.ts';
import type { SettingNote } from '../../host/environment/setting-note.ts';

const PASSWORD = 'canary-password';

function read(url: string, prefix?: string): { settings: ReturnType<typeof readStateSettings>; notes: SettingNote[] } {
  const notes: SettingNote[] = [];
  const variables = { GW_STATE_URL: url, ...(prefix !== undefined && { GW_STATE_PREFIX: prefix }) };
  return { settings: readStateSettings(variables, notes), notes };
}

describe('the address of what replicas share', () => {
  it('is none where it is unset, blank or memory', () => {
    for (const text of ['', '  ', 'memory', ' memory '])
      expect(read(text)).to.deep.equal({ settings: undefined, notes: [] });
  });

  it('says host, port, user, password, database, and whether it is encrypted', () => {
    const { settings } = read('valkeys://me:p%40ss@[::1]:7000/3?ca=/etc/ca.pem&servername=cache', 'blue-1');
    expect(settings).to.deep.equal({
      host: '::1',
      port: 7000,
      isEncrypted: true,
      user: 'me',
      password: 'p@ss',
      database: 3,
      ca: '/etc/ca.pem',
      serverName: 'cache',
      prefix: 'blue-1',
    });
    for (const scheme of ['redis', 'rediss', 'valkey', 'valkeys'])
      expect(read(`${scheme}://cache`).settings).to.include({
        host: 'cache',
        port: 6379,
        isEncrypted: scheme.endsWith('s') && scheme !== 'redis',
        database: 0,
        prefix: 'default',
      });
  });

  const REFUSED: Readonly<Record<string, string>> = {
    nonsense: 'write memory, or an address',
    postgres: 'write memory, or an address',
    [`http://:${PASSWORD}@cache`]: 'its scheme is not known',
    [`redis+sentinel://:${PASSWORD}@a:1,b:2/main`]: '',
    [`redis://:${PASSWORD}@cache:99999`]: 'write memory, or an address',
    [`redis://:${PASSWORD}@cache:0`]: 'its port is 0',
    [`redis://:${PASSWORD}@`]: '',
    [`redis://:${PASSWORD}@cache/x`]: 'its path is not the number of a database',
    [`redis://:${PASSWORD}@cache/1#x`]: 'it ends in a fragment',
    [`redis://:${PASSWORD}%zz@cache`]: 'its user or password is not well encoded',
    [`rediss://:${PASSWORD}@cache?db=1`]: 'its query holds something else',
    [`rediss://:${PASSWORD}@cache?servername=a&servername=b`]: 'its query says something twice',
    [`redis://:${PASSWORD}@cache?servername=a`]: 'ca and servername are for rediss and valkeys',
    [`rediss://:${PASSWORD}@cache?ca=ca.pem`]: 'ca is not an absolute path',
    [`rediss://:${PASSWORD}@cache?servername=`]: 'servername is empty',
  };
  for (const [url, why] of Object.entries(REFUSED))
    it(`is refused without a word of its password: ${url.replace(PASSWORD, 'password')}`, () => {
      const { settings, notes } = read(url);
      expect(settings).to.equal(undefined);
      expect(notes).to.have.length(1);
      expect(notes[0]).to.include({ level: 'fatal' });
      expect(notes[0]!.message).to.include(`GW_STATE_URL cannot be used: ${why}`).and.not.include(PASSWORD);
    });

  it('goes with a prefix of 1 to 32 characters of a to z, 0 to 9 and -', () => {
    expect(read('redis://cache', 'a'.repeat(32)).notes).to.deep.equal([]);
    for (const bad of ['A', 'a b', 'a:b', '{a}', 'a'.repeat(33)])
      expect(
        read('redis://cache', bad).notes.map(({ level }) => level),
        bad,
      ).to.deep.equal(['fatal']);
  });
});

describe('what holds for budgets while their store is away', () => {
  for (const [text, word, levels] of [
    [undefined, 'open', []],
    [' ', 'open', []],
    ['open', 'open', []],
    [' closed\n', 'closed', []],
    ['Closed', 'open', ['fatal']],
    ['true', 'open', ['fatal']],
  ] as const)
    it(`is read as it is written: ${JSON.stringify(text)}`, () => {
      const notes: SettingNote[] = [];
      expect(readStateFailure({ GW_STATE_FAILURE: text }, notes)).to.equal(word);
      expect(notes.map(({ level }) => level)).to.deep.equal(levels);
    });
});
