import { expect } from 'chai';
import { INHERITED_MEMBERS, type WrittenAccount } from '../../host/common/accounts/account-members.ts';
import { AccountTree } from '../../host/common/accounts/account-tree.ts';
import { cases, Dice } from '../kit/random.ts';

/** One value of each member that children take, so that the lists below are those of the code. */
const LIMITS = {
  budgets: [{ usd: 5, every: 'day' }],
  rpm: 60,
  tpm: 6000,
  max_parallel: 3,
  models: { allow: ['gpt-*'] },
  providers: { deny: ['local'] },
  unpriced: 'warn',
  required_tags: ['project'],
  session: { budgets: [{ requests: 9 }] },
} as const;

const NAMES = ['a', 'b', 'c'] as const;
const TAGS = ['#x', '#xy', '#x*', '#*', '#project=*', '#project=red'].filter((tag) => tag !== '#*');

describe('The tree of accounts', () => {
  const tree = (declared: readonly WrittenAccount[], stored: readonly WrittenAccount[] = []): AccountTree =>
    new AccountTree({ declared, stored, timezone: 'UTC' });

  it('has a value of each inherited member in this test', () => {
    expect(Object.keys(LIMITS)).to.have.members([...INHERITED_MEMBERS]);
  });

  it('asks nothing of / where it is not written, and names it at the end of each chain', () => {
    const one = tree([{ path: '/acme/search' }]);
    expect(one.chain('/acme/search')?.map(({ path }) => path)).to.deep.equal(['/acme/search', '/acme', '/']);
    expect(one.root.budgets).to.deep.equal([]);
    expect([...one.known()].map(({ path, origin }) => [path, origin])).to.deep.equal([
      ['/', 'implied'],
      ['/acme', 'implied'],
      ['/acme/search', 'declared'],
    ]);
    expect([...tree([]).known()]).to.deep.equal([]);
    expect(tree([]).chain()).to.have.length(1);
  });

  it('lets a declaration count whole where something is stored too', () => {
    const both = tree([{ path: '/a', rpm: 5 }], [{ path: '/a', tpm: 7 }]);
    expect(both.find('/a')).to.include({ origin: 'declared', rpm: 5, tpm: undefined });
    expect(tree([], [{ path: '/a', tpm: 7 }]).find('/a')).to.include({ origin: 'stored', tpm: 7 });
  });

  it('gives a child each default that it has none of its own for', () => {
    for (const name of INHERITED_MEMBERS) {
      const parent = { path: '/a', child_default: { ...LIMITS } } as WrittenAccount;
      const child = tree([parent, { path: '/a/b', [name]: LIMITS[name] }]).find('/a/b');
      expect(child?.inherited, name).to.have.members(INHERITED_MEMBERS.filter((each) => each !== name));
      expect(child?.effective).to.deep.include(LIMITS);
    }
  });

  it('lets an empty list of budgets be a child’s own', () => {
    const child = tree([
      { path: '/a', child_default: { budgets: [{ usd: 1 }] } },
      { path: '/a/b', budgets: [] },
    ]);
    expect(child.find('/a/b')?.budgets).to.deep.equal([]);
    expect(child.find('/a/c')?.budgets).to.have.length(1);
    expect(child.find('/a/c/d')).to.equal(undefined);
    expect(child.chain('/a/c/d')).to.equal(undefined);
  });

  it('finds what a tag binds: the exact one, each pattern with a budget of its own for the value', () => {
    const tags = tree([{ path: '#project=*' }, { path: '#project=red' }, { path: '#nightly' }]);
    expect(tags.tags(['nightly', 'project=red', 'nightly']).map(({ budgetId }) => budgetId)).to.deep.equal([
      't:nightly',
      't:project=red',
      't:project=*~project=red',
    ]);
    expect(tags.tags(['other'])).to.deep.equal([]);
    expect(tags.find('#project=blue')).to.include({ origin: 'implied', budgetId: 't:project=*~project=blue' });
    expect(tags.find('#other')).to.equal(undefined);
  });

  it('is what a naive reading of generated accounts is', () => {
    const dice = new Dice(730);
    for (let at = 0; at < cases(10_000); at += 1) {
      const declared = someAccounts(dice);
      const stored = someAccounts(dice);
      const made = tree(declared, stored);
      for (const path of somePaths(dice)) {
        const expected = naive(path, declared, stored);
        const found = made.find(path);
        const text = JSON.stringify({ path, declared, stored });
        expect(found && { origin: found.origin, ...found.effective }, text).to.deep.equal(expected);
        expect(
          made.chain(path)?.map((each) => each.path),
          text,
        ).to.deep.equal(expected && naiveChain(path));
      }
      const names = TAGS.map((tag) => tag.slice(1)).filter((name) => !name.endsWith('*'));
      expect(made.tags(names).map(({ budgetId }) => budgetId)).to.deep.equal(naiveTags(names, declared, stored));
    }
  });
});

function somePaths(dice: Dice): readonly string[] {
  return Array.from({ length: 4 }, () => somePath(dice));
}

function somePath(dice: Dice): string {
  const depth = dice.below(4);
  return depth === 0 ? '/' : Array.from({ length: depth }, () => `/${dice.pick(NAMES)}`).join('');
}

function someLimits(dice: Dice): object {
  return Object.fromEntries(Object.entries(LIMITS).filter(() => dice.below(3) === 0));
}

function someAccounts(dice: Dice): readonly WrittenAccount[] {
  const paths = new Set(Array.from({ length: dice.below(5) }, () => somePath(dice)));
  const accounts = [...paths].map((path) => ({
    path,
    ...someLimits(dice),
    ...(dice.below(2) === 0 && { child_default: someLimits(dice) }),
  }));
  return [...accounts, ...TAGS.filter(() => dice.below(3) === 0).map((path) => ({ path, ...someLimits(dice) }))];
}

/** A second reading, which looks at nothing but lists: what stands there, or what the nearest account above gives. */
function naive(
  path: string,
  declared: readonly WrittenAccount[],
  stored: readonly WrittenAccount[],
): Readonly<Record<string, unknown>> | undefined {
  const own = declared.find((each) => each.path === path) ?? stored.find((each) => each.path === path);
  const origin = declared.some((each) => each.path === path) ? 'declared' : own ? 'stored' : 'implied';
  const isAbove = [...declared, ...stored].some((each) => each.path.startsWith(path === '/' ? '/' : `${path}/`));
  if (path === '/') return { origin, path, ...own };
  const up = path.replace(/\/[^/]*$/, '') || '/';
  const parent = naive(up, declared, stored);
  const given = parent?.['child_default'] as object | undefined;
  if (!own && !isAbove && !given) return undefined;
  return { origin, path, ...given, ...own };
}

function naiveChain(path: string): readonly string[] {
  const parts = path === '/' ? [] : path.slice(1).split('/');
  return [...parts.map((_, at) => `/${parts.slice(0, parts.length - at).join('/')}`), '/'];
}

function naiveTags(
  names: readonly string[],
  declared: readonly WrittenAccount[],
  stored: readonly WrittenAccount[],
): readonly string[] {
  const paths = [...new Set([...stored, ...declared].map(({ path }) => path))];
  return names.toSorted().flatMap((name) => [
    ...paths.filter((path) => path === `#${name}`).map(() => `t:${name}`),
    ...paths
      .filter((path) => path.endsWith('*') && `#${name}`.startsWith(path.replace('*', '')))
      .toSorted()
      .map((path) => `t:${path.slice(1)}~${name}`),
  ]);
}
