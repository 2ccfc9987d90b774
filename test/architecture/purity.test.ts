import { expect } from 'chai';
import { impureCalls, looseTypes, mutableState, processUse } from './purity-rules.ts';
import { type Checker, filesIn, problemsIn } from './source.ts';

/** The product, and modules of the examples: the servers and scripts beside those are programs of their own. */
const FILES = [
  ...filesIn('host', 'builtins', 'providers', 'strategies', 'plugins'),
  ...filesIn('examples').filter((path) => /\/(providers|strategies|plugins)\//.test(path)),
];

/** One rule over the whole tree, then over sources it must refuse and sources it must let pass. */
function describeRule(
  title: string,
  checker: Checker,
  refused: readonly string[],
  allowed: readonly string[],
  path = 'host/planted.ts',
): void {
  describe(title, () => {
    it('is found in no file', () => {
      expect(problemsIn(FILES, checker)).to.deep.equal([]);
    });
    for (const source of refused)
      it(`refuses: ${source}`, () => {
        expect(checker(path, source), 'problems').to.have.lengthOf(1);
      });
    for (const source of allowed)
      it(`allows: ${source}`, () => {
        expect(checker(path, source)).to.deep.equal([]);
      });
  });
}

describeRule(
  'module-level state that can change',
  mutableState,
  [
    'let count = 0;',
    'export let count = 0;',
    'var count;',
    'const seen = new Set(); export function see(name) { seen.add(name); }',
    'const cache = new Map(); export const read = (key) => { cache.set(key, 1); };',
    'const lists = new Map(); const add = (key, item) => lists.get(key)?.push(item);',
    'const totals = {}; function count(name) { totals[name] = 1; }',
    'const totals = { all: 0 }; function count() { totals.all += 1; }',
    'const totals = { all: 0 }; function count() { totals.all++; }',
    'const totals = { all: 0 }; function reset() { delete totals.all; }',
    'const settings = {}; const apply = (more) => Object.assign(settings, more);',
    'const queue = []; export default { create: () => ({ before_request: (exchange) => { queue.push(exchange); } }) };',
    "import { table } from './table.ts'; export function put(key) { table.set(key, 1); }",
    'function next() { next.count = 1; }',
    'class Ids { static last = 0; }',
    'class Ids {} function reset() { Ids.last = 0; }',
    'const pool = new Agent();',
    'const state = { pool: new Agent() };',
    'const nextId = createIdSource();',
    'export default defineProvider({ connection: { agent: new Agent() } });',
    'const nextId = (() => { let last = 0; return () => (last += 1); })();',
  ],
  [
    'const table = new Map([[1, 2]]); export const look = (key) => table.get(key);',
    'const table = new Map(); for (const name of NAMES) table.set(name, 1);',
    'const LIMITS = Object.freeze({ most: 4 });',
    'const PATTERN = new RegExp("a"), NUMBERS = new Intl.NumberFormat("en");',
    'export const rule = { check: (list) => list.push(1) };',
    'const seen = new Set([1]); function other() { const seen = new Set(); seen.add(2); }',
    'const seen = new Set([1]); const other = ({ seen }) => seen.add(2);',
    'export function createCounter() { let count = 0; return () => (count += 1); }',
    'const sorted = [3, 1].toSorted(); const copy = () => [...sorted].sort();',
    'class Names { static readonly most = 4; }',
  ],
);

describeRule(
  'the environment and the arguments of the process',
  processUse,
  [
    'const key = process.env.KEY;',
    "const key = process['env'].KEY;",
    'const { env } = process;',
    'const all = globalThis.process.env;',
    'run(process.argv.slice(2));',
  ],
  ['process.exitCode = 1;', 'const { platform } = process;', 'const { env } = deps;'],
);

describeRule(
  'the global fetch in the host',
  impureCalls,
  ['await fetch(url);', 'await globalThis.fetch(url);', "import { fetch as get } from 'undici';"],
  ['await this.fetch(url);', 'const now = Date.now();'],
);

describeRule(
  'calls that make a module impure',
  impureCalls,
  [
    'await fetch(url);',
    'const now = Date.now();',
    'const now = new Date();',
    'const at = performance.now();',
    'setTimeout(retry, 100);',
    'const id = crypto.randomUUID();',
    'const first = Math.random() < 0.5;',
  ],
  ['const year = new Date(startedAt).getUTCFullYear();', 'const first = deps.random() < 0.5;'],
  'plugins/planted.ts',
);

describeRule(
  'types that check nothing',
  looseTypes,
  [
    'export function read(value: any) {}',
    'const list: any[] = [];',
    'const first = list[0]!;',
    'let later!: string;',
    'class Late { value!: string; }',
  ],
  ['export function read(value: unknown) {}', 'const isNot = !list[0];'],
);
