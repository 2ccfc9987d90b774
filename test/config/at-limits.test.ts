import { expect } from 'chai';
import { validateJson } from '../cli/commands.ts';

const many = <T>(count: number, item: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => item(at));
const key = { api_key: '${A_KEY}' };
const pool = (count: number): object => ({
  kind: 'openai',
  credentials: many(count, (each) => ({ name: `c${each}`, ...key })),
});
const one = (more: object): object => document({ providers: { a: { kind: 'openai', ...key, ...more } } });

function document(more: object): object {
  return { targets: [{ virtual_key: 'echo' }], ...more };
}

const routes = (count: number): readonly object[] => many(count, (at) => ({ target: 'echo', model: `u${at}` }));

/** Documents that have as much of something as rule CV57 allows; one more of each stands among the bad ones. */
const AT_LIMITS: Readonly<Record<string, object>> = {
  '256 instances': document({
    providers: Object.fromEntries(many(256, (at) => [`a${at}`, { kind: 'openai', ...key }] as const)),
  }),
  '1,024 credentials, 64 of each instance': document({
    providers: Object.fromEntries(many(16, (at) => [`a${at}`, pool(64)] as const)),
  }),
  '32 headers of an instance': one({ headers: Object.fromEntries(many(32, (at) => [`x-${at}`, 'v'] as const)) }),
  '10,000 models of an instance': one({ models: many(10_000, (at) => `m${at}`) }),
  '1,000 groups': document({ models: many(1000, (at) => ({ name: `m${at}`, routes: routes(1) })) }),
  '10,000 routes, 64 of a group at most': document({
    models: [
      ...many(156, (at) => ({ name: `m${at}`, routes: routes(64) })),
      { name: 'last', routes: routes(10_000 - 156 * 64) },
    ],
  }),
};

describe('a configuration at a limit', () => {
  for (const [name, config] of Object.entries(AT_LIMITS))
    it(`is taken: ${name}`, async () => {
      const { code, stderr } = await validateJson(config);
      expect([code, stderr]).to.deep.equal([0, '']);
    });
});
