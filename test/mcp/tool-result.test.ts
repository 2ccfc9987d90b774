import { expect } from 'chai';
import { LineReader } from '../../builtins/mcp/link/line-reader.ts';
import { usable } from '../../builtins/mcp/tool-access.ts';
import { contentOf, cutResult, cutText } from '../../builtins/mcp/tool-result.ts';

const text = (value: string): object => ({ type: 'text', text: value });
const MARK = (limit: number): string => `\n[the result was cut: it exceeds the limit of ${limit} bytes]`;

describe('the result of a tool', () => {
  it('is cut over all its texts together, and keeps what is not text', () => {
    const result = {
      content: [text('abcd'), { type: 'image', data: 'x' }, text('efgh'), text('ijkl')],
      structuredContent: { a: 1 },
    };
    expect(cutResult(result, 6)).to.deep.equal({
      content: [text('abcd'), { type: 'image', data: 'x' }, text(`ef${MARK(6)}`)],
      structuredContent: { a: 1 },
    });
    expect(cutResult(result, 12)).to.equal(result);
  });

  for (const [value, room, kept] of [
    ['ab', 2, 'ab'],
    ['é'.repeat(3), 5, 'éé'],
    ['a𝄞b', 4, 'a'],
    ['a𝄞b', 5, 'a𝄞'],
    ['abc', 0, ''],
  ] as const) {
    it(`is cut between characters: ${JSON.stringify(value)} at ${room} bytes`, () => {
      expect(cutText(value, room)).to.equal(value === kept ? kept : kept + MARK(room));
    });
  }

  it('is cut where it is many blocks, too', () => {
    const content = contentOf({ content: [{ type: 'image', data: 'x'.repeat(100) }, text('a')] }, 50);
    expect(content.endsWith(MARK(50))).to.equal(true);
    expect(contentOf({ content: [], structuredContent: { a: 'x'.repeat(100) } }, 50)).to.have.lengthOf(
      50 + MARK(50).length,
    );
  });
});

describe('lines of a server', () => {
  it('come whole, however they arrive', () => {
    const lines: string[] = [];
    const reader = new LineReader({ maxBytes: 100, onLine: (line) => lines.push(line) });
    for (const byte of Buffer.from('one é\r\n\n  \ntwo\nthree')) reader.push(Buffer.from([byte]));
    expect(lines).to.deep.equal(['one é\r', 'two']);
  });

  it('are cut where they are too long, or end the reading', () => {
    const lines: string[] = [];
    const cutting = new LineReader({ maxBytes: 4, onLine: (line) => lines.push(line) });
    cutting.push(Buffer.from('abcdefgh\nij'));
    cutting.push(Buffer.from('klmn\n'));
    expect(lines).to.deep.equal(['abcd', 'ijkl']);
    let ended = 0;
    const ending = new LineReader({
      maxBytes: 4,
      onLine: (line) => lines.push(line),
      onTooLong: () => {
        ended += 1;
      },
    });
    ending.push(Buffer.from('abcd\nabcde\nx\n'));
    expect([lines.at(-1), ended]).to.deep.equal(['abcd', 1]);
  });
});

describe('the tools of a key', () => {
  for (const [allowed, server, tool, isAllowed] of [
    [undefined, 's', 't', true],
    [[], 's', 't', false],
    [['t'], 's', 't', true],
    [['s/*'], 's', 't', true],
    [['s/t'], 's', 't', false],
    [['*'], 's', 't', false],
  ] as const) {
    it(`${JSON.stringify(allowed)} ${isAllowed ? 'hold' : 'do not hold'} ${tool} of ${server}`, () => {
      expect(usable(allowed)({ server, tool: { name: tool, inputSchema: {} } })).to.equal(isAllowed);
    });
  }
});
