/** A process of its own for the code of one checkout: `node test/no-change/observe-program.ts <folder> digests|texts|unused [first] [last]`. */
import { digestOf, observeAll } from './observe.ts';
import { observeUnused } from './unused.ts';

const [root = '', form, first = '1', last = first] = process.argv.slice(2);
if (form === 'unused') process.stdout.write(`${JSON.stringify(await observeUnused(root))}\n`);
else {
  const seeds = Array.from({ length: Number(last) - Number(first) + 1 }, (_none, at) => Number(first) + at);
  await observeAll(root, seeds, (_seed, text) => {
    process.stdout.write(`${form === 'texts' ? JSON.stringify(text) : digestOf(text)}\n`);
  });
}
process.exit(0); // kept connections would hold it
