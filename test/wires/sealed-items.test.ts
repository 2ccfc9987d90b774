import { expect } from 'chai';
import { openEnvelope } from '../../builtins/wires/envelope.ts';
import { MessagesStream } from '../../builtins/wires/messages/stream.ts';
import type { ChunkDelta, Exchange } from '../../host/contract/index.ts';

type Json = Record<string, any>;

const EXCHANGE = { id: '0'.repeat(32), model: 'm', request: { model: 'm', messages: [] } } as unknown as Exchange;
const VALUE = { thinking: { type: 'adaptive' }, tools: [{ name: 'look' }] };

const item = (id?: string, index = 0): Json => ({
  type: 'reasoning.encrypted',
  format: 'other-v1',
  index,
  ...(id !== undefined && { id }),
  data: `sealed ${id ?? index}`,
});
const sealed = (...items: Json[]): ChunkDelta => ({ reasoning_details: items });
const head = (id: string, index: number): ChunkDelta => ({
  tool_calls: [{ index, id, type: 'function', function: { name: 'look', arguments: '' } }],
});
const piece = (index: number, text: string): ChunkDelta => ({ tool_calls: [{ index, function: { arguments: text } }] });

/** Blocks of an answer: their type, and of sealed ones what each holds. */
function blocksOf(deltas: readonly ChunkDelta[]): string[] {
  const stream = new MessagesStream(EXCHANGE, VALUE);
  const chunks = deltas.map((delta) => ({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 0,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: null }],
  }));
  const text = chunks.map((chunk) => stream.chunk(chunk as never)).join('') + stream.end();
  const blocks: { type: string; said: string; signature: string }[] = [];
  for (const [, data = ''] of text.matchAll(/^data: (.*)$/gm)) {
    const { type, index, content_block: block, delta, error } = JSON.parse(data) as Json;
    expect(error).to.equal(undefined);
    if (type === 'content_block_start') blocks[index] = { type: block.type, said: '', signature: '' };
    const open = blocks[index];
    if (!open || type !== 'content_block_delta') continue;
    open.said += delta.text ?? delta.thinking ?? delta.partial_json ?? '';
    open.signature = delta.signature ?? open.signature;
  }
  return blocks.map(({ type, said, signature }) => {
    const held = (openEnvelope(signature) ?? []).map(({ data }) => String(data).replace('sealed ', ''));
    return [type, said, held.join('+')].filter((word) => word !== '').join(' ');
  });
}

describe('what only another vendor reads, in a stream for a client of Messages', () => {
  const CASES: Readonly<Record<string, readonly [deltas: readonly ChunkDelta[], blocks: readonly string[]]>> = {
    'has a block of its own at the beginning': [
      [sealed(item()), { content: 'hi' }],
      ['thinking 0', 'text hi'],
    ],
    'goes into the envelope of the thought that is open': [
      [{ reasoning_content: 'well' }, sealed(item('rs_1')), { content: 'hi' }],
      ['thinking well rs_1', 'text hi'],
    ],
    'of a call stands in front of it': [
      [{ content: 'hi' }, { ...head('c1', 0), ...sealed(item('c1')) }, piece(0, '{}')],
      ['text hi', 'thinking c1', 'tool_use {}'],
    ],
    'of a call that waits for another stands in front of its own': [
      [head('c1', 0), piece(0, '{"a"'), { ...head('c2', 1), ...sealed(item('c2')) }, piece(0, ':1}'), piece(1, '{}')],
      ['tool_use {"a":1}', 'thinking c2', 'tool_use {}'],
    ],
    'behind a text waits for the next call, and cuts no text': [
      [{ content: 'a' }, sealed(item()), { content: 'b' }, head('c1', 0), piece(0, '{}')],
      ['text ab', 'thinking 0', 'tool_use {}'],
    ],
    'inside a call waits, and does not end it': [
      [head('c1', 0), piece(0, '{"a"'), sealed(item()), piece(0, ':1}'), head('c2', 1), piece(1, '{}')],
      ['tool_use {"a":1}', 'thinking 0', 'tool_use {}'],
    ],
    'behind the last text is left out': [[{ content: 'a' }, sealed(item(), item('rs_1', 1))], ['text a']],
    'of a call that has begun comes behind it, where nothing else does': [
      [head('c1', 0), piece(0, '{}'), sealed(item('c1'))],
      ['tool_use {}', 'thinking c1'],
    ],
    'of a call that has begun stands in front of the text behind it': [
      [head('c1', 0), piece(0, '{}'), sealed(item('c1')), { content: 'a' }],
      ['tool_use {}', 'thinking c1', 'text a'],
    ],
    'of several kinds and calls is all there': [
      [
        { content: 'a' },
        sealed(item(), item(undefined, 1)),
        { ...head('c1', 0), ...sealed(item('c1'), item('c2')) },
        piece(0, '{}'),
        head('c2', 1),
        piece(1, '{}'),
      ],
      ['text a', 'thinking 0+1+c2+c1', 'tool_use {}', 'tool_use {}'],
    ],
  };

  for (const [what, [deltas, blocks]] of Object.entries(CASES))
    it(what, () => {
      expect(blocksOf(deltas)).to.deep.equal(blocks);
    });
});
