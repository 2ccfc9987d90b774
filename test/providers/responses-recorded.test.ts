import { createOpenAI } from '@ai-sdk/openai';
import { expect } from 'chai';
import { readChatRequest } from '../../builtins/surfaces/chat-request.ts';
import { costOf } from '../../builtins/catalog/cost.ts';
import { GatewayError } from '../../host/contract/index.ts';
import { type Heard, heardStreamedByThem, heardWholeByThem } from '../differential/answers/heard.ts';
import { parsed } from '../differential/meaning/meaning.ts';
import { cases, Dice, expectProportion, golden, some } from '../kit/index.ts';
import { decoderFor, inputFor, readStream, readWhole, saidIn, SEALING, sentFor } from './responses-support.ts';

type Fields = Record<string, any>;

const FORMAT = 'openai-responses-v1';
const wholeOf = (name: string): Fields => JSON.parse(golden(`openai/responses/${name}.json`)) as Fields;
const bytesOf = (name: string): string => golden(`openai/responses/${name}.sse`);
const declared = { tools: ['tide', 'wind'].map((name) => ({ type: 'function', function: { name } })) };

/** What is expected of each recorded answer. */
const SAID: Readonly<Record<string, Fields>> = {
  sealed: {
    content: 'High water is at 04:12 and 16:40.',
    reasoning_content: '**Weighing the tide**\n\nHigh water comes twice.\n\n**Answering**',
    reasoning_details: [
      {
        type: 'reasoning.encrypted',
        format: FORMAT,
        index: 0,
        origin: 'openai',
        data: 'gAAAAABtideSealedWhole',
        start: 0,
      },
    ],
    calls: [],
    finish: 'stop',
  },
  phases: {
    content: 'I will look for a free berth.',
    reasoning_details: [
      { type: 'reasoning.encrypted', format: FORMAT, index: 0, origin: 'openai', data: 'gAAAAABberth0', start: 0 },
      { type: 'reasoning.phase', format: FORMAT, index: 1, start: 0, end: 29, phase: 'commentary' },
      {
        type: 'reasoning.encrypted',
        format: FORMAT,
        index: 2,
        origin: 'openai',
        data: 'gAAAAABberth2',
        id: 'call_berth3',
      },
    ],
    calls: [
      { callId: 'call_berth3', type: 'function', called: { name: 'free_berths', arguments: '{"harbour":"Brest"}' } },
      {
        callId: 'call_berth4',
        type: 'function',
        called: { name: 'tide', arguments: '{"harbour":"Brest","hours":12}' },
      },
    ],
    finish: 'tool_calls',
  },
  'turning-ids': {
    content: 'Two **“i”**s.',
    reasoning_content: '**Counting**',
    reasoning_details: [
      { type: 'reasoning.phase', format: FORMAT, index: 1, start: 0, end: 13, phase: 'final_answer' },
    ],
    calls: [],
    finish: 'stop',
  },
  wrapper: {
    content: '',
    calls: [
      { callId: 'call_wrapper_0', type: 'function', called: { name: 'tide', arguments: '{"harbour":"Brest"}' } },
      { callId: 'call_wrapper_1', type: 'function', called: { name: 'wind', arguments: '{"harbour":"Roscoff"}' } },
    ],
    finish: 'tool_calls',
  },
  custom: {
    content: '',
    calls: [
      {
        callId: 'call_berths',
        type: 'custom',
        custom: { name: 'write_sql', input: 'SELECT name FROM berths WHERE free' },
      },
    ],
    finish: 'tool_calls',
  },
  search: {
    content: 'Brest: 7.1 m ([tides](https://tides.example/brest)).',
    annotations: [
      {
        type: 'url_citation',
        url_citation: { start_index: 13, end_index: 51, url: 'https://tides.example/brest', title: 'Tides' },
      },
    ],
    reasoning_details: [
      { type: 'reasoning.encrypted', format: FORMAT, index: 2, origin: 'openai', data: 'gAAAAABsearch1', start: 0 },
    ],
    calls: [],
    finish: 'stop',
  },
};

describe('chats by the Responses API, recorded answers', () => {
  for (const [name, expected] of Object.entries(SAID)) {
    it(`${name}: whole, and streamed at every cut`, () => {
      const { id, usage, ...whole } = saidIn(readWhole(wholeOf(name), declared));
      expect(whole).to.deep.equal(expected);
      const bytes = bytesOf(name);
      const { length } = Buffer.from(bytes);
      for (const at of [0, ...some([...Array(length).keys()], { every: 97, from: 5 })]) {
        const { reply, failure } = readStream([], {
          tail: bytes,
          request: declared,
          cut: (all) => [all.subarray(0, at), all.subarray(at)],
        });
        expect(failure, `cut at ${at}`).to.equal(undefined);
        expect(saidIn(reply), `cut at ${at}`).to.deep.equal({ id, usage, ...expected });
      }
    });

    it(`${name}: as another toolkit hears it`, async () => {
      const heard = (reply: Parameters<typeof saidIn>[0]): Omit<Heard, 'failure'> => {
        const { content, reasoning_content: reasoning = '', calls, finish, usage } = saidIn(reply);
        return {
          text: content,
          reasoning,
          calls: calls.map(({ called, custom }: Fields) => ({
            name: (called ?? custom).name,
            input: parsed(called?.arguments ?? JSON.stringify(custom.input)),
          })),
          finish,
          usage: {
            input: usage.prompt_tokens + (usage.cache_write_tokens ?? 0),
            output: usage.completion_tokens,
            cached: usage.cache_read_tokens ?? 0,
            reasoning: usage.reasoning_tokens ?? 0,
          },
        };
      };
      if (name === 'wrapper') return; // that toolkit needs its own tools to see through it
      const model = (type: string, body: string) =>
        createOpenAI({
          baseURL: 'http://127.0.0.1:9',
          apiKey: 'key',
          fetch: async () => new Response(body, { headers: { 'content-type': type } }),
        }).responses('gpt-5.4');
      const flat = ({ reasoning, ...rest }: Heard): Heard => ({
        ...rest,
        reasoning: reasoning.replaceAll('\n\n', ''),
        calls: rest.calls.filter(({ name: called }) => called !== 'web_search'),
      });
      const ours = heard(readWhole(wholeOf(name))) as Heard;
      expect(flat(await heardWholeByThem(model('application/json', JSON.stringify(wholeOf(name)))))).to.deep.equal(
        flat(ours),
      );
      expect(flat(await heardStreamedByThem(model('text/event-stream', bytesOf(name))))).to.deep.equal(flat(ours));
    });
  }

  it('are failures of the status that their code stands for', () => {
    for (const [name, status] of [
      ['quota', 429],
      ['rate', 429],
      ['nameless', 500],
    ] as const) {
      const { chunks, failure } = readStream([], { tail: bytesOf(name) });
      expect(chunks, name).to.deep.equal([]);
      expect((failure as GatewayError).fault, name).to.include({ kind: 'status', status });
    }
  });

  it('cost what the vendor bills: cache writes apart, nothing twice', () => {
    const { usage } = readWhole(wholeOf('phases'));
    const pricing = {
      input_per_m_tokens: 2,
      output_per_m_tokens: 16,
      cache_read_per_m_tokens: 0.2,
      cache_write_per_m_tokens: 2.5,
      reasoning_per_m_tokens: null,
    };
    const { totalUsd } = costOf(
      { mode: 'chat', model_id: 'm', pricing: pricing as never },
      { id: 'standard', prices: pricing } as never,
      { usage },
      { catalog: 'c' },
    );
    expect(totalUsd).to.equal(((812 - 512 - 128) * 2 + 512 * 0.2 + 128 * 2.5 + 96 * 16) / 1e6);
  });
});

describe('chats by the Responses API, pieces of text', () => {
  it('are read the same with and without a parser', () => {
    const open = (): ReturnType<typeof decoderFor> => decoderFor();
    const event = {
      content_index: 0,
      item_id: 'm',
      logprobs: [],
      obfuscation: 'x',
      output_index: 3,
      sequence_number: 7,
    };
    const TYPE = { type: 'response.output_text.delta' };
    for (const delta of ['a', '', 'é水🌊', '"', '\\', '\n', 'a"b', '{"type": "x"}', '\u2028']) {
      const forms = [
        { ...TYPE, content_index: 0, delta, output_index: 3 },
        {
          ...TYPE,
          content_index: 0,
          delta,
          item_id: 'm',
          logprobs: [],
          obfuscation: 'x',
          output_index: 3,
          sequence_number: 7,
        },
        { content_index: 0, delta, item_id: 'm', logprobs: [], output_index: 3, sequence_number: 7, ...TYPE },
        { ...event, delta, ...TYPE },
      ].map((form) => JSON.stringify(form));
      const spaced = forms.map((form) => form.replaceAll(/([\d"\]]),"/g, '$1, "').replaceAll('":', '": '));
      const read = [...forms, ...(delta.includes('"') ? [] : spaced)].map((data) => open()({ type: '', data }));
      for (const chunks of read) expect(chunks, JSON.stringify(delta)).to.deep.equal(read[0]);
      const broken = forms.map((form) => form.replace('"delta":"', '"delta":"\u0001'));
      for (const data of broken) expect(open()({ type: '', data }), 'no JSON').to.deep.equal([]);
      expect(read[0]!.map(({ choices: [choice] }) => choice!.delta.content).join('')).to.equal(delta);
    }
  });

  it('need no parser where nothing in them is escaped', () => {
    const decode = decoderFor();
    const list = Array.from({ length: 300 }, (_, at) =>
      JSON.stringify({
        type: 'response.output_text.delta',
        content_index: 0,
        delta: ` word${at}`,
        item_id: 'msg_1',
        logprobs: [],
        obfuscation: 'Kq',
        output_index: 0,
        sequence_number: at,
      }),
    );
    const parse = JSON.parse;
    let count = 0;
    JSON.parse = (...given) => {
      count += 1;
      return parse(...given);
    };
    try {
      for (const data of list) decode({ type: '', data });
    } finally {
      JSON.parse = parse;
    }
    expect(count).to.equal(0);
  });
});

describe('chats by the Responses API take work in proportion', () => {
  const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));

  it('to the items that a turn brings back', () =>
    expectProportion(4000, (size) => {
      const details = times(size, (at) => ({
        type: at % 3 === 0 ? 'reasoning.phase' : 'reasoning.encrypted',
        format: FORMAT,
        data: 'A',
        start: at % 2 === 0 ? at : size * 9,
        end: at + 1,
        phase: 'commentary',
      }));
      const message = { role: 'assistant', content: 'x'.repeat(size), reasoning_details: details };
      return () => inputFor([message], { facts: SEALING });
    }));

  it('to the calls and results of a conversation', () =>
    expectProportion(4000, (size) => {
      const messages = times(size, (at) =>
        at % 2
          ? { role: 'tool', tool_call_id: `c${at - 1}`, content: '{}' }
          : { role: 'assistant', tool_calls: [{ id: `c${at}`, type: 'custom', custom: { name: 'f', input: 'x' } }] },
      );
      return () => inputFor(messages);
    }));

  it('to the events of a stream', () =>
    expectProportion(4000, (size) => {
      const list = times(size, (at) => ({
        type: '',
        data: JSON.stringify({
          type: at % 2 ? 'response.function_call_arguments.delta' : 'response.reasoning_summary_text.delta',
          delta: 'x\n',
          output_index: at % 2,
          summary_index: at,
        }),
      }));
      return () => {
        const decode = decoderFor();
        for (const event of list) decode(event);
      };
    }));
});

const STRANGE: readonly unknown[] = [
  null,
  true,
  -1,
  0.5,
  1e9,
  '',
  'x',
  [],
  ['x'],
  [null],
  {},
  { type: 'x' },
  { error: {} },
];

/** A value with a member of it, at any depth, exchanged for a strange one or gone. */
function disturbed(value: unknown, dice: Dice): unknown {
  if (typeof value !== 'object' || value === null || dice.below(6) === 0) return dice.pick(STRANGE);
  const names = Object.keys(value);
  if (names.length === 0) return dice.pick(STRANGE);
  const name = dice.pick(names);
  if (Array.isArray(value)) return value.with(Number(name), disturbed(value[Number(name)], dice));
  const { [name]: member, ...others } = value as Fields;
  return dice.below(5) === 0 ? others : { ...others, [name]: disturbed(member, dice) };
}

/** Whether the gateway takes a request of a client. */
function isReadable(asked: Fields): boolean {
  try {
    readChatRequest(structuredClone(asked));
    return true;
  } catch {
    return false;
  }
}

/** What a vendor's mistake may be: an error that says so, and no fault of the module. */
function expectUnfaulted(run: () => unknown, shown: string): void {
  try {
    run();
  } catch (error) {
    const isPlain = error instanceof GatewayError || (error as Error).constructor === Error;
    expect(isPlain, `${String(error)}: ${shown}`).to.equal(true);
  }
}

describe('chats by the Responses API, answers out of form', () => {
  it('are read as far as they can be, or are unusable, and are never a fault of the module', () => {
    const names = Object.keys(SAID);
    const streams = names.map((name) =>
      bytesOf(name)
        .split('\n\n')
        .filter((frame) => frame !== '')
        .map((frame) => JSON.parse(frame.slice(frame.indexOf('data: ') + 6)) as Fields),
    );
    for (let seed = 1; seed <= cases(6000); seed += 1) {
      const dice = new Dice(seed);
      const whole = { ...(disturbed(wholeOf(dice.pick(names)), dice) as object) };
      expectUnfaulted(() => readWhole(whole, declared), JSON.stringify(whole));
      const events = dice.pick(streams).map((event) => (dice.below(6) === 0 ? disturbed(event, dice) : event));
      const decode = decoderFor(declared);
      expectUnfaulted(() => {
        for (const event of events) decode({ type: '', data: JSON.stringify(event) });
      }, JSON.stringify(events));
    }
  });

  it('and requests out of form are sent as far as they can be, or refused', () => {
    const request = {
      messages: [
        { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://i' } }] },
        {
          role: 'assistant',
          content: 'x',
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
          reasoning_details: [{ type: 'reasoning.encrypted', format: FORMAT, data: 'A', start: 0 }],
        },
        { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'r' }] },
      ],
      reasoning: { effort: 'low' },
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema: {} } },
      tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [{ type: 'function' }] } },
      web_search_options: { user_location: { approximate: { city: 'Brest' } } },
      stream_options: { include_obfuscation: true },
    };
    for (let seed = 1; seed <= cases(4000); seed += 1) {
      const dice = new Dice(seed);
      const { messages, ...params } = request;
      const asked: Fields = {
        model: 'm',
        messages: messages.map(({ role, ...message }) => ({ ...(disturbed(message, dice) as object), role })),
        ...(disturbed(params, dice) as object),
      };
      if (!isReadable(asked)) continue; // refused before any provider sees it
      expectUnfaulted(() => sentFor(asked, { facts: SEALING, stream: true }), JSON.stringify(asked));
    }
  });
});
