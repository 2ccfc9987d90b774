import { expect } from 'chai';
import cohere from '../../providers/cohere/index.ts';
import { callFor, cases, Dice, everyCut, relayStream, sseBytes, translateReply } from '../kit/index.ts';
import { cutAtRandom } from './native-support.ts';

interface Block {
  readonly type: 'text' | 'thinking';
  readonly text: string;
}
interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}
interface Cited {
  readonly start: number;
  readonly end: number;
  readonly content_index?: number;
  readonly sources: readonly object[];
}
interface Answer {
  readonly citations: readonly Cited[];
  readonly blocks: readonly Block[];
  readonly plan: string;
  readonly calls: readonly Call[];
  readonly finish: string;
  readonly tokens: readonly [number, number, number];
}

const TEXTS = ['Hello', ' wörld', '\n', '👩‍👩‍👧', '"quoted"\\', ' ', 'データ', '{"json":', 'event: done'];
const FINISHES = ['COMPLETE', 'STOP_SEQUENCE', 'MAX_TOKENS', 'ERROR_TOXIC'];

function answerOf(dice: Dice): Answer {
  const text = (most: number): string => Array.from({ length: dice.below(most) }, () => dice.pick(TEXTS)).join('');
  const calls = Array.from({ length: dice.below(4) }, (_, at) => ({
    id: `call_${at}`,
    name: `f${at}`,
    arguments: dice.pick(['{}', 'null', '{"a":"ü\\n"}', '{"b":[1,2,{"c":null}]}']),
  }));
  const thinking = dice.below(2) === 0 ? [] : [{ type: 'thinking' as const, text: text(5) }];
  const blocks = [
    ...thinking,
    ...(dice.below(4) === 0 ? [] : [{ type: 'text' as const, text: text(6) }]),
    ...(dice.below(4) === 0 ? [{ type: 'text' as const, text: text(3) }] : []),
  ];
  const citations = Array.from({ length: dice.below(3) }, (_, at) => ({
    start: dice.below(9),
    end: 9 + dice.below(9),
    ...(dice.below(2) === 0 && { content_index: dice.below(3) }),
    sources: [
      { type: 'document', id: `doc:${at}`, document: { title: 'T' } },
      { type: 'tool', id: 't' },
    ].slice(dice.below(3)),
  }));
  return {
    blocks,
    citations,
    plan: calls.length > 0 ? text(4) : '',
    calls,
    finish: calls.length > 0 ? 'TOOL_CALL' : dice.pick(FINISHES),
    tokens: [dice.below(50), dice.below(50), dice.below(20)],
  };
}

const usageOf = ({ tokens: [input_tokens, output_tokens, cached_tokens] }: Answer): object => ({
  billed_units: { input_tokens: 1 },
  tokens: { input_tokens, output_tokens },
  cached_tokens,
});

function bodyOf(answer: Answer): object {
  const tool_calls = answer.calls.map(({ id, name, arguments: text }) => ({
    id,
    type: 'function',
    function: { name, arguments: text },
  }));
  const content = answer.blocks.map(({ type, text }) => ({ type, [type]: text }));
  return {
    id: 'answer-1',
    message: {
      role: 'assistant',
      ...(content.length > 0 && { content }),
      tool_plan: answer.plan,
      citations: answer.citations,
      ...(tool_calls.length > 0 && { tool_calls }),
    },
    finish_reason: answer.finish,
    usage: usageOf(answer),
  };
}

function eventsOf(answer: Answer, dice: Dice): object[] {
  const pieces = (text: string): string[] => cutAtRandom(Array.from(text), dice).map((part) => part.join(''));
  const wrap = (call: object): unknown => (dice.below(2) === 0 ? call : [call]);
  const event = (type: string, index: number, message: object): object => ({ type, index, delta: { message } });
  return [
    { type: 'message-start', id: 'answer-1', delta: { message: { role: 'assistant', content: [] } } },
    ...answer.blocks.flatMap(({ type, text }, at) => [
      event('content-start', at, { content: { type, [type]: '' } }),
      ...pieces(text).map((piece) => event('content-delta', at, { content: { [type]: piece } })),
      { type: 'content-end', index: at },
    ]),
    ...answer.citations.flatMap((citations, at) => [
      { type: 'citation-start', index: at, delta: { message: { citations } } },
      { type: 'citation-end', index: at },
    ]),
    ...pieces(answer.plan).map((tool_plan) => ({ type: 'tool-plan-delta', delta: { message: { tool_plan } } })),
    ...answer.calls.flatMap(({ id, name, arguments: text }, at) => [
      event('tool-call-start', at, { tool_calls: wrap({ id, type: 'function', function: { name, arguments: '' } }) }),
      ...(text === '{}' && dice.below(2) === 0
        ? []
        : pieces(text).map((piece) =>
            event('tool-call-delta', at, { tool_calls: wrap({ function: { arguments: piece } }) }),
          )),
      { type: 'tool-call-end', index: at },
    ]),
    { type: 'message-end', delta: { finish_reason: answer.finish, usage: usageOf(answer) } },
  ];
}

describe('cohere, streamed and whole', () => {
  it('read every generated answer alike, however its stream is cut', () => {
    const dice = new Dice(20261121);
    const call = callFor('command-a-reasoning-08-2025');
    for (let round = 0; round < cases(300); round += 1) {
      const answer = answerOf(dice);
      const {
        choices: [whole],
        usage,
      } = translateReply(cohere, call, bodyOf(answer));
      const bytes = sseBytes(eventsOf(answer, dice));
      const cuts = round % 30 === 0 && bytes.length < 1500 ? [...everyCut(bytes)] : [cutAtRandom(bytes, dice)];
      for (const pieces of cuts) {
        const {
          reply: {
            choices: [choice],
            usage: counted,
          },
          failure,
        } = relayStream(cohere, call, pieces);
        expect(failure, `round ${round}`).to.equal(undefined);
        const content = whole?.message.content || null; // an empty content makes no chunk
        expect({ ...choice?.message, content: choice?.message.content ?? null }, `round ${round}`).to.deep.equal({
          ...whole?.message,
          content,
        });
        expect([choice?.finish_reason, counted], `round ${round}`).to.deep.equal([whole?.finish_reason, usage]);
      }
    }
  });
});
