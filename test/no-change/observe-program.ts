/** A process of its own for the code of one checkout: `node test/no-change/observe-program.ts <folder> <first> <last> digests|texts`. */
import { digestOf, observeAll } from './observe.ts';

const [root = '', first = '1', last = '1', form] = process.argv.slice(2);
const seeds = Array.from({ length: Number(last) - Number(first) + 1 }, (_none, at) => Number(first) + at);
await observeAll(root, seeds, (_seed, text) => {
  process.stdout.write(`${form === 'texts' ? JSON.stringify(text) : digestOf(text)}\n`);
});
process.exit(0); // kept connections of fetch would hold it
