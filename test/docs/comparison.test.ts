import { expect } from 'chai';
import { MODULES } from '../../builtins/manifest.ts';
import { read } from '../architecture/source.ts';

describe('the comparison with other gateways', () => {
  it('says how many vendors and kinds of server there are, here and in the README', () => {
    const count = MODULES.filter(
      (module) => module.kind === 'provider' && !module.offline && !module.connection.onlyDeclared,
    ).length;
    expect(read('docs/comparison.md')).to.include(`| ${count}, and any server`);
    expect(read('README.md')).to.include(`| providers | ${count} |`);
  });

  it('names at least two rows in which another one does more, and the commit that each was read at', () => {
    const page = read('docs/comparison.md');
    const rows = page.split('\n').filter((line) => line.startsWith('| ') && line.includes('**'));
    expect(rows.length).to.be.at.least(2);
    expect(page.match(/github\.com\/[^/]+\/[^/]+\/blob\/[0-9a-f]{40}\//g)).to.have.lengthOf(3);
    expect(page).to.match(/read on \d{4}-\d\d-\d\d/);
  });
});
