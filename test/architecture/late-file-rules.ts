import { type Checker, parse, walk } from './source.ts';

/** As it is written everywhere: the build of the package looks for this form, and the import of types is what the rules on imports see. */
export const LATE_FILE = /\blateFile<typeof (\w+)>\(\s*import\.meta,\s*'(\.\/[\w-]+\.ts)',?\s*\)/g;

/** Refuses a late file that is named in another way, and one that its own import of types does not name. */
export const lateFileProblems: Checker = (path, source) => {
  if (!source.includes('lateFile')) return []; // nearly all files
  let calls = 0;
  walk(parse(path, source), (node) => {
    if (node.type === 'CallExpression' && node['callee'].name === 'lateFile') calls += 1;
  });
  const known = [...source.matchAll(LATE_FILE)].filter(([, name, file]) =>
    source.includes(`import type * as ${name} from '${file}';`),
  );
  return calls === known.length
    ? []
    : [
        `${path}: it names a late file in another way than "import type * as Name from './file.ts'" and lateFile<typeof Name>(import.meta, './file.ts')`,
      ];
};
