import { writeSync } from 'node:fs';
import { registerHooks } from 'node:module';

/** Imported by a process before the bin: at its end it writes the packages and the folders of modules that it loaded to stderr, a line each. */
const LOADED = 'packages loaded: ';
const FILES = 'files loaded: ';
const ROOT = new URL('../..', import.meta.url).href;

const loaded = new Set<string>();
const files = new Set<string>();
registerHooks({
  load: (url, context, next) => {
    const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1];
    if (name !== undefined) loaded.add(name);
    else if (url.startsWith(ROOT)) files.add(url.slice(ROOT.length));
    return next(url, context);
  },
});
process.on('exit', () => { writeSync(2, `\n${FILES}${[...files].toSorted().join(' ')}\n${LOADED}${[...loaded].toSorted().join(' ')}\n`); });
