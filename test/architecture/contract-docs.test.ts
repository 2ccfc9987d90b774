import { expect } from 'chai';
import { docShare, undocumentedExports } from './contract-docs.ts';
import { filesIn, problemsIn, read } from './source.ts';

/** What of the lines of `host/contract` is at least documentation. In percent; it only goes up, and 40 is where it should be. */
const LEAST_PERCENT = 40;

describe('the documentation of gw/contract', () => {
  const files = filesIn('host/contract');

  it('stands above every export', () => {
    expect(problemsIn(files, undocumentedExports)).to.deep.equal([]);
  });

  it(`makes at least ${LEAST_PERCENT} % of its lines`, () => {
    const shares = files.map((path) => docShare(read(path)));
    const sum = (member: keyof (typeof shares)[number]): number =>
      shares.reduce((total, share) => total + share[member], 0);
    expect((sum('documented') / sum('lines')) * 100).to.be.at.least(LEAST_PERCENT);
  });

  it('is missed where an export has none, whatever its kind, and where a plain comment stands in its place', () => {
    const refused = [
      'export const a = 1;',
      'export type A = 1;',
      'export interface A {}',
      'export function a(): void {}',
      'export class A {}',
      '// says nothing to an editor\nexport const a = 1;',
      '/* nor does this */\nexport const a = 1;',
      '/** Of another one. */\nconst b = 2;\nexport const a = 1;',
    ];
    for (const source of refused) expect(undocumentedExports('a.ts', source), source).to.have.lengthOf(1);
    expect(undocumentedExports('a.ts', '/** Says it. */\nexport const a = 1;\nexport type { B } from "./b.ts";')).to.be
      .empty;
  });

  it('is counted by lines that are not blank', () => {
    expect(docShare('/** a */\n\nconst b = 1;\n/**\n * c\n */\n// d\nconst e = 2;\n')).to.deep.equal({
      lines: 7,
      documented: 4,
    });
  });
});
