import { basename, dirname } from 'node:path';
import { expect } from 'chai';
import { circles, importGraph, roomOf, roomProblems, ROOMS, ROOT_FILES } from './room-rules.ts';
import { filesIn, read } from './source.ts';

const REFUSED: Readonly<Record<string, readonly [path: string, source: string]>> = {
  'the pipeline importing the generation that runs it': [
    'host/pipeline/a.ts',
    "import { slot } from '../generation/slot.ts';",
  ],
  'the pipeline importing a type of it': [
    'host/pipeline/a.ts',
    "import type { Generation } from '../generation/generation.ts';",
  ],
  'the pipeline importing HTTP': ['host/pipeline/a.ts', "export { contextOf } from '../http/context.ts';"],
  'the upstream importing the pipeline': ['host/upstream/a.ts', "type A = import('../pipeline/attempt.ts').Attempt;"],
  'a generation importing the host': ['host/generation/a.ts', "import type { Host } from '../host.ts';"],
  'HTTP importing the start': ['host/http/a.ts', "import { startGateway } from '../start/start-gateway.ts';"],
  'a file at the root': ['host/a.ts', ''],
  'a room that the list does not know': ['host/cellar/a.ts', ''],
};

describe('the rooms of host/', () => {
  const files = filesIn('host');

  it('all hold files, and the list of what stands at the root is exact', () => {
    expect(new Set(files.map(roomOf))).to.deep.equal(new Set(ROOMS));
    expect(files.filter((path) => roomOf(path) === 'host')).to.deep.equal([...ROOT_FILES]);
  });

  for (const [what, [path, source]] of Object.entries(REFUSED)) {
    it(`refuse ${what}`, () => {
      expect(roomProblems(path, source)).to.have.lengthOf(1);
    });
  }

  it('allow imports of the own room and of those before it', () => {
    const source =
      "import { run } from './run.ts'; import { GatewayError } from '../contract/index.ts'; import pino from 'pino';";
    expect(roomProblems('host/pipeline/a.ts', source)).to.deep.equal([]);
  });

  it('hold at most 25 files a folder, as the folders of builtins do', () => {
    const counts = new Map<string, number>();
    for (const path of [...files, ...filesIn('builtins')])
      counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > 25)).to.deep.equal([]);
  });

  it('give no two files the same name', () => {
    const names = files.map((path) => basename(path));
    expect(names.filter((name, at) => names.indexOf(name) !== at)).to.deep.equal([]);
  });
});

describe('circles of imports', () => {
  const sources = filesIn('host').map((path) => [path, read(path)] as const);

  it('do not exist, types included', () => {
    const all = filesIn('host', 'builtins', 'providers', 'strategies', 'plugins', 'build').map(
      (path) => [path, read(path)] as const,
    );
    expect(circles(importGraph(all))).to.deep.equal([]);
  });

  it('are found when one type import closes one', () => {
    const planted = [
      'host/upstream/fault.ts',
      "import type { Attempt } from '../pipeline/attempts/attempt.ts';",
    ] as const;
    const others = sources.filter(([path]) => path !== planted[0]);
    expect(circles(importGraph([...others, planted])).join()).to.contain('host/pipeline/attempts/attempt.ts');
  });

  it('are each named once, from their first file', () => {
    const graph = new Map([
      ['b', ['c']],
      ['c', ['a']],
      ['a', ['b', 'd']],
      ['d', ['d']],
    ]);
    expect(circles(graph)).to.have.members(['a -> b -> c -> a', 'd -> d']);
  });
});
