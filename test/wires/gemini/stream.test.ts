import { expect } from 'chai';
import { openEnvelope, sealEnvelope } from '../../../builtins/wires/envelope.ts';
import { writeAnswer } from '../../../builtins/wires/gemini/answer/answer.ts';
import { GeminiStream, type StreamFacts } from '../../../builtins/wires/gemini/answer/stream.ts';
import { LIST_FORM, SSE_FORM } from '../../../builtins/wires/gemini/stream-form.ts';
import { readGenerate } from '../../../builtins/wires/gemini/request/request.ts';
import type { ChatChunk } from '../../../host/contract/index.ts';
import { Assembly } from '../../../host/answer/assembly.ts';
import { Dice } from '../../kit/random.ts';
import { framesOf } from './kit.ts';

type Json = Record<string, any>;

const FACTS: StreamFacts = {
  includesThoughts: true,
  wantsLogprobs: false,
  ownName: (name) => name,
  model: 'm',
  requestId: 'id',
};
const WITHOUT = { ...FACTS, includesThoughts: false };
const FAILURE = {
  code: 'upstream_error',
  status: 502,
  message: 'broke',
  requestId: 'id',
  retryAfterS: undefined,
} as const;

const chunkOf = (delta: Json, more: Json = {}): ChatChunk => ({
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
});
const finish = (reason = 'stop'): ChatChunk => chunkOf({}, { finish_reason: reason });
const text = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8');

function written(chunks: readonly ChatChunk[], facts = FACTS): Json[] {
  const stream = new GeminiStream(SSE_FORM, facts);
  return framesOf(text(chunks.map((chunk) => stream.chunk(chunk)).join('') + stream.end()));
}
/** The parts of each frame. */
const partsOf = (deltas: readonly Json[], facts = FACTS): Json[][] =>
  written([...deltas.map((delta) => chunkOf(delta)), finish()], facts).map(
    ({ candidates }) => candidates[0].content.parts,
  );
const piece = (index: number, args: string, more: Json = {}): Json => ({
  tool_calls: [{ index, ...more, function: { ...(more['id'] && { name: 'f' }), arguments: args } }],
});
const called = (id: string, args: Json): Json => ({ functionCall: { id, name: 'f', args } });

describe('a stream in the form of the Gemini API', () => {
  it('keeps the probabilities of tokens that come before their text or behind it, of each candidate', () => {
    const of = (index: number, token: string, delta: Json = {}, reason: string | null = null): ChatChunk => ({
      choices: [{ index, delta, finish_reason: reason, logprobs: { content: [{ token, logprob: -1 }] } }],
    });
    const chunks = [
      of(0, 'a'),
      of(1, 'x', { content: 'x' }),
      of(0, 'b', { content: 'ab' }),
      of(0, 'c', { content: '' }),
      of(1, 'y', {}, 'stop'),
      finish(),
    ];
    const tokens = (frames: readonly Json[], index: number): unknown[] =>
      frames
        .flatMap(({ candidates }) => candidates as Json[])
        .filter((each) => each['index'] === index)
        .map(
          ({ logprobsResult: result }) =>
            result?.chosenCandidates.map(({ token }: Json) => token as unknown) as unknown,
        );
    const frames = written(chunks, { ...FACTS, wantsLogprobs: true });
    expect([tokens(frames, 0), tokens(frames, 1)]).to.deep.equal([
      [['a', 'b'], ['c']],
      [['x'], ['y']],
    ]);
    expect(JSON.stringify(written(chunks))).to.not.include('logprobsResult');
  });

  it('is a frame for each piece, and a last one with the reason and the usage', () => {
    const frames = written([
      chunkOf({ role: 'assistant', content: '' }),
      chunkOf({ content: 'Grü' }),
      chunkOf({ content: 'ße' }),
      finish('length'),
      { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } },
    ]);
    const head = { modelVersion: 'm', responseId: 'id' };
    expect(frames).to.deep.equal([
      ...['Grü', 'ße'].map((said) => ({
        candidates: [{ content: { role: 'model', parts: [{ text: said }] }, index: 0 }],
        ...head,
      })),
      {
        candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'MAX_TOKENS', index: 0 }],
        usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
        ...head,
      },
    ]);
  });

  it('ends each frame with a blank line', () => {
    const stream = new GeminiStream(SSE_FORM, FACTS);
    expect(stream.chunk(chunkOf({ content: 'a' }))).to.match(/^data: \{.*\}\r\n\r\n$/);
    expect(stream.end()).to.match(/^data: \{.*\}\r\n\r\n$/);
  });

  it('is one list where the client asks for no events', () => {
    const stream = new GeminiStream(LIST_FORM, FACTS);
    const pieces = [stream.chunk(chunkOf({ content: 'a' })), stream.chunk(chunkOf({ content: 'b' })), stream.end()];
    expect(pieces.map((bytes) => bytes.slice(0, 3))).to.deep.equal(['[{"', ',\r\n', ',\r\n']);
    for (const [at, bytes] of pieces.entries())
      expect(JSON.parse(bytes.replace(/^(\[|,\r\n)/, '').replace(/\]$/, at === 2 ? '' : ']'))).to.be.an('object');
    expect(JSON.parse(pieces.join(''))).to.have.length(3);
  });

  it('ends with an error where it broke off', () => {
    const stream = new GeminiStream(SSE_FORM, FACTS);
    stream.chunk(chunkOf({ content: 'a' }));
    expect(framesOf(stream.error(FAILURE))).to.deep.equal([
      {
        error: {
          code: 502,
          message: 'broke',
          status: 'UNAVAILABLE',
          details: [
            { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'UPSTREAM_ERROR', domain: 'gateway' },
          ],
        },
      },
    ]);
  });

  it('is a whole list whenever it breaks off', () => {
    const broken = (isBegun: boolean, isFirst: boolean): Json[] => {
      const stream = new GeminiStream(LIST_FORM, FACTS);
      const begun = isBegun ? stream.chunk(chunkOf({ content: 'a' })) : '';
      return JSON.parse((isFirst ? '' : begun) + stream.error(FAILURE, isFirst)) as Json[];
    };
    expect(
      [broken(true, false), broken(false, false), broken(true, true)].map((list) => [
        list.length,
        list.at(-1)?.['error'].code,
      ]),
    ).to.deep.equal([
      [2, 502],
      [1, 502],
      [1, 502],
    ]);
  });

  it('has one reason for each candidate, whatever came', () => {
    const reasons = (chunks: readonly ChatChunk[]): unknown[] =>
      written(chunks)
        .flatMap(({ candidates }) => candidates.map((each: Json) => each['finishReason']))
        .filter((reason) => reason !== undefined);
    expect(reasons([])).to.deep.equal(['STOP']);
    expect(reasons([chunkOf({ content: '' }), finish(), finish('length')])).to.deep.equal(['MAX_TOKENS']);
    expect(
      reasons([
        chunkOf(piece(0, '{}', { id: 'c' })),
        finish('tool_calls'),
        { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
      ]),
    ).to.deep.equal(['STOP']);
    const two = [0, 1].map((index) => ({
      choices: [{ index, delta: { content: 'a' }, finish_reason: index === 0 ? 'stop' : 'length' }],
    }));
    expect(
      written(two)
        .at(-1)
        ?.['candidates'].map(({ index, finishReason }: Json) => [index, finishReason]),
    ).to.deep.equal([
      [0, 'STOP'],
      [1, 'MAX_TOKENS'],
    ]);
    const refused = [
      chunkOf({ content: 'a' }),
      chunkOf({ refusal: 'no, ' }),
      chunkOf({ refusal: 'not that' }),
      finish(),
    ];
    expect(reasons(refused.slice(1))).to.deep.equal(['SAFETY']);
    for (const chunks of [refused, refused.slice(1)])
      expect(written(chunks).at(-1)?.['candidates'][0]).to.include({ finishMessage: 'no, not that' });
    expect(written([chunkOf({ content: 'a' }), finish()]).at(-1)?.['candidates'][0]).to.not.have.property(
      'finishMessage',
    );
  });

  it('holds a call until its arguments are complete', () => {
    expect(partsOf([piece(0, '', { id: 'c' }), piece(0, '{"a"'), piece(0, ':1}')])).to.deep.equal([
      [called('c', { a: 1 })],
    ]);
    expect(partsOf([piece(0, '{"a":1}', { id: 'c' }), piece(1, '', { id: 'd' }), piece(1, '{"b":2}')])).to.deep.equal([
      [called('c', { a: 1 })],
      [called('d', { b: 2 })],
    ]);
    expect(
      partsOf([
        {
          tool_calls: [
            piece(0, '{"a":1}', { id: 'c' })['tool_calls'][0],
            piece(1, '{"b":2}', { id: 'd' })['tool_calls'][0],
          ],
        },
      ]),
    ).to.deep.equal([[called('c', { a: 1 }), called('d', { b: 2 })], [{ text: '' }]]);
  });

  it('puts fragments of several calls together', () => {
    const deltas = [
      piece(0, '', { id: 'c' }),
      piece(1, '', { id: 'd' }),
      piece(1, '{"b"'),
      piece(0, '{"a":1}'),
      piece(1, ':2}'),
      piece(2, '', { id: 'e' }),
    ];
    expect(partsOf(deltas).flat()).to.deep.equal([called('c', { a: 1 }), called('d', { b: 2 }), called('e', {})]);
  });

  it('fails on arguments that are not an object', () => {
    expect(() => written([chunkOf(piece(0, '{"a"', { id: 'c' })), finish()])).to.throw(
      'arguments that are not a JSON object',
    );
    const stream = new GeminiStream(SSE_FORM, FACTS);
    stream.chunk(chunkOf(piece(0, '{"a"', { id: 'c' })));
    expect(framesOf(stream.end())[0]?.['error'].code, 'without a reason to end').to.equal(502);
  });

  const signed = (index: number, more: Json): Json => ({
    type: 'reasoning.text',
    index,
    format: 'anthropic-claude-v1',
    ...more,
  });

  it('signs thoughts of another vendor once they are over', () => {
    const deltas = [
      { reasoning_content: 'one', reasoning_details: [signed(0, { text: 'one' })] },
      { reasoning_details: [signed(0, { signature: 's1' })] },
      { reasoning_content: 'two', reasoning_details: [signed(1, { text: 'two' })] },
      { reasoning_details: [signed(1, { signature: 's2' })] },
      { content: 'said' },
    ];
    const frames = partsOf(deltas).flat();
    expect(frames.map(({ text: said, thought }) => [said, thought])).to.deep.equal([
      ['one', true],
      ['', true],
      ['two', true],
      ['', true],
      ['said', undefined],
      ['', undefined],
    ]);
    expect([1, 3].map((at) => openEnvelope(frames[at]?.['thoughtSignature']))).to.deep.equal(
      ['s1', 's2'].map((signature) => [{ type: 'reasoning.text', format: 'anthropic-claude-v1', signature }]),
    );
    expect(
      partsOf(deltas, WITHOUT)
        .flat()
        .map(({ text: said, thoughtSignature }) => [said, openEnvelope(thoughtSignature)?.length]),
    ).to.deep.equal([
      ['said', undefined],
      ['', 2],
    ]);
  });

  it('marks thoughts without a secret as those of another vendor', () => {
    expect(partsOf([{ reasoning_content: 'hm' }, { content: 'a' }]).flat()).to.deep.equal([
      { text: 'hm', thought: true },
      { text: '', thought: true, thoughtSignature: sealEnvelope([]) },
      { text: 'a' },
      { text: '' },
    ]);
    expect(partsOf([{ reasoning_content: 'hm' }, { content: 'a' }], WITHOUT).flat()).to.deep.equal([
      { text: 'a' },
      { text: '' },
    ]);
  });

  it('has signatures of its own vendor on their parts, also when they come late', () => {
    const own = (index: number, place: Json, data: string): Json => ({
      type: 'reasoning.encrypted',
      index,
      format: 'google-gemini-v1',
      ...place,
      data,
    });
    expect(
      partsOf([
        { reasoning_content: 'hm', reasoning_details: [own(0, { thought: true, start: 0, end: 2 }, 't')] },
        { content: 'ab' },
        { content: 'cd', reasoning_details: [own(1, { start: 2, end: 4 }, 's')] },
        { reasoning_details: [own(2, { start: 0, end: 4 }, 'late')] },
        { ...piece(0, '{}', { id: 'c' }), reasoning_details: [own(3, { id: 'c' }, 'k')] },
      ]).flat(),
    ).to.deep.equal([
      { text: 'hm', thought: true, thoughtSignature: 't' },
      { text: 'ab' },
      { text: 'cd', thoughtSignature: 's' },
      { text: '', thoughtSignature: 'late' },
      { ...called('c', {}), thoughtSignature: 'k' },
    ]);
  });

  // Shape of both: charmbracelet/fantasy, streams recorded from OpenRouter, "TestOpenRouterThinking", 2026-11-23.
  it('has a signature of a call on it, whether it came before or after the call began', () => {
    const thought = (text: string): Json => ({
      content: '',
      reasoning_content: text,
      reasoning_details: [{ type: 'reasoning.text', text, format: 'google-gemini-v1', index: 0 }],
    });
    const signature = {
      content: '',
      reasoning_details: [{ type: 'reasoning.encrypted', data: 'k', format: 'google-gemini-v1', id: 'c', index: 0 }],
    };
    const [begin, rest] = [piece(0, '', { id: 'c' }), piece(0, '{"a":1}')];
    for (const [place, deltas] of [
      [signature, begin, rest],
      [begin, signature, rest],
      [begin, rest, signature],
    ].entries()) {
      for (const facts of [FACTS, WITHOUT]) {
        const calls = partsOf([thought('one'), thought(' two'), ...deltas], facts)
          .flat()
          .filter(({ functionCall }) => functionCall);
        expect(calls, `${place}`).to.deep.equal([{ ...called('c', { a: 1 }), thoughtSignature: 'k' }]);
      }
    }
  });

  it('keeps items of another kind apart, though they have the same index', () => {
    const summary = (text: string): Json => ({
      reasoning_content: text,
      reasoning_details: [{ type: 'reasoning.summary', summary: text, format: 'xai-responses-v1', index: 0 }],
    });
    const sealed = { type: 'reasoning.encrypted', data: 'JN5', format: 'xai-responses-v1', id: 'rs_3', index: 0 };
    const [call] = partsOf(
      [summary('The'), summary(' user'), { reasoning_details: [sealed] }, piece(0, '{}', { id: 'c' })],
      WITHOUT,
    ).flat();
    expect(openEnvelope(call?.['thoughtSignature'])).to.deep.equal([
      { type: 'reasoning.summary', summary: 'The user', format: 'xai-responses-v1' },
      { type: 'reasoning.encrypted', data: 'JN5', format: 'xai-responses-v1', id: 'rs_3' },
    ]);
  });

  it('carries a secret of its own vendor that names no place', () => {
    const sealed = { type: 'reasoning.encrypted', data: 'k', format: 'google-gemini-v1', index: 0 };
    const parts = partsOf([{ content: 'a' }, { reasoning_details: [sealed] }], WITHOUT).flat();
    expect(parts.map(({ thoughtSignature }) => openEnvelope(thoughtSignature)).filter((items) => items)).to.deep.equal([
      [{ type: 'reasoning.encrypted', data: 'k', format: 'google-gemini-v1' }],
    ]);
  });
});

/** What a client makes of the parts of one answer, and what it gives back on its next turn. */
function said(parts: readonly Json[]): object {
  const joined = (isThought: boolean): string =>
    parts
      .filter(({ text: own, thought }) => own !== undefined && (thought === true) === isThought)
      .map((part) => part['text'])
      .join('');
  const turn = readGenerate(
    {
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        { role: 'model', parts },
      ],
    },
    'm',
  ).request.messages[1] as Json | undefined;
  return {
    thoughts: joined(true),
    text: joined(false),
    calls: parts.filter(({ functionCall }) => functionCall).map(({ functionCall }) => functionCall),
    returned: { details: turn?.['reasoning_details'], thoughts: turn?.['reasoning_content'] },
  };
}

describe('any stream in the form of the Gemini API', () => {
  const WORDS = ['a', 'Grüße', '"quoted"', '😀', ' ', '\n', '{}'];

  /** Chunks of one answer: thoughts, text and calls as they come, and pieces of calls that may be mixed. */
  function chunks(dice: Dice): ChatChunk[] {
    const pick = <T>(list: readonly T[]): T => dice.pick(list);
    const out: ChatChunk[] = [chunkOf({ role: 'assistant' })];
    const format = pick(['anthropic-claude-v1', 'none']);
    for (let item = 0; item < dice.below(3); item += 1) {
      for (let at = 0; at < 1 + dice.below(3); at += 1) {
        const thought = pick(WORDS);
        out.push(
          chunkOf({
            reasoning_content: thought,
            ...(format !== 'none' && {
              reasoning_details: [{ type: 'reasoning.text', index: item, format, text: thought }],
            }),
          }),
        );
      }
      if (format !== 'none')
        out.push(
          chunkOf({ reasoning_details: [{ type: 'reasoning.text', index: item, format, signature: `s${item}` }] }),
        );
    }
    for (let at = 0; at < dice.below(4); at += 1) out.push(chunkOf({ content: pick(WORDS) }));
    const calls = Array.from({ length: dice.below(4) }, (_, index) => ({
      index,
      rest: JSON.stringify({ [pick(WORDS)]: pick(WORDS), n: index }),
    }));
    const isMixed = dice.below(2) === 0;
    for (const { index } of isMixed ? calls : []) out.push(chunkOf(piece(index, '', { id: `c${index}` })));
    for (const open = [...calls]; open.length > 0;) {
      const call = isMixed ? pick(open) : open[0]!;
      if (!isMixed && call.rest.startsWith('{"')) out.push(chunkOf(piece(call.index, '', { id: `c${call.index}` })));
      const size = isMixed ? 1 + dice.below(5) : call.rest.length;
      out.push(chunkOf(piece(call.index, call.rest.slice(0, size))));
      call.rest = call.rest.slice(size);
      if (call.rest === '') open.splice(open.indexOf(call), 1);
    }
    return [
      ...out,
      finish(calls.length > 0 ? 'tool_calls' : 'stop'),
      { choices: [], usage: { prompt_tokens: 4, completion_tokens: 3, total_tokens: 7 } },
    ];
  }

  for (const facts of [FACTS, WITHOUT]) {
    it(`says what the whole answer says, ${facts.includesThoughts ? 'with' : 'without'} thoughts`, () => {
      const dice = new Dice(facts.includesThoughts ? 7 : 11);
      for (let round = 0; round < 400; round += 1) {
        const stream = chunks(dice);
        const assembly = new Assembly();
        for (const chunk of stream) assembly.add(structuredClone(chunk));
        const usage = { prompt_tokens: 4, completion_tokens: 3, total_tokens: 7 };
        const whole: Json = writeAnswer(
          assembly.reply({ id: 'x', created: 1, model: 'm', provider: 'a', usage }),
          facts,
          'id',
        );
        const frames = written(stream, facts);
        const streamed = frames.flatMap(({ candidates }) => candidates[0].content.parts as Json[]);
        const about = JSON.stringify(stream);
        expect(said(streamed), about).to.deep.equal(said(whole['candidates'][0].content.parts));
        expect([frames.at(-1)?.['usageMetadata'], frames.at(-1)?.['candidates'][0].finishReason], about).to.deep.equal([
          whole['usageMetadata'],
          whole['candidates'][0].finishReason,
        ]);
      }
    });
  }
});
