import { expect } from 'chai';
import OpenAI from 'openai';
import {
  cases,
  chatReply,
  Dice,
  MASTER_KEY,
  openSse,
  replyJson,
  sseEvent,
  startHost,
  stubUpstream,
} from '../../kit/index.ts';

const WORDS = [
  'a',
  ' harbour',
  '\n',
  '"',
  '\\',
  'é',
  '水',
  '🌊',
  '{',
  '}',
  'data: ',
  '\u2028',
  '\u0000',
  'event: error\n',
];
const TOOLS = [
  { type: 'function', name: 'tide', parameters: {}, strict: false },
  { type: 'custom', name: 'apply_patch' },
  { type: 'namespace', name: 'ship', description: 'd', tools: [{ type: 'function', name: 'steer' }] },
] as unknown as OpenAI.Responses.Tool[];
const NAMES = ['tide', 'apply_patch', 'ship__steer', 'unheard_of'];

const textOf = (dice: Dice, least = 0): string =>
  Array.from({ length: least + dice.below(6) }, () => dice.pick(WORDS)).join('');

interface Generated {
  readonly message: {
    content: string | null;
    reasoning_content?: string;
    reasoning_details?: object[];
    tool_calls?: object[];
    refusal?: string;
  };
  readonly finish: string;
}

/** An answer in the order in which vendors stream one: thoughts, text, calls. */
function generated(dice: Dice): Generated {
  const thoughts = dice.below(2) === 0 ? textOf(dice, 1) : undefined;
  const isSigned = thoughts !== undefined && dice.below(2) === 0;
  const content = dice.below(4) > 0 ? textOf(dice, 1) : null;
  const calls = Array.from({ length: dice.below(3) }, (_, at) => ({
    id: dice.below(4) === 0 ? '' : `call_${at}`,
    type: 'function',
    function: {
      name: dice.pick(NAMES),
      arguments: JSON.stringify(dice.pick([{}, { input: textOf(dice) }, { a: textOf(dice), b: [1, { c: null }] }])),
    },
  }));
  const details = isSigned
    ? [
        {
          type: 'reasoning.text',
          index: 0,
          format: 'anthropic-claude-v1',
          text: thoughts,
          signature: `s${dice.below(9)}`,
        },
      ]
    : undefined;
  return {
    message: {
      content,
      ...(thoughts !== undefined && { reasoning_content: thoughts }),
      ...(details && { reasoning_details: details }),
      ...(content === null && calls.length === 0 && { refusal: textOf(dice, 1) }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
    finish: dice.pick(['stop', 'length', 'tool_calls', 'content_filter']),
  };
}

function piecesOf(dice: Dice, text: string): string[] {
  const pieces: string[] = [];
  const characters = Array.from(text);
  for (let at = 0; at < characters.length;) {
    const size = 1 + dice.below(5);
    pieces.push(characters.slice(at, at + size).join(''));
    at += size;
  }
  return pieces;
}

const USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };

function chunksOf(dice: Dice, { message, finish }: Generated): object[] {
  const deltas: object[] = [{ role: 'assistant' }];
  for (const piece of piecesOf(dice, message.reasoning_content ?? ''))
    deltas.push({
      reasoning_content: piece,
      ...(message.reasoning_details && {
        reasoning_details: [{ type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1', text: piece }],
      }),
    });
  for (const { text: _text, ...detail } of (message.reasoning_details ?? []) as { text: string }[])
    deltas.push({ reasoning_details: [detail] });
  for (const piece of piecesOf(dice, message.content ?? '')) deltas.push({ content: piece });
  for (const piece of piecesOf(dice, message.refusal ?? '')) deltas.push({ refusal: piece });
  ((message.tool_calls ?? []) as { id: string; function: { name: string; arguments: string } }[]).forEach(
    ({ id, function: { name, arguments: args } }, index) => {
      deltas.push({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] });
      for (const piece of piecesOf(dice, args))
        deltas.push({ tool_calls: [{ index, function: { arguments: piece } }] });
    },
  );
  return [
    ...deltas.map((delta) => ({ id: 'x', choices: [{ index: 0, delta, finish_reason: null }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: finish }] },
    { choices: [], usage: USAGE },
  ];
}

describe('generated answers of the Responses API', () => {
  it("are the same streamed and whole, as the vendor's client puts them together", async () => {
    const next: { answer: Generated; dice: Dice } = { answer: generated(new Dice(0)), dice: new Dice(0) };
    const upstream = await stubUpstream((request, response) => {
      const { answer, dice } = next;
      if (request.json()['stream'] !== true) {
        replyJson(
          response,
          200,
          chatReply('', {
            choices: [{ index: 0, message: { role: 'assistant', ...answer.message }, finish_reason: answer.finish }],
            usage: USAGE,
          }),
        );
        return;
      }
      const bytes = Buffer.from([...chunksOf(dice, answer), '[DONE]'].map(sseEvent).join(''));
      openSse(response);
      for (let at = 0; at < bytes.length;) {
        const size = 1 + dice.below(200);
        response.write(bytes.subarray(at, at + size));
        at += size;
      }
      response.end();
    });
    const host = await startHost({
      strategy: { mode: 'single' },
      targets: [upstream.target('a')],
      responses: { translate: 'auto' },
    });
    const client = new OpenAI({ baseURL: `${host.url}/v1`, apiKey: MASTER_KEY, maxRetries: 0 });
    for (let seed = 1; seed <= cases(400); seed += 1) {
      const dice = new Dice(seed);
      next.answer = generated(dice);
      next.dice = dice;
      const ask: Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'stream'> = {
        model: 'm',
        input: 'hi',
        tools: TOOLS,
        ...(dice.below(2) === 0 && { reasoning: { summary: 'auto' as const } }),
        ...(dice.below(2) === 0 && { include: ['reasoning.encrypted_content' as const] }),
      };
      const headers = { 'x-request-id': seed.toString(16).padStart(32, '0') };
      const whole = await client.responses.create(ask, { headers });
      const streamed = await client.responses.create({ ...ask, stream: true }, { headers });
      const events = await Array.fromAsync(streamed);
      const last = events.at(-1) as { response: OpenAI.Responses.Response };
      const bare = ({
        created_at: _created,
        completed_at: _completed,
        output_text: _text,
        ...rest
      }: OpenAI.Responses.Response): object => rest;
      expect(bare(last.response), `seed ${seed}`).to.deep.equal(bare(whole));
      const items = events.flatMap((event) => (event.type === 'response.output_item.done' ? [event.item] : []));
      expect(items, `seed ${seed}`).to.deep.equal(whole.output);
      const { output } = await client.responses.stream(ask, { headers }).finalResponse();
      expect(
        output.map(({ type, id }) => [type, id]),
        `seed ${seed}`,
      ).to.deep.equal(whole.output.map(({ type, id }) => [type, id]));
    }
  });
});
