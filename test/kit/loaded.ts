import { writeSync } from 'node:fs';
import { registerHooks, syncBuiltinESMExports } from 'node:module';
import v8 from 'node:v8';

/**
 * Imported by a process before the bin: at its end it writes the packages and the folders of modules that it loaded to stderr, a line each; and each flag
 * of V8 as it is set, with the modules of Node that came between the first flag of a start and the end of the start.
 */
const LOADED = 'packages loaded: ';
const OWN = 'own modules loaded: ';
const FILES = 'files loaded: ';
const FLAG = 'flag set: ';
const LATE = 'own modules loaded under the flags of a start: ';
const ROOT = new URL('../..', import.meta.url).href;

/** Node's own modules, which it lists by no documented name. */
const own = (): string[] =>
  (process as unknown as { readonly moduleLoadList: readonly string[] }).moduleLoadList
    .map((name) => name.replace(/^NativeModule /, ''))
    .filter((name) => !/^(Internal )?Binding |^internal\/(?!deps)/.test(name));

const { setFlagsFromString } = v8;
let atFirstFlag: ReadonlySet<string> | undefined;
v8.setFlagsFromString = (flag) => {
  atFirstFlag ??= new Set(own());
  if (flag === '--turbofan')
    writeSync(
      2,
      `\n${LATE}${own()
        .filter((name) => !atFirstFlag?.has(name))
        .join(' ')}\n`,
    );
  writeSync(2, `\n${FLAG}${flag}\n`);
  setFlagsFromString(flag);
};
syncBuiltinESMExports();

const loaded = new Set<string>();
const files = new Set<string>();
registerHooks({
  load: (url, context, next) => {
    const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1];
    if (name !== undefined) loaded.add(name);
    if (url.startsWith(ROOT)) files.add(url.slice(ROOT.length));
    return next(url, context);
  },
});
process.on('exit', () => {
  writeSync(
    2,
    `\n${OWN}${own().join(' ')}\n${FILES}${[...files].toSorted().join(' ')}\n${LOADED}${[...loaded].toSorted().join(' ')}\n`,
  );
});
