import { CandidateWriter } from '../../builtins/wires/gemini/answer/candidate-writer.ts';
import { MessagesStream } from '../../builtins/wires/messages/stream.ts';
import type { ChatChunk, ChunkDelta, Exchange } from '../../host/contract/index.ts';
import { expectProportion } from '../kit/index.ts';
import { openStream } from './responses/support.ts';

const EXCHANGE = { id: '0'.repeat(32), model: 'm', request: { model: 'm', messages: [] } } as unknown as Exchange;

const repeated = (size: number, make: (index: number) => ChunkDelta): ChunkDelta[] =>
  Array.from({ length: size }, (_, index) => make(index));
const chunkOf = (delta: ChunkDelta): ChatChunk => ({
  id: 'x',
  object: 'chat.completion.chunk',
  created: 0,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: null }],
});
const text = (): ChunkDelta => ({ content: 'a' });
const call = (index: number): ChunkDelta => ({
  tool_calls: [{ index, id: `c${index}`, type: 'function', function: { name: 'look', arguments: '{}' } }],
});
const sealed = (index: number): ChunkDelta => ({
  reasoning_details: [{ type: 'reasoning.encrypted', format: 'other-v1', index, id: `z${index}`, data: 'sealed' }],
});
const thought = (index: number): ChunkDelta => ({ reasoning_details: [{ type: 'reasoning.text', index, text: 'hm' }] });
const phase = (index: number): ChunkDelta => ({
  reasoning_details: [{ type: 'reasoning.text', format: 'openai-responses-v1', index, phase: 'commentary' }],
});

describe('an answer with many items that only another vendor reads takes work in proportion to them', () => {
  it('as a client of Messages gets it, where texts follow', () =>
    expectProportion(4000, (size) => () => {
      const stream = new MessagesStream(EXCHANGE, { thinking: { type: 'adaptive' } });
      for (const delta of [text(), ...repeated(size, phase), ...repeated(size, text)]) stream.chunk(chunkOf(delta));
    }));

  it('as a client of Messages gets it, while a thought is open', () =>
    expectProportion(16_000, (size) => () => {
      const stream = new MessagesStream(EXCHANGE, { thinking: { type: 'adaptive' } });
      for (const delta of [{ reasoning_content: 'hm' }, ...repeated(size, sealed)]) stream.chunk(chunkOf(delta));
    }));

  it('as a client of Gemini gets it, where calls follow', () =>
    expectProportion(2000, (size) => () => {
      const writer = new CandidateWriter({ includesThoughts: false, wantsLogprobs: false, ownName: (name) => name });
      for (const delta of [call(0), call(1), ...repeated(size, sealed), ...repeated(size, (at) => call(at + 2))])
        writer.write({ index: 0, delta, finish_reason: null });
    }));

  it('as a client of Gemini gets it, where nothing seals them and texts follow', () =>
    expectProportion(2000, (size) => () => {
      const writer = new CandidateWriter({ includesThoughts: true, wantsLogprobs: false, ownName: (name) => name });
      for (const delta of [...repeated(size, thought), ...repeated(size, text)])
        writer.write({ index: 0, delta, finish_reason: null });
    }));

  it('as a client of Responses gets it', () =>
    expectProportion(4000, (size) => () => {
      const stream = openStream();
      for (const delta of repeated(size, sealed)) stream.chunk(chunkOf(delta));
    }));
});
