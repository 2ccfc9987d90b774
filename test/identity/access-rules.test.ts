import { expect } from 'chai';
import { AccessRules } from '../../builtins/identity/access-rules.ts';
import { shownName } from '../../builtins/identity/shown-name.ts';
import { cases, Dice } from '../kit/index.ts';

/** The rules once more, as one reads them. */
function expected(rules: readonly any[], claims: any): number | undefined {
  const texts = (value: any): string[] => {
    const list = Array.isArray(value) ? value.filter((each) => typeof each !== 'boolean') : [value];
    return list.flatMap((each) =>
      ['string', 'boolean'].includes(typeof each) || Number.isSafeInteger(each) ? [String(each)] : [],
    );
  };
  const look = (name: string): any => {
    if (Object.hasOwn(claims, name)) return claims[name];
    let at: any = claims;
    for (const part of name.split('.')) {
      if (typeof at !== 'object' || at === null || Array.isArray(at) || !Object.hasOwn(at, part)) return undefined;
      at = at[part];
    }
    return at;
  };
  const index = rules.findIndex(({ when, account }) =>
    Object.entries(when as object).every(([claim, value]) => {
      if (claim === 'email' && ![true, 'true'].includes(claims.email_verified)) return false;
      const patterns = [value].flat().map(String);
      const found = texts(look(claim)).find((text) => patterns.some((each) => fits(text, each)));
      if (found === undefined) return false;
      const pattern = patterns.find((each) => fits(found, each)) ?? '';
      return (
        !account?.includes('$1') ||
        !pattern.endsWith('*') ||
        /^[A-Za-z0-9][\w.-]*$/.test(found.slice(pattern.length - 1))
      );
    }),
  );
  return index < 0 ? undefined : index + 1;
}

const fits = (text: string, pattern: string): boolean =>
  pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : text === pattern;

const VALUES: readonly unknown[] = [
  'admins', 'team-a', 'team-b', 'team-', 'team-../x', 'team-a/b', 'Team-a', '7', 7, 7.5, 2 ** 53, true, 'true', '', null,
  { a: 'admins' }, [], ['admins'], ['x', 'team-a'], [7, true], [['admins']], [null, 'team-b'], '__proto__',
]; // prettier-ignore
const CLAIMS = ['groups', 'email', 'email_verified', 'realm.roles', 'constructor', 'toString', '__proto__'];
const PATTERNS: readonly unknown[] = [
  'admins',
  'team-*',
  'team-a',
  '7',
  7,
  'true',
  ['admins', 'team-*'],
  ['x', 'y'],
  'A*',
];

describe('rules of access', () => {
  it('give what a plain reading of them gives', () => {
    for (let seed = 1; seed <= cases(20_000); seed += 1) {
      const dice = new Dice(seed);
      const claims: Record<string, unknown> = Object.create(Object.prototype);
      for (const name of CLAIMS)
        if (dice.below(2) === 0)
          Object.defineProperty(claims, name, { value: dice.pick(VALUES), enumerable: true, writable: true });
      if (dice.below(2) === 0)
        Object.defineProperty(claims, 'realm', { value: { roles: dice.pick(VALUES) }, enumerable: true });
      const rules = Array.from({ length: 1 + dice.below(4) }, () => {
        const names = dice.below(3) === 0 ? ['groups', dice.pick(CLAIMS)] : [dice.pick(CLAIMS)];
        const starred = dice.below(3) === 0;
        return {
          when: Object.fromEntries(
            [...new Set(names)]
              .filter((name) => name !== '__proto__')
              .concat(names.length === 1 && names[0] === '__proto__' ? ['groups'] : [])
              .map((name) => [name, starred ? dice.pick(['admins', 'team-a']) : dice.pick(PATTERNS)]),
          ),
          access: 'inference',
          ...(starred && { when: { groups: dice.pick(['team-*', ['admins', 'team-*']]) }, account: '/a/$1' }),
        };
      });
      const isPlain = rules.every(({ account, when }: any) => !account || !JSON.stringify(when).includes('admins'));
      if (!isPlain) continue; // the plain reading above says nothing of what $1 is then
      const found = new AccessRules(rules).grantOf(claims);
      expect(found?.rule, JSON.stringify({ seed, rules, claims })).to.equal(expected(rules, claims));
    }
  });

  it('give the first that matches, and its account', () => {
    const rules = new AccessRules([
      { when: { groups: 'admins' }, scopes: ['admin'] },
      { when: { groups: 'viewers' }, scopes: ['read_only'] },
      { when: { groups: 'team-*' }, access: 'inference', account: '/acme/$1', limits: { rpm: 60 } },
    ]);
    expect(rules.grantOf({ groups: ['team-search', 'viewers'] })).to.include({ rule: 2, limits: undefined });
    expect(rules.grantOf({ groups: ['team-search'] })?.limits).to.deep.equal({ account: '/acme/search', rpm: 60 });
    expect(rules.grantOf({ groups: ['team-a/b'] })).to.equal(undefined);
    expect(rules.grantOf({ groups: ['team-$&'] })).to.equal(undefined);
    expect(rules.grantOf({ groups: 'team-' })).to.equal(undefined);
  });

  it('count an address only where the issuer has checked it', () => {
    const rules = new AccessRules([{ when: { email: 'ada@acme.example' }, scopes: ['admin'] }]);
    const grants = [true, 'true', false, 'false', 1, undefined].map(
      (checked) => rules.grantOf({ email: 'ada@acme.example', email_verified: checked })?.rule,
    );
    expect(grants).to.deep.equal([1, 1, undefined, undefined, undefined, undefined]);
  });

  it('show names without what others could not see', () => {
    expect(shownName('Ada\u202e\u0000 Love\u200blace\n')).to.equal('Ada Lovelace');
    expect(shownName('x'.repeat(10_000))).to.have.length(256);
    expect(shownName('\ud800<b>')).to.equal('<b>');
  });
});
