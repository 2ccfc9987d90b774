import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { LATE_FILE, lateFileProblems } from './late-file-rules.ts';
import { filesIn, read, ROOT } from './source.ts';

describe('files that are loaded late', () => {
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
      for (const [, , file = ''] of source.matchAll(LATE_FILE)) {
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
