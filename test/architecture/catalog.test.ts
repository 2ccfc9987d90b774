import { expect } from 'chai';
import { catalogLookups, OTHER_LOOKUPS } from './catalog-rules.ts';
import { filesIn, problemsIn, read } from './source.ts';

describe('lookups in the catalog', () => {
  it("ask by a target's catalogProvider", () => {
    expect(problemsIn(filesIn('host', 'builtins'), catalogLookups)).to.deep.equal([]);
  });

  it('by other names stand where they are listed', () => {
    const found = Object.keys(OTHER_LOOKUPS).flatMap((path) => catalogLookups(`elsewhere/${path}`, read(path)));
    expect(new Set(found.map((line) => line.replace(/^elsewhere\/(.*?):\d+: /, '$1 ')))).to.have.keys(
      ...Object.entries(OTHER_LOOKUPS).flatMap(([path, names]) => names.map((name) => `${path} ${name}`)),
    );
  });

  it('by the name of the target or of its module are refused', () => {
    for (const asked of ['target.virtualKey', 'provider.module.name', 'target', "'openai'"])
      expect(catalogLookups('host/x.ts', `services.catalog.entry(${asked}, model);`), asked).to.deep.equal([
        `host/x.ts:1: ${asked}`,
      ]);
    expect(catalogLookups('host/x.ts', 'catalog.cost(target.catalogProvider, model, billed);')).to.deep.equal([]);
  });
});
