import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { PLACES } from '../../builtins/cli/modules/shipped/shipped-places.ts';
import { read } from '../architecture/source.ts';
import { EXCLUDED, PROVIDERS } from '../contract/providers/support.ts';

const NATIVE = PROVIDERS.filter(({ wire }) => wire === 'native').map(({ name }) => name);

/** Providers that do not stand in a file, beside `echo`, which has no vendor. */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  'test/contract/providers/facts.ts': Object.keys(EXCLUDED),
  'test/e2e/support/vendors/vendors.ts': NATIVE,
  'test/kit/strict/vendors.ts': [...NATIVE, 'mistral'], // mistral: test/kit/strict/mistral.ts
};
/** Rows of the catalog stand for a reason; test/catalog/shipped.test.ts asks for one of the two. */
const CATALOG = 'test/catalog/providers-without-rows.ts';

describe('the places of a shipped provider', () => {
  for (const { name, offline } of PROVIDERS) {
    it(`all hold ${name}`, () => {
      const missing = PLACES.filter(
        ({ file, names }) => file !== CATALOG && !ELSEWHERE[file]?.includes(name) && !names(read(file)).includes(name),
      ).map(({ file, what }) => `${name}: no ${what} in ${file}`);
      const test = `test/providers/${name}.test.ts`;
      expect([
        ...(offline ? [] : missing),
        ...(existsSync(new URL(`../../${test}`, import.meta.url)) ? [] : [`${name}: no test, ${test}`]),
      ]).to.deep.equal([]);
    });
  }
});
