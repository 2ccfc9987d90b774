import { expect } from 'chai';
import type { Coverage } from '../mutants/coverage.ts';
import { type Sources, testsByImports, testsOf } from './reach.ts';

const TEXTS: Readonly<Record<string, string>> = {
  'host/a/deep.ts': '',
  'host/a/middle.ts': "import { deep } from './deep.ts';",
  'host/contract/index.ts': '',
  'providers/acme/index.ts': "import { x } from 'gw/contract';",
  'test/a/middle.test.ts': '',
  'test/a/uses.test.ts': "import type { M } from '../../host/a/middle.ts';",
  'test/a/other.test.ts': "const text = 'middle.ts';",
  'test/b/middle.test.ts': '',
  'test/providers/acme.test.ts': '',
  'test/plugins/contract.test.ts': "import { x } from 'gw/contract';",
};
const SOURCES: Sources = {
  files: Object.keys(TEXTS),
  read: (path) => TEXTS[path] ?? '',
  named: { 'gw/contract': 'host/contract/index.ts' },
};
const ran = (ms: number, isUsed = true, isGreen = true): Coverage[string] => ({
  isGreen,
  ms,
  startsProcesses: false,
  files: { 'host/a/middle.ts': { hash: '', ranges: [], isUsed } },
});

describe('the tests of a file, by imports', () => {
  it('are those that import it, types included, and those named like it in its area', () => {
    expect(testsByImports('host/a/middle.ts', SOURCES)).to.deep.equal(['test/a/middle.test.ts', 'test/a/uses.test.ts']);
  });

  it('are those that import what imports it, where none does it directly', () => {
    expect(testsByImports('host/a/deep.ts', SOURCES)).to.deep.equal(['test/a/uses.test.ts']);
  });

  it('are those named like the folder of a module, and those that import a name of the package', () => {
    expect(testsByImports('providers/acme/index.ts', SOURCES)).to.deep.equal(['test/providers/acme.test.ts']);
    expect(testsByImports('host/contract/index.ts', SOURCES)).to.deep.equal(['test/plugins/contract.test.ts']);
  });

  it('are none where nothing imports it', () => {
    expect(testsByImports('host/z/lonely.ts', SOURCES)).to.deep.equal([]);
  });
});

describe('the tests of a file, by the coverage map', () => {
  const coverage: Coverage = {
    'test/a/uses.test.ts': ran(15_000),
    'test/b/slow.test.ts': ran(15_000),
    'test/b/loads.test.ts': ran(1, false),
    'test/b/fails.test.ts': ran(1, true, false),
  };

  it('are the likeliest of those that run it, as many as take seconds, and those named like it', () => {
    expect(testsOf('host/a/middle.ts', SOURCES, coverage, false)).to.deep.equal({
      tests: ['test/a/uses.test.ts', 'test/a/middle.test.ts'],
      by: 'coverage',
      all: 2,
    });
  });

  it('are all that run it, where all are asked for', () => {
    expect(testsOf('host/a/middle.ts', SOURCES, coverage, true).tests).to.deep.equal([
      'test/a/uses.test.ts',
      'test/b/slow.test.ts',
      'test/a/middle.test.ts',
    ]);
  });

  it('are chosen by imports where the map does not know the file', () => {
    expect(testsOf('host/a/deep.ts', SOURCES, coverage, false).by).to.equal('imports');
  });
});
