import { expect } from 'chai';
import { shippedProvider } from '../../builtins/cli/modules/shipped/provider-names.ts';
import { type Place, PLACES } from '../../builtins/cli/modules/shipped/shipped-places.ts';
import { some } from '../kit/index.ts';
import { CHECKOUT, gapsIn, skipWithGaps, type Tree } from './places.ts';
import { takenAway } from './take-away.ts';

const CATALOG = 'test/catalog/providers-without-rows.ts';
const titleOf = ({ file, what }: Place): string => `${what} of ${file}`;

/** This checkout with other texts. */
const withTexts = (texts: ReadonlyMap<string, string>, more: Partial<Tree> = {}): Tree => ({
  ...CHECKOUT,
  ...more,
  read: (file) => texts.get(file) ?? CHECKOUT.read(file),
});
const said = (tree: Tree): readonly string[] => gapsIn(tree).map(({ message }) => message);

const LAPWING = shippedProvider('lapwing', CHECKOUT.read('builtins/manifest.ts'), new Date(0));

/** The texts with one provider more, in every place but those left out. */
function added(...left: readonly Place[]): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const place of PLACES)
    if (!left.includes(place))
      texts.set(place.file, place.added(texts.get(place.file) ?? CHECKOUT.read(place.file), LAPWING));
  return texts;
}

describe('a place without a provider', () => {
  before(skipWithGaps);
  const module = { name: 'lapwing', wire: 'common' } as const;
  const grown: Partial<Tree> = {
    folders: [...CHECKOUT.folders, 'lapwing'],
    modules: [...CHECKOUT.modules, module],
    exists: () => true,
  };

  it('is not there where the command has added a provider', () => {
    expect(said(withTexts(added(), grown))).to.deep.equal([]);
  });

  for (const place of PLACES.filter(({ file }) => file !== CATALOG)) {
    it(`is said once, with provider and file: ${titleOf(place)}`, () => {
      expect(said(withTexts(added(place), grown))).to.deep.equal([`lapwing: no ${place.what} in ${place.file}`]);
      for (const name of some(place.names(CHECKOUT.read(place.file)), { every: 6, from: 2 })) {
        const text = takenAway(place, CHECKOUT.read(place.file), name);
        expect(said(withTexts(new Map([[place.file, text]])))).to.deep.equal([
          `${name}: no ${place.what} in ${place.file}`,
        ]);
      }
    });

    it(`and one that names a provider without a folder: ${titleOf(place)}`, () => {
      const text = place.added(CHECKOUT.read(place.file), LAPWING);
      expect(said(withTexts(new Map([[place.file, text]])))).to.deep.equal([
        `lapwing: ${place.what} in ${place.file}, and no folder providers/lapwing`,
      ]);
    });
  }

  it('is said once of each file of its own', () => {
    const asked: string[] = [];
    const exists = (file: string): boolean => asked.push(file) > 0;
    expect(said({ ...CHECKOUT, exists })).to.deep.equal([]);
    expect(asked).to.include.members(CHECKOUT.folders.map((name) => `test/providers/${name}.test.ts`));
    expect(asked).to.include('test/fixtures/novita/chat/stream.txt');
    for (const file of some(asked, { every: 8 }))
      expect(said({ ...CHECKOUT, exists: (each) => each !== file })).to.deep.equal([
        `${file.split(/[/.]/)[2]}: no ${file}`,
      ]);
  });
});
