import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { filesIn, parse, problemsIn, read, ROOT, walk } from './source.ts';

/** As it is written everywhere: the build of the package looks for this form, and the import of types is what the rules on imports see. */
const FORM = /\blateFile<typeof (\w+)>\(\s*import\.meta,\s*'(\.\/[\w-]+\.ts)',?\s*\)/g;

/** Refuses a late file that is named in another way, and one that its own import of types does not name. */
function lateFileProblems(path: string, source: string): string[] {
  let calls = 0;
  walk(parse(path, source), (node) => {
    if (node.type === 'CallExpression' && node['callee'].name === 'lateFile') calls += 1;
  });
  const known = [...source.matchAll(FORM)].filter(([, name, file]) =>
    source.includes(`import type * as ${name} from '${file}';`),
  );
  return calls === known.length
    ? []
    : [
        `${path}: it names a late file in another way than "import type * as Name from './file.ts'" and lateFile<typeof Name>(import.meta, './file.ts')`,
      ];
}

const files = filesIn('host', 'builtins', 'providers', 'strategies', 'plugins').filter(
  (path) => path !== 'host/contract/late.ts',
);

describe('files that are loaded late', () => {
  it('are named in one way, which the bundle and the rules on imports know', () => {
    expect(problemsIn(files, lateFileProblems)).to.deep.equal([]);
  });

  for (const source of [
    "lateFile(import.meta, './a.ts')(['b']);",
    "lateFile<object>(import.meta, './a.ts');",
    "import type * as A from './a.ts'; lateFile<typeof A>(import.meta, './b.ts');",
    "import type * as A from '../host/a.ts'; lateFile<typeof A>(import.meta, '../host/a.ts');",
    "import type * as A from './a.ts'; lateFile<typeof A>(import.meta, 'knex');",
    "import type * as A from './a.ts'; lateFile<typeof A>(import.meta, name);",
  ]) {
    it(`are refused: ${source}`, () => expect(lateFileProblems('providers/acme/index.ts', source)).to.have.lengthOf(1));
  }

  it('have no function in the object of a translation that is not named', async () => {
    let objects = 0;
    for (const path of filesIn('providers')) {
      const source = read(path);
      for (const [, , file = ''] of source.matchAll(FORM)) {
        const loaded = (await import(pathToFileURL(join(ROOT, dirname(path), file)).href)) as Record<string, object>;
        for (const [, part = '', names = ''] of source.matchAll(/\blate\(\s*'(\w+)',\s*\[([^\]]+)\]\s*,?\s*\)/g)) {
          objects += 1;
          expect(
            Array.from(names.matchAll(/'(\w+)'/g), ([, name]) => name),
            `${path}: ${part}`,
          ).to.have.members(Object.keys(loaded[part] ?? {}));
        }
      }
    }
    expect(objects).to.be.at.least(10);
  });
});
