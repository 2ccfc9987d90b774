import { globSync } from 'node:fs';
import { expect } from 'chai';
import { inSoak, requireTool } from '../kit/index.ts';
import { read, ROOT } from '../architecture/source.ts';
import { isShown, runBlocks, runnableBlocks } from './blocks.ts';

const PAGES = globSync('docs/{tutorials,how-to}/*.md', { cwd: ROOT }).toSorted();

describe('blocks of pages that run', () => {
  it('are found with what they print, and compared with it', async () => {
    const page =
      'a\n\n```sh run\necho a; echo b\n```\n\n```text out\na\n…\n```\n\n```sh\nexit 1\n```\n\n```sh run\nexit 0\n```\n';
    const blocks = runnableBlocks(page);
    expect(blocks).to.deep.equal([
      { line: 3, script: 'echo a; echo b', out: 'a\n…' },
      { line: 16, script: 'exit 0', out: undefined },
    ]);
    expect(isShown('a\n…', 'a\nb\n')).to.equal(true);
    expect(isShown('a', 'b')).to.equal(false);
  });

  it('stop at the first that fails, so that what comes behind is missed', async () => {
    const said = await runBlocks(
      runnableBlocks('```sh run\necho a\n```\n```sh run\nfalse\n```\n```sh run\necho c\n```\n'),
    );
    expect(said).to.deep.equal(['a\n', '']);
  });

  for (const page of PAGES) {
    const blocks = runnableBlocks(read(page));
    if (blocks.length === 0) continue;
    inSoak(`print what ${page} shows`, async function runs() {
      requireTool(this, 'curl');
      const said = await runBlocks(blocks);
      for (const [at, { line, out }] of blocks.entries()) {
        const text = said[at];
        expect(text, `${page}:${line} did not run: ${said.join('\n')}`).to.not.equal(undefined);
        if (out !== undefined) expect(isShown(out, text ?? ''), `${page}:${line} prints\n${text}`).to.equal(true);
      }
      expect(said.length).to.equal(blocks.length + 1);
    });
  }
});
