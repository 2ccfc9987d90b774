import { expect } from 'chai';
import bedrock from '../../providers/bedrock/index.ts';
import { callFor, cases, Dice, everyCut, relayStream, translateReply } from '../kit/index.ts';
import { chunk, CLAUDE, event, LLAMA, NOVA, PROFILE, TITAN } from './bedrock-support.ts';

const WORDS = ['a', ' harbour', '\n', '"', '\\', 'é', '水', '🌊', '{', '}', 'data: ', '\u2028', '\u0000', 'exception'];

const textOf = (dice: Dice, least = 0): string =>
  Array.from({ length: least + dice.below(6) }, () => dice.pick(WORDS)).join('');

function inputOf(dice: Dice): object {
  return Object.fromEntries(
    Array.from({ length: dice.below(4) }, (_, at) => [
      `k${at}`,
      dice.pick([textOf(dice), dice.below(1000), null, true, [textOf(dice)], { deep: textOf(dice) }]),
    ]),
  );
}

/** The text in pieces between which no character is cut in two. */
function piecesOf(dice: Dice, text: string): string[] {
  const characters = Array.from(text);
  const pieces: string[] = [];
  while (characters.length > 0) pieces.push(characters.splice(0, 1 + dice.below(5)).join(''));
  return pieces;
}

interface Case {
  readonly model: string;
  readonly body: object;
  readonly frames: readonly Buffer[];
}

type Block = Readonly<Record<string, any>>;

function blockOf(dice: Dice, at: number): Block {
  switch (dice.below(5)) {
    case 0:
      return { reasoningContent: { reasoningText: { text: textOf(dice, 1), signature: `sig${at}` } } };
    case 1:
      return { reasoningContent: { redactedContent: `sealed${at}` } };
    case 2:
      return { toolUse: { toolUseId: `tooluse_${at}`, name: dice.pick(['tide', 'clock']), input: inputOf(dice) } };
    default:
      return { text: textOf(dice) };
  }
}

type NamedEvent = readonly [string, object];

/** The events of one block; blocks may be numbered with gaps. */
function blockEvents(dice: Dice, block: Block, contentBlockIndex: number): NamedEvent[] {
  const delta = (value: object): NamedEvent => ['contentBlockDelta', { contentBlockIndex, delta: value }];
  const { text, toolUse, reasoningContent } = block;
  const stop: NamedEvent = ['contentBlockStop', { contentBlockIndex }];
  if (text !== undefined) return [...piecesOf(dice, text).map((piece) => delta({ text: piece })), stop];
  if (toolUse) {
    const { input, ...start } = toolUse;
    const pieces = Object.keys(input).length === 0 && dice.below(2) === 0 ? [] : piecesOf(dice, JSON.stringify(input));
    return [
      ['contentBlockStart', { contentBlockIndex, start: { toolUse: start } }],
      ...pieces.map((piece) => delta({ toolUse: { input: piece } })),
      stop,
    ];
  }
  const { reasoningText, redactedContent } = reasoningContent;
  if (redactedContent) return [delta({ reasoningContent: { redactedContent } }), stop];
  const pieces = piecesOf(dice, reasoningText.text).map((piece) => delta({ reasoningContent: { text: piece } }));
  return [...pieces, delta({ reasoningContent: { signature: reasoningText.signature } }), stop];
}

/** An answer of Converse, or of Nova's own wire, whose events are the same within chunks. */
function converseCase(dice: Dice): Case {
  const isNova = dice.below(2) === 0;
  const form: Block = { toolUse: { toolUseId: 'form', name: 'gw_structured_answer', input: inputOf(dice) } };
  const content =
    dice.below(8) === 0 ? [form] : Array.from({ length: 1 + dice.below(5) }, (_, at) => blockOf(dice, at));
  const stopReason = dice.pick([
    'end_turn',
    'max_tokens',
    'stop_sequence',
    'tool_use',
    'content_filtered',
    'guardrail_intervened',
  ]);
  const cache = isNova
    ? { cacheReadInputTokenCount: dice.below(9), cacheWriteInputTokenCount: dice.below(9) }
    : { cacheReadInputTokens: dice.below(9), cacheWriteInputTokens: dice.below(9) };
  const usage = {
    inputTokens: 1 + dice.below(5000),
    outputTokens: dice.below(5000),
    ...(dice.below(2) === 0 && cache),
  };
  const gap = 1 + dice.below(3);
  const events: NamedEvent[] = [
    ['messageStart', { role: 'assistant' }],
    ...content.flatMap((block, at) => blockEvents(dice, block, at * gap)),
    ['messageStop', { stopReason }],
    ['metadata', { usage, metrics: { latencyMs: 5 } }],
  ];
  return {
    model: isNova ? NOVA : PROFILE,
    body: { output: { message: { role: 'assistant', content } }, stopReason, usage },
    frames: events.map(([type, payload]) => (isNova ? chunk({ [type]: payload }) : event(type, payload))),
  };
}

function titanCase(dice: Dice): Case {
  const [text, reason, input, output] = [
    textOf(dice, 1),
    dice.pick(['FINISH', 'LENGTH', 'STOP_CRITERIA_MET', 'CONTENT_FILTERED']),
    1 + dice.below(99),
    dice.below(99),
  ];
  const chunks = piecesOf(dice, text).map((outputText) => ({
    outputText,
    index: 0,
    completionReason: null,
    inputTextTokenCount: dice.pick([null, input]),
  }));
  const last = {
    outputText: '',
    index: 0,
    completionReason: reason,
    totalOutputTextTokenCount: output,
    inputTextTokenCount: input,
  };
  return {
    model: TITAN,
    body: { inputTextTokenCount: input, results: [{ outputText: text, completionReason: reason, tokenCount: output }] },
    frames: [...chunks, last].map(chunk),
  };
}

function llamaCase(dice: Dice): Case {
  const [text, reason, prompt, generated] = [
    textOf(dice, 1),
    dice.pick(['stop', 'length']),
    1 + dice.below(99),
    1 + dice.below(99),
  ];
  const chunks = piecesOf(dice, text).map((generation, at) => ({
    generation,
    prompt_token_count: at === 0 ? prompt : null,
    generation_token_count: at,
    stop_reason: null,
  }));
  const last = { generation: '', prompt_token_count: null, generation_token_count: generated, stop_reason: reason };
  return {
    model: LLAMA,
    body: { generation: text, prompt_token_count: prompt, generation_token_count: generated, stop_reason: reason },
    frames: [...chunks, last].map(chunk),
  };
}

function claudeCase(dice: Dice): Case {
  const [text, reason, input, output] = [
    textOf(dice, 1),
    dice.pick(['end_turn', 'max_tokens', 'refusal']),
    dice.below(99),
    1 + dice.below(99),
  ];
  const events = [
    {
      type: 'message_start',
      message: { id: 'msg_1', role: 'assistant', content: [], usage: { input_tokens: input, output_tokens: 1 } },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...piecesOf(dice, text).map((piece) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: piece },
    })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: output } },
    { type: 'message_stop' },
  ];
  const body = {
    id: 'msg_1',
    role: 'assistant',
    content: [{ type: 'text', text }],
    stop_reason: reason,
    usage: { input_tokens: input, output_tokens: output },
  };
  return { model: CLAUDE, body, frames: events.map(chunk) };
}

/** Cut everywhere when it is short, anywhere else. */
function cuts(dice: Dice, bytes: Buffer): readonly (readonly Buffer[])[] {
  if (bytes.length < 450) return [...everyCut(bytes)];
  return Array.from({ length: 10 }, () => {
    const places = Array.from({ length: 1 + dice.below(12) }, () => dice.below(bytes.length)).toSorted((a, b) => a - b);
    return [0, ...places].map((place, at, all) => bytes.subarray(place, all[at + 1] ?? bytes.length));
  });
}

describe('bedrock, whole and streamed', () => {
  for (const [name, make] of Object.entries({
    converse: converseCase,
    titan: titanCase,
    llama: llamaCase,
    claude: claudeCase,
  })) {
    it(`answers of ${name} say the same`, () => {
      for (let seed = 1; seed <= cases(150); seed += 1) {
        const dice = new Dice(seed);
        const { model, body, frames } = make(dice);
        const whole = translateReply(bedrock, callFor(model), body);
        for (const pieces of cuts(dice, Buffer.concat(frames))) {
          const { reply, failure, chunks } = relayStream(bedrock, callFor(model, { stream: true }), pieces);
          expect(failure, `seed ${seed}`).to.equal(undefined);
          expect(reply, `seed ${seed}`).to.deep.equal({ ...whole, created: reply.created });
          expect(
            chunks.findIndex(({ usage }) => usage),
            `usage of seed ${seed}`,
          ).to.be.oneOf([-1, chunks.length - 1]);
        }
      }
    });
  }
});
