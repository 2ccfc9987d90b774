import { expect } from 'chai';
import { readChatRequest } from '../../builtins/surfaces/chat-request.ts';
import { GatewayError } from '../../host/contract/index.ts';
import { parseJsonObject } from '../../host/http/body/json-body.ts';
import {
  ask,
  chatReply,
  MASTER_KEY,
  replyJson,
  replyStream,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';

type Fields = Record<string, unknown>;

const read = (body: object): Fields => ({ ...readChatRequest(parseJsonObject(Buffer.from(JSON.stringify(body)))) });

/** Message of the refusal; fails when there is none. */
function refusal(body: object): string {
  try {
    read(body);
  } catch (error) {
    expect(error).to.be.instanceOf(GatewayError);
    expect(error).to.include({ code: 'invalid_request', status: 400, type: 'invalid_request_error' });
    return (error as GatewayError).message;
  }
  throw new Error(`accepted: ${JSON.stringify(body)}`);
}

/** One fault per step of the validation, in the order of docs/reference/data-plane.md#chat-requests. */
const FAULTS: [step: string, fault: Fields, names: string][] = [
  ['decoding', { user: 5 }, 'user'],
  ['model', { model: '' }, 'model'],
  ['messages', { messages: [] }, 'messages'],
  ['temperature', { temperature: 2.1 }, 'temperature'],
  ['top_p', { top_p: 1.1 }, 'top_p'],
  ['max_tokens', { max_tokens: 0 }, 'max_tokens'],
  ['max_completion_tokens', { max_completion_tokens: 0 }, 'max_completion_tokens'],
  ['presence_penalty', { presence_penalty: -2.1 }, 'presence_penalty'],
  ['frequency_penalty', { frequency_penalty: 2.1 }, 'frequency_penalty'],
];

describe('the order of chat validation', () => {
  for (const [at, [step, fault, name]] of FAULTS.entries()) {
    it(`refuses a fault of ${step} by its name`, () => {
      expect(refusal(ask('hi', fault))).to.match(new RegExp(`^${name}\\b`));
    });
    for (const [laterStep, laterFault] of FAULTS.slice(at + 1)) {
      it(`tells ${step} before ${laterStep}`, () => {
        expect(refusal({ ...laterFault, ...ask('hi', { ...laterFault, ...fault }) })).to.match(
          new RegExp(`^${name}\\b`),
        );
        expect(refusal(ask('hi', { ...fault, ...laterFault })), 'whatever the order of the members').to.match(
          new RegExp(`^${name}\\b`),
        );
      });
    }
  }

  it('tells a wrong type before a missing field, and the first message before a later one', () => {
    expect(refusal({ temperature: 'hot' })).to.match(/^temperature\b/);
    expect(refusal({})).to.match(/^model\b/);
    expect(refusal({ messages: [{ role: 'user', content: 'hi' }] })).to.match(/^model\b/);
    expect(refusal({ model: 'm' })).to.match(/^messages\b/);
    expect(refusal({ messages: [{ content: 'hi' }] })).to.match(/^model\b/);
    expect(refusal({ model: 'm', temperature: 9, messages: [{ content: 'hi' }] })).to.include('messages[0].role');
    expect(
      refusal({
        model: 'm',
        messages: [
          { role: 'user', content: 1 },
          { role: 'user', content: 2 },
        ],
      }),
    ).to.include('messages[0].content');
    expect(
      refusal({
        model: 'm',
        temperature: 9,
        messages: [{ role: 'user', content: [{ type: 'text', text: 'ok' }, { type: 'video' }] }],
      }),
    ).to.include('messages[0].content[1]');
  });
});

describe('the types of chat fields', () => {
  const wrong: Readonly<Record<string, readonly unknown[]>> = {
    model: [5, true, {}, ['m']],
    messages: ['hi', {}, 5],
    temperature: ['1', true, [1], {}],
    top_p: ['1', false],
    n: ['1', 1.5, true],
    seed: ['1', 1.5, {}],
    max_tokens: ['10', 1.5, [10]],
    max_completion_tokens: ['10', 1.5],
    presence_penalty: ['0', true],
    frequency_penalty: ['0', []],
    stop: [5, {}, true, [5], ['a', null], [['a']]],
    tools: ['x', {}, ['x'], [null], [[]]],
    tool_choice: [5, true, []],
    parallel_tool_calls: ['true', 1],
    response_format: ['json', [], 5],
    logprobs: [1, 'true'],
    top_logprobs: ['1', 1.5, true],
    stream: ['true', 1, {}],
    stream_options: [true, [], 'x'],
    user: [5, {}],
    logit_bias: [[], 'x', { a: 'x' }, { a: null }],
  };
  for (const [field, values] of Object.entries(wrong)) {
    it(`refuse a wrong ${field}`, () => {
      for (const value of values)
        expect(refusal(ask('hi', { [field]: value })), JSON.stringify(value)).to.match(new RegExp(`^${field}\\b`));
    });
  }

  const right: Readonly<Record<string, readonly unknown[]>> = {
    temperature: [0, 1, 2, 0.123456789],
    top_p: [0, 0.5, 1],
    n: [1, 3],
    seed: [0, -1, 2 ** 53 - 1],
    max_tokens: [1, 1e6],
    max_completion_tokens: [1],
    presence_penalty: [-2, 0, 2],
    frequency_penalty: [-2, 2],
    stop: [[], ['a', 'b']],
    tools: [[], [{ type: 'function', function: { name: 'f' } }]],
    tool_choice: ['auto', { type: 'function', function: { name: 'f' } }],
    parallel_tool_calls: [true, false],
    response_format: [{ type: 'json_object' }],
    logprobs: [true, false],
    top_logprobs: [0, 20],
    stream: [true, false],
    stream_options: [{}, { include_usage: true }],
    user: ['', 'me'],
    logit_bias: [{}, { 50256: -100, 1: 0.5 }],
  };
  for (const [field, values] of Object.entries(right)) {
    it(`take a right ${field} as it is`, () => {
      for (const value of values) expect(read(ask('hi', { [field]: value }))[field]).to.deep.equal(value);
    });
  }

  it('refuse an option of the stream that is not a boolean', () => {
    expect(refusal(ask('hi', { stream: true, stream_options: { include_usage: 'yes' } }))).to.include(
      'stream_options.include_usage',
    );
    expect(read(ask('hi', { stream_options: { include_usage: null, other: 5 } }))['stream_options']).to.deep.equal({
      other: 5,
    });
  });

  it('make a list of a single stop word', () => {
    expect(read(ask('hi', { stop: 'END' }))['stop']).to.deep.equal(['END']);
  });

  it('take null for absent in what is known, and leave it in what is not', () => {
    const nulls = Object.fromEntries(Object.keys(right).map((field) => [field, null]));
    expect(read(ask('hi', { ...nulls, unknown: null }))).to.deep.equal({ ...ask(), unknown: null });
    expect(refusal(ask('hi', { model: null }))).to.match(/^model\b/);
    expect(refusal(ask('hi', { messages: null }))).to.match(/^messages\b/);
  });

  it('are matched exactly: a field in other letters is an unknown one', () => {
    expect(refusal({ Model: 'm', messages: [{ role: 'user', content: 'hi' }] })).to.match(/^model\b/);
    expect(read(ask('hi', { Temperature: 'hot', MAX_TOKENS: -1 }))).to.include({ Temperature: 'hot', MAX_TOKENS: -1 });
  });
});

describe('chat messages', () => {
  const message = (more: Fields): object => ({
    model: 'm',
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'ho', ...more },
    ],
  });

  const wrong: readonly Fields[] = [
    { role: 5 },
    { content: 5 },
    { content: {} },
    { content: true },
    { name: 5 },
    { tool_call_id: {} },
    { tool_calls: {} },
    { tool_calls: ['x'] },
    { tool_calls: [{ function: 'f' }] },
    { tool_calls: [{ function: { name: 5 } }] },
    { tool_calls: [{ function: { arguments: {} } }] },
    { reasoning_content: 5 },
    { reasoning_details: {} },
    { reasoning_details: 'x' },
  ];
  for (const fault of wrong)
    it(`are refused with ${JSON.stringify(fault)}`, () => {
      expect(refusal(message(fault))).to.match(/^messages\[1\]\./);
    });

  it('are refused when they are not objects', () => {
    for (const item of ['hi', 5, null, []]) expect(refusal({ model: 'm', messages: [item] })).to.include('messages[0]');
  });

  const parts: [part: unknown, why: string][] = [
    [{ type: 'video' }, 'video'],
    [{ type: 'TEXT', text: 'x' }, 'TEXT'],
    [{ text: 'x' }, 'type'],
    [{ type: null }, 'type'],
    [{ type: 5 }, '5'],
    [{}, 'type'],
    [{ type: 'image_url' }, 'url'],
    [{ type: 'image_url', image_url: {} }, 'url'],
    [{ type: 'image_url', image_url: { url: '' } }, 'url'],
    [{ type: 'image_url', image_url: { url: 5 } }, 'url'],
    [{ type: 'image_url', image_url: null }, 'url'],
    [{ type: 'text' }, 'text'],
    [{ type: 'text', text: 5 }, 'text'],
    ['x', 'object'],
    [null, 'object'],
    [5, 'object'],
  ];
  for (const [part, why] of parts) {
    it(`are refused with the part ${JSON.stringify(part)}, by its place`, () => {
      const text = refusal({
        model: 'm',
        messages: [
          { role: 'user', content: 'a' },
          { role: 'user', content: [{ type: 'text', text: 'b' }, part] },
        ],
      });
      expect(text).to.include('messages[1].content[1]').and.include(why);
    });
  }

  it('keep every kind of part, null content and what is unknown', () => {
    const messages = [
      { role: 'developer', content: null, refusal: null, annotations: [], parsed: { a: 1 } },
      { role: 'anything', content: [] },
      {
        role: 'user',
        content: [
          { type: 'text', text: '', cache_control: { type: 'ephemeral' } },
          { type: 'image_url', image_url: { url: 'https://x/y.png', detail: 'low' } },
          { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
          { type: 'file', file: { file_id: 'f' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'c', type: 'function', index: 0, function: { name: 'f', arguments: '{}', parsed_arguments: {} } },
        ],
        reasoning_details: [{ type: 'x' }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'done' },
    ];
    expect(read({ model: 'm', messages })['messages']).to.deep.equal(messages);
  });

  it('lose the nulls of optional members', () => {
    const messages = [
      {
        role: 'user',
        content: 'hi',
        name: null,
        tool_calls: null,
        tool_call_id: null,
        reasoning_content: null,
        reasoning_details: null,
        other: null,
      },
    ];
    expect(read({ model: 'm', messages })['messages']).to.deep.equal([{ role: 'user', content: 'hi', other: null }]);
  });
});

describe('members of known fields', () => {
  // docs/reference/data-plane.md#json-of-requests: a wrong JSON type for a known field is refused.
  const wrong: readonly Fields[] = [
    { tools: [{ type: 5, function: { name: 'f' } }] },
    { tools: [{ type: 'function', function: 'f' }] },
    { tools: [{ type: 'function', function: { name: 5 } }] },
    { tools: [{ type: 'function', function: { name: 'f', description: 5 } }] },
    { tools: [{ type: 'function', function: { name: 'f', strict: 'yes' } }] },
    { response_format: { type: 5 } },
    {
      messages: [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 5, type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
      ],
    },
    {
      messages: [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 5, function: { name: 'f', arguments: '{}' } }],
        },
      ],
    },
  ];
  for (const fault of wrong)
    it(`are refused with ${JSON.stringify(fault)}`, () => {
      expect(refusal(ask('hi', fault))).to.match(/tools|response_format|tool_calls/);
    });
});

describe('a chat request over HTTP', () => {
  async function chatHost(): Promise<{ t: TestHost; stub: StubUpstream }> {
    const stub = await stubUpstream((request, response) => {
      if (request.json()['stream'] === true) replyStream(response, ['hi']);
      else replyJson(response, 200, chatReply('hello'));
    });
    return { t: await startHost({ strategy: { mode: 'fallback' }, targets: [stub.target('a')] }), stub };
  }

  it('is refused with the envelope and without attribution, and reaches no provider', async () => {
    const { t, stub } = await chatHost();
    for (const [, fault, name] of FAULTS) {
      const answer = await t.post('/v1/chat/completions', ask('hi', fault));
      expect(answer.status).to.equal(400);
      expect(answer.json().error).to.include({ type: 'invalid_request_error', code: 'invalid_request' });
      expect(answer.json().error.message).to.include(name);
      for (const header of ['x-gateway-provider', 'x-gateway-target', 'x-gateway-model', 'x-gateway-attempts'])
        expect(answer.headers.get(header)).to.equal(null);
    }
    expect(stub.seen).to.have.length(0);
    expect(
      t.lines.some(({ msg }) => msg === 'request failed'),
      'no exchange began',
    ).to.equal(false);
  });

  it('is streamed with true, and not with false or null', async () => {
    const { t } = await chatHost();
    const typeOf = async (stream: unknown): Promise<string | null> =>
      (await t.post('/v1/chat/completions', ask('hi', { stream }))).headers.get('content-type');
    expect(await typeOf(true)).to.equal('text/event-stream');
    expect(await typeOf(false)).to.equal('application/json');
    expect(await typeOf(null)).to.equal('application/json');
  });

  it('sends on what was read: a list of stops, no nulls, every unknown member', async () => {
    const { t, stub } = await chatHost();
    const body = { ...ask(), stop: 'END', user: null, unknown: null, metadata: { a: '1' }, max_completion_tokens: 5 };
    await t.post('/v1/chat/completions', body, { authorization: `Bearer ${MASTER_KEY}` });
    expect(stub.seen[0]?.json()).to.deep.equal({
      ...ask(),
      stop: ['END'],
      unknown: null,
      metadata: { a: '1' },
      max_tokens: 5,
      max_completion_tokens: 5,
    });
  });
});
