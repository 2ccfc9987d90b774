import { writeSync } from 'node:fs';
import { registerHooks } from 'node:module';

/** Imported by a process before the bin: at its end it writes the packages that it loaded to stderr, in one line. */
const LOADED = 'packages loaded: ';

const loaded = new Set<string>();
registerHooks({
  load: (url, context, next) => {
    const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1];
    if (name !== undefined) loaded.add(name);
    return next(url, context);
  },
});
process.on('exit', () => { writeSync(2, `\n${LOADED}${[...loaded].toSorted().join(' ')}\n`); });
