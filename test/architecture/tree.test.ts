import { expect } from 'chai';
import { spreadArguments } from './argument-rules.ts';
import { importProblems } from './import-rules.ts';
import { lateFileProblems } from './late-file-rules.ts';
import { computedWrites, unboundedJson } from './member-rules.ts';
import { impureCalls, looseTypes, mutableState, processUse } from './purity-rules.ts';
import { roomProblems } from './room-rules.ts';
import { type Checker, filesIn, problemsByRule } from './source.ts';
import { namelessColumns } from './statement-rules.ts';
import { tapProblems } from './tap-rules.ts';
import { wireProblems } from './wire-rules.ts';

const PRODUCT = filesIn('host', 'builtins', 'providers', 'strategies', 'plugins');
/** The product, and modules of the examples: the servers and scripts beside those are programs of their own. */
const MODULES = [...PRODUCT, ...filesIn('examples').filter((path) => /\/(providers|strategies|plugins)\//.test(path))];

/** Rules by what must be found in no file, and the files. What a rule refuses and allows is in the test beside its file. */
const RULES: Readonly<Record<string, readonly [checker: Checker, files: readonly string[]]>> = {
  'imports that the folder table does not allow': [
    importProblems,
    filesIn('build', 'host', 'builtins', 'providers', 'strategies', 'plugins', 'examples'),
  ],
  'imports of a later room of host/, types included': [roomProblems, filesIn('host')],
  'module-level state that can change': [mutableState, MODULES],
  'the environment and the arguments of the process': [processUse, MODULES],
  'the global fetch, and calls that make a module impure': [impureCalls, MODULES],
  'types that check nothing': [looseTypes, MODULES],
  'writes to members whose name is computed, other than those that are listed': [computedWrites, MODULES],
  'JSON without bounds, other than where it is listed': [unboundedJson, MODULES],
  'lists that become arguments, other than short ones that are listed': [spreadArguments, PRODUCT],
  'late files that are named in another way than the one that the bundle knows': [
    lateFileProblems,
    PRODUCT.filter((path) => path !== 'host/contract/late.ts'),
  ],
  'taps where requests run, and taps that do not wait where their hook waits': [
    tapProblems,
    filesIn('host', 'builtins'),
  ],
  'statements that do not name the columns that they read or write': [namelessColumns, filesIn('builtins/stores')],
  'what is written for clients of one wire, outside of that wire': [wireProblems, PRODUCT],
};

describe('the whole tree holds none of', () => {
  let found: ReadonlyMap<Checker, readonly string[]>;
  before(() => {
    found = problemsByRule(Object.values(RULES));
  });

  for (const [what, [checker, files]] of Object.entries(RULES)) {
    it(what, () => {
      expect(files).to.not.be.empty;
      expect(found.get(checker)).to.deep.equal([]);
    });
  }
});

describe('rules that are asked together', () => {
  it('are each asked of their own files, and say what they found', () => {
    const [one, two]: Checker[] = [
      (path) => [`one: ${path}`],
      (path, source) => [`two: ${path}, ${source.length > 0}`],
    ];
    const found = problemsByRule([
      [one!, ['host/main.ts', 'host/host.ts']],
      [two!, ['host/main.ts']],
    ]);
    expect([...found.values()]).to.deep.equal([
      ['one: host/main.ts', 'one: host/host.ts'],
      ['two: host/main.ts, true'],
    ]);
  });
});
