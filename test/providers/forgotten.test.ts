import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { PLACES } from '../../builtins/cli/modules/shipped/shipped-places.ts';
import { shippedFiles } from '../../builtins/cli/modules/shipped/shipped-files.ts';
import { shippedProvider } from '../../builtins/cli/modules/shipped/provider-names.ts';
import { filesIn, importsOf, read } from '../architecture/source.ts';
import { runCommand } from '../cli/commands.ts';
import { copyCheckout, forSuite, isSoak, mochaIn } from '../kit/index.ts';
import { skipWithGaps } from './places.ts';
import { takenAway } from './take-away.ts';

const OWN = 'test/providers/forgotten.test.ts';
const MANIFEST = 'builtins/manifest.ts';
/** Tests of every kind of place. */
const QUICK = [
  'test/architecture/manifest.test.ts',
  'test/catalog/shipped.test.ts',
  'test/config/docs.test.ts',
  'test/contract/providers/coverage.test.ts',
  'test/contract/providers/matrix.test.ts',
  'test/docs/catalogue.test.ts',
  'test/providers/gaps.test.ts',
  'test/providers/places.test.ts',
];

/** Test files that read one of these files, by themselves or through what they import; the kit reads none for them. */
function readersOf(places: readonly string[]): readonly string[] {
  const words = places.map((file) => file.replace(/^(docs|test\/fixtures)\//, ''));
  const answers = new Map<string, boolean>();
  const isReader = (file: string): boolean => {
    const known = answers.get(file);
    if (known !== undefined) return known;
    answers.set(file, false); // a circle of imports
    const text = read(file);
    const imported = importsOf(file, text).flatMap(({ file: path }) => path ?? []);
    const answer =
      places.includes(file) ||
      words.some((word) => text.includes(`${word}'`)) ||
      imported.some((path) => path.startsWith('test/') && !/^test\/kit\/[\w-]+\.ts$/.test(path) && isReader(path));
    answers.set(file, answer);
    return answer;
  };
  return filesIn('test').filter((file) => file.endsWith('.test.ts') && file !== OWN && isReader(file));
}

/** What reads a place that was forgotten; of the manifest, what reads any other. */
function readers(file: string): readonly string[] {
  const others = PLACES.map((place) => place.file).filter((each) => each !== MANIFEST);
  if (file === MANIFEST) return readersOf(others);
  return readersOf([others.includes(file) ? file : 'test/contract/providers/facts.ts']); // golden files, which the facts name
}

/** One place is tried by test/cli/module-shipped.test.ts as well. */
describe('a place that was forgotten', () => {
  if (!isSoak()) return; // each is a run of mocha in a checkout that has no compiled code
  before(skipWithGaps);
  const copy = forSuite(async () => {
    const folder = await copyCheckout();
    const { code, stderr } = await runCommand(['module', 'new', 'provider', 'kumo', '--shipped'], { cwd: folder });
    expect(code, stderr).to.equal(0);
    return folder;
  });
  const inCopy = (file: string): Promise<string> => readFile(join(copy(), file), 'utf8');
  const provider = shippedProvider('kumo', read(MANIFEST), new Date(0));
  const own = Object.keys(shippedFiles(provider)).filter((file) => !file.startsWith('providers/'));
  const holes = [
    ...PLACES.map((place) => ({ file: place.file, what: place.what, place })),
    ...own.map((file) => ({ file, what: 'the file', place: undefined })),
  ];

  for (const { file, what, place } of holes)
    it(`is one failure that names provider and file: ${what} in ${file}`, async () => {
      const text = await inCopy(file);
      await (place ? writeFile(join(copy(), file), takenAway(place, text, 'kumo')) : rm(join(copy(), file)));
      const tests = [...QUICK, ...readers(file), ...own.filter((each) => each.endsWith('.test.ts'))];
      const { passes, failures } = await mochaIn(
        copy(),
        [...new Set(tests)].filter((each) => each !== file),
      );
      await writeFile(join(copy(), file), text);
      expect(passes).to.be.greaterThan(100);
      expect(failures, failures.join('\n')).to.have.lengthOf(1);
      expect(failures.flat().join(' ')).to.include('kumo').and.to.include(file);
    });
});
