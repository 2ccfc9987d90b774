import { expect } from 'chai';
import { BEDROCK, toMessagesBody } from '../../providers/_common/anthropic/index.ts';
import { shippedCall } from '../kit/facts.ts';
import { callFor } from '../kit/index.ts';
import { bodyOf, chat, messagesOf, refusal, sent } from './anthropic-support.ts';

const EPHEMERAL = { type: 'ephemeral' };
const user = (content: unknown, more: object = {}): object => ({ role: 'user', content, ...more });
const assistant = (content: unknown, more: object = {}): object => ({ role: 'assistant', content, ...more });
const call = (id: string | undefined): object => ({
  ...(id !== undefined && { id }),
  type: 'function',
  function: { name: 'tide', arguments: '{}' },
});
const result = (id: string | undefined, content: unknown = 'dry', more: object = {}): object => ({
  role: 'tool',
  ...(id !== undefined && { tool_call_id: id }),
  content,
  ...more,
});
const text = (value: string, more: object = {}): object => ({ type: 'text', text: value, ...more });
const tool = (more: object = {}, of: object = {}): object => ({
  type: 'function',
  function: { name: 'tide', parameters: { type: 'object', properties: {} }, ...of },
  ...more,
});

describe('Claude, sampling', () => {
  it('takes a temperature or a top_p from 4.1 on: the temperature stays, the other is named', async () => {
    for (const model of [
      'claude-opus-4-1',
      'claude-opus-4-1@20250805',
      'claude-sonnet-4-5-20250929',
      'claude-haiku-4-5',
      'claude-opus-4-6',
    ]) {
      const { body, ignored } = await sent({ model, temperature: 0.3, top_p: 0.9, top_k: 4 });
      expect([body.temperature, body.top_p, body.top_k, ignored], model).to.deep.equal([0.3, undefined, 4, ['top_p']]);
      expect((await sent({ model, temperature: 0, top_p: 1 })).ignored, 'what the vendor does anyway').to.deep.equal(
        [],
      );
      for (const alone of [{ temperature: 0.3 }, { top_p: 0.9 }])
        expect(await sent({ model, ...alone }))
          .to.deep.include({ ignored: [] })
          .and.have.property('body')
          .that.includes(alone);
    }
    const behind = toMessagesBody(
      chat({ temperature: 0.3, top_p: 0.9 }),
      shippedCall('bedrock', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'),
      BEDROCK,
    );
    expect([behind.body['top_p'], behind.ignored]).to.deep.equal([undefined, ['top_p']]);
  });

  it('takes both before', async () => {
    for (const model of ['claude-3-7-sonnet-20250219', 'claude-sonnet-4-20250514', 'claude-opus-4-0']) {
      expect(await sent({ model, temperature: 0.3, top_p: 0.9 }))
        .to.deep.include({ ignored: [] })
        .and.have.property('body')
        .that.includes({ temperature: 0.3, top_p: 0.9 });
    }
  });
});

describe('Claude, turns that say nothing', () => {
  it('are left out, and their neighbours of one role become one', async () => {
    expect(
      await messagesOf([
        user('a'),
        assistant(''),
        user(' \n'),
        assistant(null),
        assistant([text('')]),
        user([text('b'), text('  ')]),
      ]),
    ).to.deep.equal([user([text('a'), text('b')])]);
    expect(await messagesOf([user('a'), assistant('b'), user(''), assistant('c'), user('d')])).to.deep.equal([
      user('a'),
      assistant([text('b'), text('c')]),
      user('d'),
    ]);
    expect(
      await messagesOf([user('a'), assistant('', { tool_calls: [] }), { role: 'system', content: 's' }, user('b')]),
    ).to.deep.equal([user([text('a'), text('b')])]);
  });

  it('keep what they hold beside text', async () => {
    const [, turn] = await messagesOf([
      user('a'),
      assistant('', { reasoning_details: [{ type: 'reasoning.text', text: 'hm', signature: 's' }] }),
      user('b'),
    ]);
    expect(turn.content).to.deep.equal([{ type: 'thinking', thinking: 'hm', signature: 's' }]);
    expect(
      (await messagesOf([user('a'), assistant(' ', { tool_calls: [call('t')] }), result('t', '')]))[2],
    ).to.deep.equal(user([{ type: 'tool_result', tool_use_id: 't', content: '' }]));
  });

  it('are refused where there is nothing else, before anybody is called', async () => {
    for (const messages of [
      [user('')],
      [user([text(' ')])],
      [{ role: 'system', content: 'Be brief.' }],
      [assistant(null)],
    ]) {
      expect(await refusal({ messages })).to.equal(
        'invalid_request: messages: anthropic needs a turn that says something',
      );
    }
  });

  it('lose white space at the end of an answer that is to be continued', async () => {
    for (const [content, expected] of [
      ['The tide is \n', 'The tide is'],
      [
        [text('The '), text('tide is\t ')],
        [text('The '), text('tide is')],
      ],
      ['  on', '  on'],
    ] as const) {
      expect((await messagesOf([user('a'), assistant(content)]))[1].content).to.deep.equal(expected);
    }
    expect(
      (await messagesOf([user('a'), assistant('x '), user('b ')])).map(({ content }) => content),
      'elsewhere it stays',
    ).to.deep.equal(['a', 'x ', 'b ']);
  });
});

describe('Claude, ids of calls', () => {
  it('of other vendors are made fit, the same for call and result', async () => {
    for (const id of ['functions.tide:0', 'call 1', 'chatcmpl-tool-ü', '', undefined]) {
      const [, calls, results] = await messagesOf([user('a'), assistant(null, { tool_calls: [call(id)] }), result(id)]);
      expect(calls.content[0].id, String(id)).to.match(/^[a-zA-Z0-9_-]+$/);
      expect(results.content[0].tool_use_id, String(id)).to.equal(calls.content[0].id);
    }
    const [, own] = await messagesOf([user('a'), assistant(null, { tool_calls: [call('toolu_01A')] })]);
    expect(own.content[0].id).to.equal('toolu_01A');
  });

  it('that come again in a later turn become different ids, as the vendor asks', async () => {
    const round = [assistant(null, { tool_calls: [call('call_0_0')] }), result('call_0_0')];
    const messages = await messagesOf([user('a'), ...round, ...round]);
    const ids = messages.slice(1).map(({ content: [{ id, tool_use_id }] }) => id ?? tool_use_id);
    expect([ids[0], ids[2]]).to.deep.equal([ids[1], ids[3]]);
    expect(new Set(ids)).to.have.lengthOf(2);
    expect((await messagesOf([user('a'), ...round])).slice(0, 3), 'earlier turns stay as they were').to.deep.equal(
      messages.slice(0, 3),
    );
  });
});

describe('Claude, cache marks', () => {
  it('on a message count as on its last part', async () => {
    const at = { cache_control: EPHEMERAL };
    expect(await messagesOf([user('a', at)])).to.deep.equal([user([text('a', at)])]);
    expect(await messagesOf([user([text('a'), text('b'), text(' ')], at)])).to.deep.equal([
      user([text('a'), text('b', at)]),
    ]);
    expect(
      (await messagesOf([user('a'), assistant('b', { tool_calls: [call('t')], ...at }), result('t', 'dry', at)])).slice(
        1,
      ),
    ).to.deep.equal([
      assistant([text('b'), { type: 'tool_use', id: 't', name: 'tide', input: {}, ...at }]),
      user([{ type: 'tool_result', tool_use_id: 't', content: 'dry', ...at }]),
    ]);
    expect(
      (
        await bodyOf({
          messages: [{ role: 'system', content: 'long', ...at }, { role: 'developer', content: 'more' }, user('a')],
        })
      ).system,
    ).to.deep.equal([text('long', at), text('more')]);
  });

  it('of a part win over that of its message, and a part that says nothing hands its own on', async () => {
    const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } };
    expect(await messagesOf([user([text('a', hour)], { cache_control: EPHEMERAL })])).to.deep.equal([
      user([text('a', hour)]),
    ]);
    expect(await messagesOf([user([text('a'), text('', hour)])])).to.deep.equal([user([text('a', hour)])]);
  });

  it('stand on a tool, or inside its function', async () => {
    const { tools } = await bodyOf({
      tools: [tool({ cache_control: EPHEMERAL }), tool({}, { name: 'clock', cache_control: EPHEMERAL })],
    });
    expect(tools.map(({ cache_control: mark }: any) => mark)).to.deep.equal([EPHEMERAL, EPHEMERAL]);
  });

  it('that no block can hold are named', async () => {
    const thought = assistant(null, {
      reasoning_details: [{ type: 'reasoning.text', text: 'hm', signature: 's' }],
      cache_control: EPHEMERAL,
    });
    for (const messages of [
      [user('a'), thought, user('b')],
      [user('a'), user('', { cache_control: EPHEMERAL })],
      [{ role: 'system', content: '', cache_control: EPHEMERAL }, user('a')],
      [user([text('', { cache_control: EPHEMERAL }), text('a')])],
    ]) {
      expect((await sent({ messages })).ignored).to.deep.equal(['cache_control']);
    }
    expect((await sent({ messages: [user('a', { cache_control: EPHEMERAL })] })).ignored).to.deep.equal([]);
  });

  it('beyond four are named; the last of the conversation, the system and the tools keep theirs', async () => {
    const at = { cache_control: EPHEMERAL };
    const messages = [
      { role: 'system', content: 's', ...at },
      user('a', at),
      assistant('b', at),
      user('c', at),
      assistant('d', at),
      user('e', at),
    ];
    const { body, ignored } = await sent({ messages, tools: [tool(at)] });
    expect(body.messages.map(({ content }: any) => content[0].cache_control !== undefined)).to.deep.equal([
      false,
      false,
      false,
      true,
      true,
    ]);
    expect([body.system[0].cache_control, body.tools[0].cache_control, ignored]).to.deep.equal([
      EPHEMERAL,
      EPHEMERAL,
      ['cache_control'],
    ]);
    expect(
      (await bodyOf({ messages, tools: [tool(at)], ...at })).messages.filter(
        ({ content }: any) => content[0].cache_control,
      ),
      "the request's own counts",
    ).to.have.length(1);
  });
});

describe('Claude, strict tools', () => {
  const parameters = {
    type: 'object',
    properties: { harbour: { type: 'string', minLength: 2 } },
    required: ['harbour'],
  };
  const strict = (more: object = {}): object => tool({}, { parameters, strict: true, ...more });
  const toolsOf = async (tools: readonly object[], more: object = {}): Promise<any> => {
    const { body, ignored } = await sent({ tools, ...more });
    return { strict: body.tools.map(({ strict: is }: any) => is === true), ignored, body };
  };

  it('are sent where the model has them, in the subset that it is held to', async () => {
    const { body, ignored } = await toolsOf([strict()]);
    expect(body.tools).to.deep.equal([
      {
        name: 'tide',
        strict: true,
        input_schema: {
          type: 'object',
          properties: { harbour: { type: 'string', description: '{minLength: 2}' } },
          required: ['harbour'],
          additionalProperties: false,
        },
      },
    ]);
    expect(ignored).to.deep.equal([]);
    for (const is of [false, null, undefined])
      expect(await toolsOf([strict({ strict: is })])).to.deep.include({ strict: [false], ignored: [] });
    expect(
      toMessagesBody(
        chat({ tools: [strict()] }),
        shippedCall('bedrock', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'),
        BEDROCK,
      ).body['tools'],
    ).to.have.nested.property('[0].strict', true);
  });

  it('are named where the model, or the schema, has nothing for it', async () => {
    expect(await toolsOf([strict()], { model: 'claude-sonnet-4-20250514' })).to.deep.include({
      strict: [false],
      ignored: ['strict'],
    });
    const open = { type: 'object', properties: {}, additionalProperties: { type: 'string' } };
    const { body, ignored } = await toolsOf([strict(), strict({ name: 'open', parameters: open })]);
    expect([body.tools[1], ignored]).to.deep.equal([{ name: 'open', input_schema: open }, ['strict']]);
  });

  it('are named beyond what the vendor takes of them in a request', async () => {
    const many = Array.from({ length: 22 }, (_, index) => strict({ name: `t${index}` }));
    expect((await toolsOf(many)).strict.filter(Boolean)).to.have.length(20);
    const nullable = (count: number): object => ({
      type: 'object',
      required: [],
      properties: Object.fromEntries(
        Array.from({ length: count }, (_, index) => [`p${index}`, { type: ['string', 'null'] }]),
      ),
    });
    expect(
      await toolsOf([
        strict({ parameters: nullable(16) }),
        strict({ name: 'b', parameters: nullable(1) }),
        strict({ name: 'c' }),
      ]),
    ).to.deep.include({ strict: [true, false, true], ignored: ['strict'] });
    const optional = (count: number): object => ({
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, { type: 'string' }])),
    });
    const response_format = { type: 'json_schema', json_schema: { name: 'a', schema: optional(20) } };
    expect((await toolsOf([strict({ parameters: optional(5) })], { response_format })).strict).to.deep.equal([false]);
    expect((await toolsOf([strict({ parameters: optional(4) })], { response_format })).strict).to.deep.equal([true]);
  });
});

describe('Claude, betas', () => {
  const betasOf = async (more: object, clientHeaders: Record<string, string> = {}): Promise<string | undefined> =>
    (await sent(more, false, { clientHeaders })).headers['anthropic-beta'];

  it("of the vendor's own tools go along", async () => {
    for (const [type, beta] of [
      ['computer_20251124', 'computer-use-2025-11-24'],
      ['code_execution_20250825', 'code-execution-2025-08-25'],
      ['web_fetch_20250910', 'web-fetch-2025-09-10'],
      ['advisor_20260301', 'advisor-tool-2026-03-01'],
      ['web_search_20250305', undefined],
      ['text_editor_20250728', undefined],
    ])
      expect(await betasOf({ tools: [{ type, name: 'x' }] }), type).to.equal(beta);
    expect(await betasOf({})).to.equal(undefined);
  });

  it('of the client come first, each once', async () => {
    const tools = [
      { type: 'computer_20251124', name: 'computer' },
      { type: 'computer_20250124', name: 'computer' },
    ];
    expect(
      await betasOf({ tools }, { 'anthropic-beta': ' context-1m-2025-08-07,computer-use-2025-11-24,, ' }),
    ).to.equal('context-1m-2025-08-07,computer-use-2025-11-24,computer-use-2025-01-24');
  });

  it('stand in the body behind Bedrock', () => {
    const { body, headers } = toMessagesBody(
      chat({ tools: [{ type: 'bash_20250124', name: 'bash' }] }),
      callFor('anthropic.claude-sonnet-4-6', { clientHeaders: { 'anthropic-beta': 'context-1m-2025-08-07' } }),
      BEDROCK,
    );
    expect([body['anthropic_beta'], headers]).to.deep.equal([
      ['context-1m-2025-08-07', 'computer-use-2025-01-24'],
      undefined,
    ]);
  });
});

describe('Claude, what other clients send', () => {
  it('may be the refusal of an earlier turn', async () => {
    expect(
      await messagesOf([user('a'), assistant([{ type: 'refusal', refusal: 'I will not.' }]), user('b')]),
    ).to.deep.equal([user('a'), assistant([text('I will not.')]), user('b')]);
    expect((await messagesOf([user('a'), assistant(null, { refusal: 'I will not.' }), user('b')]))[1]).to.deep.equal(
      assistant('I will not.'),
    );
    expect((await messagesOf([user('a'), assistant('No.', { refusal: null }), user('b')]))[1]).to.deep.equal(
      assistant('No.'),
    );
  });

  it("may be files by the vendor's ids", async () => {
    const file = (more: object = {}): object => ({
      messages: [user([{ type: 'file', file: { file_id: 'file_011CNha8iCJcU1wXNR6q4V8w', ...more } }])],
    });
    const source = { type: 'file', file_id: 'file_011CNha8iCJcU1wXNR6q4V8w' };
    for (const [name, block] of [
      [{}, { type: 'document', source }],
      [{ filename: 'log.pdf' }, { type: 'document', source, title: 'log.pdf' }],
      [{ filename: 'a.PNG' }, { type: 'image', source }],
    ] as const) {
      const { body, headers } = await sent(file(name));
      expect([body.messages[0].content, headers['anthropic-beta']]).to.deep.equal([[block], 'files-api-2025-04-14']);
    }
    expect(() => toMessagesBody(chat(file()), callFor('anthropic.claude-sonnet-4-6'), BEDROCK)).to.throw(
      'messages[0].content[0]: bedrock takes a file by its file_data only',
    );
  });

  it('may ask for a search of the web', async () => {
    const asked = {
      search_context_size: 'medium',
      user_location: {
        type: 'approximate',
        approximate: { city: 'Ostend', country: 'BE', timezone: 'Europe/Brussels', region: '' },
      },
    };
    const { body, ignored } = await sent({ web_search_options: asked });
    expect(body.tools).to.deep.equal([
      {
        type: 'web_search_20250305',
        name: 'web_search',
        user_location: { type: 'approximate', city: 'Ostend', country: 'BE', timezone: 'Europe/Brussels' },
      },
    ]);
    expect(ignored).to.deep.equal([]);
    expect(await sent({ web_search_options: {}, tools: [tool()] }))
      .to.have.nested.property('body.tools[1]')
      .that.deep.equals({ type: 'web_search_20250305', name: 'web_search' });
    expect((await sent({ web_search_options: { search_context_size: 'high' } })).ignored).to.deep.equal([
      'web_search_options.search_context_size',
    ]);
    expect(
      (await bodyOf({ web_search_options: {}, tools: [{ type: 'web_search_20260209', name: 'web_search' }] })).tools,
    ).to.have.length(1);
    const behind = toMessagesBody(chat({ web_search_options: {} }), callFor('anthropic.claude-sonnet-4-6'), BEDROCK);
    expect([behind.body['tools'], behind.ignored]).to.deep.equal([undefined, ['web_search_options']]);
  });
});

describe('Claude, the ceiling', () => {
  const ceilingOf = async (more: object, maxOutputTokens?: number): Promise<number> =>
    (await sent(more, false, maxOutputTokens === undefined ? {} : { maxOutputTokens })).body.max_tokens;

  it("is the model's own where the client names none and the catalog knows it, and thinking has its part of it", async () => {
    expect(await ceilingOf({}, 64_000)).to.equal(64_000);
    expect(await ceilingOf({ reasoning_effort: 'high' }, 64_000)).to.equal(64_000);
    expect(
      (await sent({ reasoning_effort: 'max' }, false, { maxOutputTokens: 32_000 })).body.thinking.budget_tokens,
    ).to.be.below(32_000);
    for (const named of [{ max_tokens: 5 }, { max_completion_tokens: 5 }])
      expect(await ceilingOf(named, 64_000)).to.equal(5);
    expect(await ceilingOf({})).to.equal(1024);
  });

  it('is what the wait for the answer is measured by', async () => {
    expect((await sent({}, false, { maxOutputTokens: 64_000 })).answerTokens).to.equal(64_000);
    expect((await sent({ max_tokens: 7 })).answerTokens).to.equal(7);
  });
});
