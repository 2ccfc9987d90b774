import { expect } from 'chai';
import { openMessagesStream, DIRECT } from '../../providers/_common/anthropic/index.ts';
import { messageOf } from '../../builtins/wires/messages/reply.ts';
import { VendorStream } from '../../builtins/wires/messages/same-wire-stream.ts';
import { MessagesStream } from '../../builtins/wires/messages/stream.ts';
import { readMessages } from '../../builtins/wires/messages/request.ts';
import type { ChatChunk, ChatReply, ChunkDelta, Exchange, ToolCallDelta } from '../../host/contract/index.ts';
import { Assembly } from '../../host/answer/assembly.ts';
import { Relay } from '../../host/answer/relay.ts';
import { callFor, cases, Dice } from '../kit/index.ts';
import { toMessagesBody } from '../../providers/_common/anthropic/index.ts';
import { eventText, eventsOf, VENDOR_EVENTS } from './messages-kit.ts';

const FACTS = { model: 'm', created: 1, stripUsage: false, framing: 'sse' } as const;
const exchangeOf = (reply?: ChatReply): Exchange =>
  ({
    id: '0'.repeat(32),
    model: 'm',
    request: { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
    reply,
  }) as unknown as Exchange;
const PIECES = ['a', ' b', 'Grüße', '😀', '"', '\\', '\n', '{', 'x'.repeat(40)];

/** Chunks of one answer: thoughts, texts and calls in any order, calls with fragments that overlap. */
function chunksOf(dice: Dice): ChatChunk[] {
  const deltas: ChunkDelta[] = [];
  let calls = 0;
  for (let steps = 1 + dice.below(8); steps > 0; steps -= 1) {
    const piece = (): string => dice.pick(PIECES);
    switch (dice.below(5)) {
      case 0:
        deltas.push({ reasoning_content: piece() });
        break;
      case 1:
        deltas.push({ reasoning_content: piece(), content: piece() });
        break;
      case 2:
        deltas.push({ content: piece() }, { content: '' });
        break;
      case 3:
        deltas.push(
          {
            reasoning_details: [{ type: 'reasoning.text', index: steps, format: 'anthropic-claude-v1', text: piece() }],
          },
          {
            reasoning_details: [
              { type: 'reasoning.text', index: steps, format: 'anthropic-claude-v1', signature: `sig${steps}` },
            ],
          },
        );
        break;
      default: {
        const some = Array.from({ length: 1 + dice.below(3) }, () => ({
          index: calls++,
          text: JSON.stringify({ a: piece(), b: [piece()] }),
        }));
        const fragments = some.flatMap(({ index, text }): ToolCallDelta[] => {
          const cut = dice.below(text.length);
          return [
            {
              index,
              id: `call_${index}`,
              type: 'function',
              function: { name: `n${index}`, arguments: text.slice(0, cut) },
            },
            { index, function: { arguments: text.slice(cut) } },
          ];
        });
        if (dice.below(2) === 0)
          deltas.push(
            { tool_calls: fragments.filter(({ id }) => id) },
            { tool_calls: fragments.filter(({ id }) => !id) },
          );
        else for (const fragment of fragments) deltas.push({ tool_calls: [fragment] });
      }
    }
  }
  return [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } },
  ];
}

/** What a client puts together, with the rules that it relies on. */
function assembled(text: string): any[] {
  const blocks: any[] = [];
  let isOpen = false;
  for (const event of eventsOf(text)) {
    const { type, index, content_block: block, delta } = event;
    if (type === 'content_block_start') {
      expect(isOpen).to.equal(false);
      expect(index).to.equal(blocks.length);
      blocks.push({ ...block, ...(block.type === 'tool_use' && { json: '' }) });
      isOpen = true;
    } else if (type === 'content_block_stop') {
      expect(isOpen && index === blocks.length - 1).to.equal(true);
      isOpen = false;
    } else if (type === 'content_block_delta') {
      expect(isOpen && index === blocks.length - 1).to.equal(true);
      const open = blocks.at(-1);
      if (delta.type === 'text_delta') open.text += delta.text;
      else if (delta.type === 'thinking_delta') open.thinking += delta.thinking;
      else if (delta.type === 'signature_delta') open.signature = delta.signature;
      else open.json += delta.partial_json;
    }
  }
  expect(isOpen).to.equal(false);
  return blocks.map(({ json, ...block }) => (json === undefined ? block : { ...block, input: JSON.parse(json) }));
}

const joined = (blocks: readonly any[], type: string, member: string): string =>
  blocks
    .filter((block) => block.type === type)
    .map((block) => block[member])
    .join('');
const callsIn = (blocks: readonly any[]): unknown[] =>
  blocks
    .filter(({ type }) => type === 'tool_use')
    .map(({ id, name, input }) => ({ id, name, input }))
    .toSorted((a, b) => Number(a.name.slice(1)) - Number(b.name.slice(1)));

describe('streams of the Messages wire', () => {
  it('say what the whole answer says, in blocks that clients accept', () => {
    for (let seed = 1; seed <= cases(2000); seed += 1) {
      const dice = new Dice(seed);
      const chunks = chunksOf(dice);
      const assembly = new Assembly();
      for (const chunk of structuredClone(chunks)) assembly.add(chunk);
      const reply = assembly.reply({
        id: '',
        created: 1,
        model: 'm',
        provider: 'p',
        usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
      });
      const whole = messageOf(exchangeOf(reply), {}) as { content: any[]; stop_reason: string; usage: any };
      const encoder = new MessagesStream(exchangeOf(), {});
      const text = chunks.map((chunk) => encoder.chunk(chunk)).join('') + encoder.end();
      const bytes = Buffer.from(text, 'latin1').toString('utf8');
      const blocks = assembled(bytes);
      for (const [type, member] of [
        ['text', 'text'],
        ['thinking', 'thinking'],
      ] as const) {
        const isMixed =
          type === 'thinking' &&
          reply.choices[0]?.message.reasoning_content !== undefined &&
          reply.choices[0].message.reasoning_details !== undefined;
        if (!isMixed)
          expect(joined(blocks, type, member), `seed ${seed}`).to.equal(joined(whole.content, type, member));
      }
      expect(callsIn(blocks), `seed ${seed}`).to.deep.equal(callsIn(whole.content));
      const last = eventsOf(bytes).at(-2);
      expect(last.delta.stop_reason, `seed ${seed}`).to.equal(whole.stop_reason);
      expect(last.usage.output_tokens).to.equal(whole.usage.output_tokens);
      expect(eventsOf(bytes).at(-1).type).to.equal('message_stop');
    }
  });

  it('of the vendor leave as they came, wherever they are cut', () => {
    for (const lineEnd of ['\n', '\r\n']) {
      const text = Buffer.from(VENDOR_EVENTS.map(eventText).join(': comment\n\n').replaceAll('\n', lineEnd));
      for (let cut = 0; cut <= text.length; cut += lineEnd === '\n' ? 1 : 3) {
        const verbatim = new VendorStream();
        const relay = new Relay({
          ...FACTS,
          encoder: verbatim,
          source: {
            speaks: 'client',
            framing: 'sse',
            stream: verbatim,
            decode: openMessagesStream(callFor('m'), DIRECT),
            readsAsides: false,
          },
        });
        const out = relay.push(text.subarray(0, cut)) + relay.push(text.subarray(cut)) + relay.end();
        expect(relay.failure).to.equal(undefined);
        expect(Buffer.from(out + verbatim.end(), 'latin1').equals(text), `cut at ${cut}`).to.equal(true);
        expect(relay.assembly.text()).to.equal('Grüße zurückhm');
        expect(relay.usage).to.include({ prompt_tokens: 15, completion_tokens: 9, cache_write_tokens: 2 });
      }
    }
  });

  it('of a conversation that goes through the common format and back keep what that carries', () => {
    const body = {
      model: 'm',
      max_tokens: 64,
      system: 'terse',
      temperature: 0.5,
      stop_sequences: ['END'],
      tools: [{ name: 'tide', description: 'd', input_schema: { type: 'object', properties: {} } }],
      tool_choice: { type: 'any' },
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
            { type: 'text', text: 'b' },
            { type: 'tool_use', id: 't1', name: 'tide', input: { n: 1 } },
            { type: 'tool_use', id: 't2', name: 'tide', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't1', content: 'high', is_error: true },
            { type: 'tool_result', tool_use_id: 't2', content: 'low', cache_control: { type: 'ephemeral' } },
            { type: 'text', text: 'and' },
          ],
        },
      ],
    };
    const { request, notes } = readMessages(body, undefined);
    expect(notes).to.deep.include({ lost: [], refusal: undefined });
    expect(JSON.parse(JSON.stringify(toMessagesBody(request, callFor('m'), DIRECT).body))).to.deep.equal(body);
  });
});
