import { expect } from 'chai';
import replicate from '../../providers/replicate/index.ts';
import { callFor, cases, Dice, everyCut, golden, relayStream, translateReply } from '../kit/index.ts';
import { cutAtRandom } from './native-support.ts';

const CALL = callFor('meta/meta-llama-3-8b-instruct', { stream: true });
const HEAD = 'event: prediction\ndata: {"id":"p1"}\n\n';
const TAIL = 'event: prediction\ndata: {"metrics":{"input_token_count":11,"output_token_count":7}}\n\n';
const read = (text: string): ReturnType<typeof relayStream> => relayStream(replicate, CALL, [Buffer.from(text)]);
const finishOf = (done: string): unknown =>
  read(`${HEAD}event: done\ndata: ${done}\n\n${TAIL}`).chunks.at(-1)?.choices[0].finish_reason;

describe('replicate, streams', () => {
  it('are texts with their leading spaces, and a terminal chunk with usage', () => {
    const { chunks, failure } = read(HEAD + golden('replicate/chat/stream.txt') + TAIL);
    expect(failure).to.equal(undefined);
    expect(
      chunks.map(({ id, choices: [{ delta, finish_reason }], usage }) => [
        id,
        delta,
        finish_reason,
        usage?.total_tokens,
      ]),
    ).to.deep.equal([
      ['p1', { content: 'conformance', role: 'assistant' }, null, undefined],
      ['p1', { content: ' ok' }, null, undefined],
      ['p1', {}, 'stop', 18],
    ]);
  });

  it('join lines, and skip what is not output', () => {
    const {
      reply: {
        choices: [choice],
        usage,
      },
    } = read(`${HEAD}${golden('replicate/chat/lines.txt')}event: prediction\ndata: {}\n\n`);
    expect([choice?.message.content, choice?.finish_reason, usage]).to.deep.equal([
      'first\n\nthird {"a": 1}',
      'length',
      undefined,
    ]);
  });

  it('end with the reason the service states', () => {
    expect(
      [
        '{}',
        '',
        'no json',
        '[]',
        '{"reason":""}',
        '{"reason":7}',
        '{"reason":"max_tokens"}',
        '{"reason":"safety"}',
        '{"reason":"OTHER"}',
      ].map(finishOf),
    ).to.deep.equal(['stop', 'stop', 'stop', 'stop', 'stop', 'stop', 'length', 'content_filter', 'OTHER']);
  });

  it('fail with an error, and with an end that is none', () => {
    expect(read(HEAD + golden('replicate/chat/error.txt')).failure).to.have.nested.property(
      'fault.message',
      'the model ran out of memory',
    );
    for (const [data, message] of [
      ['plain words', 'plain words'],
      ['{"other":1}', 'the prediction failed'],
      ['', 'the prediction failed'],
    ] as const) {
      expect(read(`event: error\ndata: ${data}\n\n`).failure, data).to.have.nested.property('fault.message', message);
    }
    expect((read(`event: error\ndata: ${'x'.repeat(5000)}\n\n`).failure as any).fault.message).to.have.length(5000); // the host cuts it, once it is redacted
    for (const reason of ['error', 'canceled', 'failed', 'aborted'])
      expect(read(`event: done\ndata: {"reason":"${reason}"}\n\n${TAIL}`).failure, reason).to.have.nested.property(
        'fault.message',
        `the prediction is ${reason}`,
      );
  });

  it('fail when they end without their end', () => {
    for (const text of [HEAD, `${HEAD}event: output\ndata: a\n\n`, `${HEAD}event: done\ndata: {}\n\n`])
      expect(read(text).failure, text).to.be.an('error');
  });

  it('hold nothing after their end, and trust no id but the first', () => {
    const { chunks } = read(
      `${HEAD}event: prediction\ndata: {"id":"other"}\n\nevent: output\ndata: a\n\nevent: done\ndata: {}\n\nevent: output\ndata: late\n\n${TAIL}event: output\ndata: later\n\n`,
    );
    expect(chunks.map(({ id, choices: [{ delta }] }) => [id, delta.content])).to.deep.equal([
      ['p1', 'a'],
      ['p1', undefined],
    ]);
  });

  it('survive data of any shape', () => {
    const odd = ['prediction', 'logs', 'message', '']
      .flatMap((type) =>
        ['null', '[]', '7', '{"id":7}', '{"metrics":[]}', '<x>'].map((data) => `event: ${type}\ndata: ${data}\n\n`),
      )
      .join('');
    const { failure, reply } = read(
      `${odd}event: done\ndata: null\n\nevent: prediction\ndata: {"metrics":{"input_token_count":"x","output_token_count":-1}}\n\n`,
    );
    expect([failure, reply.choices[0]?.finish_reason, reply.usage]).to.deep.equal([undefined, 'stop', undefined]);
  });
});

const TEXTS = [
  'Hello',
  ' wörld',
  '\n',
  '\n\n',
  '  two',
  '👩‍👩‍👧',
  '"q"\\',
  'データ',
  '{"reason":"x"}',
  ': not a comment',
  'event: done',
  ' ',
];

function outputOf(dice: Dice): string[] {
  return Array.from(
    { length: 1 + dice.below(8) },
    () => dice.pick(TEXTS) + (dice.below(3) === 0 ? dice.pick(TEXTS) : ''),
  );
}

/** As the service frames texts: a `data:` line per line. */
function bytesOf(output: readonly string[], usage: string, dice: Dice): Buffer {
  const lineEnd = dice.pick(['\n', '\r\n']);
  const frame = (type: string, data: string): string =>
    `event: ${type}\n${data
      .split('\n')
      .map((line) => `data: ${line}\n`)
      .join('')}\n`;
  const comments = (): string => (dice.below(4) === 0 ? ': ping\n\n' : '');
  const text =
    HEAD +
    output.map((piece) => comments() + frame('output', piece)).join('') +
    frame('done', '{}') +
    frame('prediction', usage);
  return Buffer.from(text.replaceAll('\n', lineEnd));
}

describe('replicate, streamed and whole', () => {
  it('read every generated answer alike, however its stream is cut', () => {
    const dice = new Dice(20261122);
    for (let round = 0; round < cases(300); round += 1) {
      const output = outputOf(dice);
      const metrics =
        dice.below(4) === 0
          ? undefined
          : { input_token_count: dice.below(99), output_token_count: dice.below(99), predict_time: 0.5 };
      const {
        choices: [whole],
        usage,
      } = translateReply(replicate, CALL, {
        id: 'p1',
        status: 'succeeded',
        output: dice.below(2) === 0 ? output : output.join(''),
        metrics,
      });
      const bytes = bytesOf(output, JSON.stringify({ metrics }), dice);
      const cuts = round % 30 === 0 && bytes.length < 1500 ? [...everyCut(bytes)] : [cutAtRandom(bytes, dice)];
      for (const pieces of cuts) {
        const { reply, failure } = relayStream(replicate, CALL, pieces);
        expect([failure, reply.id], `round ${round}`).to.deep.equal([undefined, 'p1']);
        expect(
          [reply.choices[0]?.message, reply.choices[0]?.finish_reason, reply.usage],
          `round ${round}`,
        ).to.deep.equal([whole?.message, whole?.finish_reason, usage]);
      }
    }
  });
});
