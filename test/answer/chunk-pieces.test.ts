import { expect } from 'chai';
import type { ChatChunk } from 'gw/contract';
import { Assembly } from '../../host/answer/assembly.ts';
import { chunkPieces } from '../../host/answer/guarded/chunk-pieces.ts';
import { seeded } from '../kit/random.ts';

const MOST = 8;
const facts = { id: 'c', created: 1, model: 'm', provider: 'p', usage: undefined };
const assembled = (chunks: readonly ChatChunk[]): unknown => {
  const assembly = new Assembly();
  for (const chunk of chunks) assembly.add(chunk);
  return assembly.reply(facts);
};

function textOf(random: () => number): string {
  const letters = ['a', 'é', '漢', '😀'];
  return Array.from({ length: Math.floor(random() * 30) }, () => letters[Math.floor(random() * letters.length)]).join(
    '',
  );
}

function chunkOf(random: () => number): ChatChunk {
  const may = <T>(value: T): T | undefined => (random() < 0.5 ? value : undefined);
  const calls = Array.from({ length: Math.floor(random() * 3) }, (_, index) => ({
    index,
    id: `call_${index}`,
    type: 'function',
    function: { name: `f${index}`, arguments: textOf(random) },
  }));
  const delta = {
    role: may('assistant'),
    reasoning_content: may(textOf(random)),
    reasoning_details: may([{ type: 'reasoning.text', signature: 's' }]),
    content: may(textOf(random)),
    tool_calls: calls.length > 0 ? calls : undefined,
  };
  const choices = Array.from({ length: 1 + Math.floor(random() * 2) }, (_, index) => ({
    index,
    delta: JSON.parse(JSON.stringify(delta)) as ChatChunk['choices'][number]['delta'],
    finish_reason: may('stop') ?? null,
  }));
  return {
    id: 'c',
    model: 'm',
    choices,
    ...(random() < 0.5 && { usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } }),
  };
}

describe('a chunk in pieces', () => {
  it('is itself where its texts are short', () => {
    const chunk: ChatChunk = { choices: [{ index: 0, delta: { content: 'x'.repeat(MOST) }, finish_reason: 'stop' }] };
    expect(chunkPieces(chunk, MOST)).to.deep.equal([chunk]);
    expect(chunkPieces(chunk, MOST)[0]).to.equal(chunk);
  });

  it('has its end and its usage in the last piece alone', () => {
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    const pieces = chunkPieces(
      {
        id: 'c',
        choices: [{ index: 0, delta: { role: 'assistant', content: 'x'.repeat(20) }, finish_reason: 'stop' }],
        usage,
      },
      MOST,
    );
    expect(pieces.map(({ choices }) => choices[0]?.delta)).to.deep.equal([
      { role: 'assistant', content: 'x'.repeat(8) },
      { content: 'x'.repeat(8) },
      { content: 'x'.repeat(4) },
    ]);
    expect(pieces.map(({ choices }) => choices[0]?.finish_reason)).to.deep.equal([null, null, 'stop']);
    expect(pieces.map((piece) => piece.usage)).to.deep.equal([undefined, undefined, usage]);
  });

  it('says what the whole says, and no piece cuts a character', () => {
    const random = seeded(7);
    for (let at = 0; at < 2000; at += 1) {
      const chunk = chunkOf(random);
      const whole = assembled([structuredClone(chunk)]);
      const pieces = chunkPieces(chunk, MOST);
      expect(assembled(pieces), JSON.stringify(chunk)).to.deep.equal(whole);
      for (const { choices } of pieces)
        for (const { delta } of choices)
          for (const text of [
            delta.content,
            delta.reasoning_content,
            ...(delta.tool_calls ?? []).map((call) => call.function?.arguments),
          ])
            expect(text?.isWellFormed() ?? true).to.equal(true);
    }
  });
});
