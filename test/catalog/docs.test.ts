import { expect } from 'chai';
import { parse } from 'yaml';
import { blankEntry, readEntries } from '../../builtins/catalog/entries.ts';
import { read } from '../architecture/source.ts';
import { CAPABILITIES } from '../../host/common/catalog.ts';
import { CHAINS } from './catalogs.ts';
import { codes, rowsUnder } from '../docs/tables.ts';

describe('docs/catalog.md', () => {
  it('lists every field of an entry, every price and every capability', () => {
    const documented = rowsUnder('catalog.md', '## Entries').flatMap(([name, meaning]) => [
      ...codes(name),
      ...codes(meaning),
    ]);
    const { provider: _provider, model_id: _model, lifecycle, pricing, ...fields } = blankEntry('acme/m');
    expect(documented).to.include.members([
      ...Object.keys(fields),
      'pricing',
      'lifecycle',
      ...Object.keys(lifecycle),
      ...Object.keys(pricing),
      ...CAPABILITIES,
    ]);
  });

  it('lists the prefixes of every provider that has others than its name', () => {
    const documented = rowsUnder('catalog.md', "## Which entry is a target's").map(([provider, prefixes]) => [
      codes(provider)[0],
      codes(prefixes),
    ]);
    expect(documented).to.have.deep.members([...CHAINS]);
  });

  it('shows overlays that hold nothing in vain', () => {
    const samples = Array.from(
      read('docs/catalog.md').matchAll(/```yaml\n([\s\S]*?)```/g),
      ([, sample = '']) => sample,
    );
    const overlays = samples.filter((sample) => sample.includes('pricing:'));
    expect(overlays).to.have.lengthOf(2);
    for (const sample of overlays) {
      const { malformed, ignored, doubled } = readEntries(parse(sample));
      expect([...malformed, ...ignored, ...doubled]).to.deep.equal([]);
    }
  });
});

describe('docs/configuration.md', () => {
  it('lists the variables of the catalog', () => {
    const variables = read('builtins/catalog/settings.ts').match(/(?<=variables\[')[A-Z_]+(?='\])/g) ?? [];
    const proxies = read('builtins/catalog/fetch.ts').match(/(?<=of\(')[A-Z_]+(?='\))/g) ?? [];
    const documented = rowsUnder('configuration.md', '### Model catalog').flatMap(([name]) => codes(name));
    expect(documented).to.have.members([...variables, ...proxies]);
    expect(documented).to.have.lengthOf(8);
  });
});
