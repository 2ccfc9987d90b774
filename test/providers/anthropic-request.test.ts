import { expect } from 'chai';
import { bodyOf, chat, messagesOf, MODEL, refusal, sent } from './anthropic-support.ts';

const CALL = { id: 'toolu_1', type: 'function', function: { name: 'tide', arguments: '{"harbour":"Ostend"}' } };
const TOOL = {
  type: 'function',
  function: {
    name: 'tide',
    description: 'Tides',
    parameters: { type: 'object', properties: { harbour: { type: 'string' } } },
    strict: true,
  },
};
const EPHEMERAL = { type: 'ephemeral' };

/** Two forms of input, one of them by reference, and what each must hold. */
const UNION = {
  $defs: {
    by_id: {
      type: 'object',
      properties: { action: { const: 'get' }, id: { type: 'string' } },
      required: ['action', 'id'],
    },
  },
  description: 'What to do.',
  anyOf: [
    { $ref: '#/$defs/by_id' },
    { type: 'object', properties: { action: { const: 'list' }, __proto: { type: 'number' } }, required: ['action'] },
  ],
};

describe('anthropic, inputs of tools', () => {
  const inputOf = async (parameters: object): Promise<any> =>
    (await bodyOf({ tools: [{ type: 'function', function: { name: 'f', parameters } }] })).tools[0].input_schema;

  it('are objects, also where alternatives stand at the root, which the vendor refuses', async () => {
    expect(await inputOf(UNION)).to.deep.equal({
      $defs: UNION.$defs,
      type: 'object',
      properties: {
        action: { anyOf: [{ const: 'get' }, { const: 'list' }] },
        id: { type: 'string' },
        __proto: { type: 'number' },
      },
      required: ['action'],
      description:
        'What to do.\none of: [{"properties":["action","id"],"required":["action","id"]},{"properties":["action","__proto"],"required":["action"]}]',
    });
    const both = {
      type: 'object',
      properties: { a: {} },
      allOf: [{ properties: { b: {} }, required: ['b'] }, { required: ['a'] }],
    };
    expect(await inputOf(both)).to.deep.equal({ type: 'object', properties: { a: {}, b: {} }, required: ['b', 'a'] });
    expect(await inputOf({ properties: { a: {} } })).to.deep.equal({ type: 'object', properties: { a: {} } });
    const definitions = { x: { type: 'object', properties: { a: {} } } };
    expect(await inputOf({ $ref: '#/definitions/x', definitions })).to.deep.equal({ ...definitions.x, definitions });
    const nested = { type: 'object', properties: { a: { anyOf: [{ type: 'string' }, { type: 'number' }] } } };
    expect(await inputOf(nested)).to.deep.equal(nested);
  });

  it('end where alternatives refer to themselves', async () => {
    const loop = {
      $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }, { properties: { x: {} } }] } },
      anyOf: [{ $ref: '#/$defs/a' }],
    };
    expect((await inputOf(loop)).properties).to.deep.equal({ x: {} });
    const many = {
      $defs: { a: { anyOf: Array.from({ length: 40 }, () => ({ $ref: '#/$defs/a' })) } },
      anyOf: Array.from({ length: 40 }, () => ({ $ref: '#/$defs/a' })),
    };
    expect((await inputOf(many)).properties).to.deep.equal({});
  });
});

describe('anthropic, requests', () => {
  it('go to the messages path with the model and a ceiling', async () => {
    const { url, body, ignored } = await sent();
    expect(url).to.equal('https://api.anthropic.com/v1/messages');
    expect(body).to.deep.equal({ model: MODEL, max_tokens: 1024, messages: [{ role: 'user', content: 'hi' }] });
    expect(ignored).to.deep.equal([]);
  });

  it('say that they stream only when they do', async () => {
    expect((await sent({ stream: true, stream_options: { include_usage: true } }, true)).body)
      .to.include({ stream: true })
      .and.not.have.property('stream_options');
    expect((await sent({ stream_options: {} })).ignored).to.deep.equal([]);
  });

  it('take the ceiling from either field', async () => {
    expect((await bodyOf({ max_tokens: 64 })).max_tokens).to.equal(64);
    expect((await bodyOf({ max_tokens: 64, max_completion_tokens: 32 })).max_tokens).to.equal(32);
    expect((await bodyOf({ max_completion_tokens: 32 })).max_tokens).to.equal(32);
    expect((await bodyOf({ max_tokens: null })).max_tokens).to.equal(1024);
  });

  it("clamp the temperature, and leave the caller's as it is", async () => {
    const request = { temperature: 1.7, top_k: 12, stop: ['END', '\n'], user: 'jane' };
    const { body, ignored } = await sent(request);
    expect(body).to.deep.include({ temperature: 1, top_k: 12, stop_sequences: ['END'], metadata: { user_id: 'jane' } });
    expect(ignored, 'the vendor refuses a stop of white space').to.deep.equal(['stop']);
    expect(request.temperature).to.equal(1.7);
    expect((await bodyOf({ temperature: 0 })).temperature).to.equal(0);
  });

  it('leave out sampling that the newest models refuse, and say so', async () => {
    for (const model of ['claude-opus-4-7', 'claude-sonnet-5', 'claude-fable-5-1', 'claude-opus-5-5']) {
      const { body, ignored } = await sent({ model, temperature: 0.2, top_p: 0.9, top_k: 3 });
      expect(body).to.not.have.any.keys('temperature', 'top_p', 'top_k');
      expect(ignored).to.deep.equal(['temperature', 'top_p', 'top_k']);
      expect((await sent({ model, temperature: 1, top_p: 1 })).ignored, "the vendor's defaults").to.deep.equal([]);
    }
  });

  it('name the fields that have no place', async () => {
    const { body, ignored } = await sent({
      store: true,
      modalities: ['text'],
      metadata: { user_id: 'u', trace: 't' },
      service_tier: 'flex',
      prediction: null,
    });
    expect(body).to.not.have.any.keys('store', 'modalities', 'service_tier', 'prediction');
    expect(body.metadata).to.deep.equal({ user_id: 'u' });
    expect(ignored).to.have.members(['store', 'modalities', 'metadata', 'service_tier']);
    expect((await bodyOf({ service_tier: 'default' })).service_tier).to.equal('standard_only');
  });

  it('put every system and developer text into one, whatever its place', async () => {
    const body = await bodyOf({
      messages: [
        { role: 'system', content: 'a' },
        { role: 'user', content: 'x' },
        {
          role: 'developer',
          content: [
            { type: 'text', text: 'b' },
            { type: 'text', text: 'c' },
          ],
        },
        { role: 'system', content: '' },
      ],
    });
    expect(body.system).to.equal('a\nbc');
    expect(body.messages).to.deep.equal([{ role: 'user', content: 'x' }]);
    expect(
      await refusal({
        messages: [
          {
            role: 'system',
            content: [
              { type: 'text', text: 'a' },
              { type: 'image_url', image_url: { url: 'https://h/a.png' } },
            ],
          },
        ],
      }),
    ).to.equal('invalid_request: messages[0].content[1]: a system message takes text only, not image_url');
  });

  it('keep cache marks of parts, of the system text, of results and of tools', async () => {
    const body = await bodyOf({
      messages: [
        { role: 'system', content: 'plain' },
        { role: 'system', content: [{ type: 'text', text: 'long', cache_control: EPHEMERAL }] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '1h' } },
            { type: 'image_url', image_url: { url: 'https://h/a.png' }, cache_control: EPHEMERAL },
          ],
        },
      ],
      tools: [{ ...TOOL, cache_control: EPHEMERAL }],
    });
    expect(body.system).to.deep.equal([
      { type: 'text', text: 'plain' },
      { type: 'text', text: 'long', cache_control: EPHEMERAL },
    ]);
    expect(body.messages[0].content.map(({ cache_control: mark }: any) => mark)).to.deep.equal([
      { type: 'ephemeral', ttl: '1h' },
      EPHEMERAL,
    ]);
    const [, , results] = await messagesOf([
      { role: 'user', content: 'x' },
      { role: 'assistant', tool_calls: [CALL] },
      { role: 'tool', tool_call_id: 'toolu_1', content: [{ type: 'text', text: 'dry', cache_control: EPHEMERAL }] },
    ]);
    expect(results.content).to.deep.equal([
      { type: 'tool_result', tool_use_id: 'toolu_1', content: 'dry', cache_control: EPHEMERAL },
    ]);
    expect(body.tools[0].cache_control).to.deep.equal(EPHEMERAL);
  });
});

describe('anthropic, turns', () => {
  it('keep plain text as text, drop names, pass other roles', async () => {
    const turns = [
      { role: 'user', content: 'a', name: 'jane' },
      { role: 'assistant', content: 'b' },
      { role: 'critic', content: 'c' },
    ];
    expect(await messagesOf(turns)).to.deep.equal([
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
      { role: 'critic', content: 'c' },
    ]);
  });

  it('leave out texts that say nothing', async () => {
    expect(
      await messagesOf([
        {
          role: 'user',
          content: [
            { type: 'text', text: '' },
            { type: 'text', text: 'a' },
          ],
        },
      ]),
    ).to.deep.equal([{ role: 'user', content: [{ type: 'text', text: 'a' }] }]);
    expect((await messagesOf([{ role: 'assistant', content: '\n\n', tool_calls: [CALL] }]))[0].content).to.have.length(
      1,
    );
  });

  it('of the user that follow each other become one', async () => {
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'user', content: [{ type: 'text', text: 'b' }] },
    ];
    expect(await messagesOf(messages)).to.deep.equal([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
    ]);
  });

  it('carry calls and results; parallel results share a turn', async () => {
    const second = { id: 'toolu_2', type: 'function', function: { name: 'clock', arguments: '' } };
    const [, calls, results] = await messagesOf([
      { role: 'user', content: 'x' },
      { role: 'assistant', content: 'Well.', tool_calls: [CALL, second] },
      { role: 'tool', tool_call_id: 'toolu_1', content: 'dry' },
      {
        role: 'tool',
        tool_call_id: 'toolu_2',
        content: [
          { type: 'text', text: 'no' },
          { type: 'text', text: 'on' },
        ],
      },
    ]);
    expect(calls.content).to.deep.equal([
      { type: 'text', text: 'Well.' },
      { type: 'tool_use', id: 'toolu_1', name: 'tide', input: { harbour: 'Ostend' } },
      { type: 'tool_use', id: 'toolu_2', name: 'clock', input: {} },
    ]);
    expect(results).to.deep.equal({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: 'dry' },
        { type: 'tool_result', tool_use_id: 'toolu_2', content: 'noon' },
      ],
    });
  });

  it("of results stand apart from a user's plain text before them, and join what follows", async () => {
    const result = { type: 'tool_result', tool_use_id: 't', content: 'r' };
    const tool = { role: 'tool', tool_call_id: 't', content: 'r' };
    expect(await messagesOf([{ role: 'user', content: 'x' }, tool])).to.deep.equal([
      { role: 'user', content: 'x' },
      { role: 'user', content: [result] },
    ]);
    expect(await messagesOf([{ role: 'user', content: [{ type: 'text', text: 'x' }] }, tool])).to.deep.equal([
      { role: 'user', content: [{ type: 'text', text: 'x' }, result] },
    ]);
    expect(await messagesOf([tool, { role: 'user', content: 'x' }])).to.deep.equal([
      { role: 'user', content: [result, { type: 'text', text: 'x' }] },
    ]);
  });

  it('of results keep their images', async () => {
    const [turn] = await messagesOf([
      {
        role: 'tool',
        tool_call_id: 't',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image_url', image_url: { url: 'https://h/a.png' } },
        ],
      },
    ]);
    expect(turn.content[0].content).to.deep.equal([
      { type: 'text', text: 'see' },
      { type: 'image', source: { type: 'url', url: 'https://h/a.png' } },
    ]);
  });

  it('with arguments that are not an object are refused, digits kept', async () => {
    for (const text of ['{"a":', '[]', '"x"', 'null']) {
      const messages = [
        { role: 'user', content: 'x' },
        { role: 'assistant', tool_calls: [CALL, { ...CALL, function: { name: 'tide', arguments: text } }] },
      ];
      expect(await refusal({ messages }), text).to.equal(
        'invalid_request: messages[1].tool_calls[1].function.arguments must be a JSON object for anthropic',
      );
    }
    const { default: anthropic } = await import('../../providers/anthropic/index.ts');
    const { callFor } = await import('../kit/index.ts');
    const exact = { ...CALL, function: { name: 'tide', arguments: '{"id":90071992547409931}' } };
    const { body } = anthropic.translators.chat!.toUpstream(
      chat({ messages: [{ role: 'assistant', tool_calls: [exact] }] }),
      callFor(MODEL),
    );
    expect(JSON.stringify(body)).to.include('"input":{"id":90071992547409931}');
  });
});

describe('anthropic, media', () => {
  const source = async (url: string): Promise<any> =>
    (await messagesOf([{ role: 'user', content: [{ type: 'image_url', image_url: { url, detail: 'high' } }] }]))[0]
      .content[0];
  const base64 = (media_type: string, data: string): object => ({
    type: 'image',
    source: { type: 'base64', media_type, data },
  });

  it('as addresses and as data in any encoding', async () => {
    expect(await source('https://h/a.png')).to.deep.equal({
      type: 'image',
      source: { type: 'url', url: 'https://h/a.png' },
    });
    expect(await source('data:image/png;base64,iVBO+/A=')).to.deep.equal(base64('image/png', 'iVBO+/A='));
    expect(await source('data:image/png;charset=utf-8;base64,iVBO')).to.deep.equal(base64('image/png', 'iVBO'));
    expect(await source('data:image/svg+xml,%3Csvg%3E+%FF')).to.deep.equal(
      base64('image/svg+xml', Buffer.from('<svg>+\xff', 'latin1').toString('base64')),
    );
    expect(await source('data:image/svg+xml;charset=utf-8,<a>%zz%3C')).to.deep.equal(
      base64('image/svg+xml', Buffer.from('<a>%zz%3C').toString('base64')),
    );
    expect(
      await refusal({
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png' } }] }],
      }),
    ).to.include('messages[0].content[0]');
  });

  it('of files become documents where the vendor takes the kind', async () => {
    const file = async (file_data: string): Promise<any> =>
      (await messagesOf([{ role: 'user', content: [{ type: 'file', file: { file_data, filename: 'a' } }] }]))[0]
        .content[0];
    expect(await file('data:application/pdf;base64,JVBE')).to.deep.equal({
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' },
      title: 'a',
    });
    expect(await file('data:text/csv;base64,YSxi')).to.deep.equal({
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'a,b' },
      title: 'a',
    });
    expect(await file('https://h/a.pdf')).to.deep.equal({
      type: 'document',
      source: { type: 'url', url: 'https://h/a.pdf' },
      title: 'a',
    });
    expect(await file('data:image/png;base64,iVBO')).to.deep.equal(base64('image/png', 'iVBO'));
  });

  it('of files that are bare base64 have the type of their name', async () => {
    const file = async (filename: string): Promise<any> =>
      (await messagesOf([{ role: 'user', content: [{ type: 'file', file: { file_data: 'JVBE', filename } }] }]))[0]
        .content[0];
    expect((await file('Tides.PDF')).source).to.deep.equal({
      type: 'base64',
      media_type: 'application/pdf',
      data: 'JVBE',
    });
    expect(await file('a.png')).to.deep.equal(base64('image/png', 'JVBE'));
    expect(
      await refusal({ messages: [{ role: 'user', content: [{ type: 'file', file: { file_data: 'JVBE' } }] }] }),
    ).to.include('messages[0].content[0]: file_data must be a data address');
  });

  it('of other kinds are refused by their place', async () => {
    const refused = async (part: object): Promise<string> =>
      refusal({
        messages: [
          { role: 'user', content: 'x' },
          { role: 'user', content: [{ type: 'text', text: 'x' }, part] },
        ],
      });
    expect(await refused({ type: 'input_audio', input_audio: { data: 'UklG', format: 'wav' } })).to.equal(
      'invalid_request: messages[1].content[1]: anthropic takes no input_audio parts',
    );
    expect(await refused({ type: 'file', file: { filename: 'a.pdf' } })).to.include('messages[1].content[1]');
    expect(await refused({ type: 'file', file: { file_data: 'data:application/zip;base64,UEsD' } })).to.include(
      'messages[1].content[1]: anthropic takes no files of the type application/zip',
    );
  });
});

describe('anthropic, tools', () => {
  it('are named with their schema, an empty one filled in', async () => {
    const { tools } = await bodyOf({
      tools: [
        TOOL,
        { type: 'function', function: { name: 'clock', parameters: {} } },
        { type: 'web_search_20250305', name: 'web_search', max_uses: 2 },
      ],
    });
    expect(tools).to.deep.equal([
      {
        name: 'tide',
        description: 'Tides',
        input_schema: { ...TOOL.function.parameters, additionalProperties: false },
        strict: true,
      },
      { name: 'clock', input_schema: { type: 'object', properties: {} } },
      { type: 'web_search_20250305', name: 'web_search', max_uses: 2 },
    ]);
    expect(await refusal({ tools: [TOOL, { type: 'custom', custom: { name: 'x' } }] })).to.equal(
      'invalid_request: tools[1] must be a function with a name',
    );
    expect(await refusal({ tools: [{ type: 'function', function: { name: 'gw_structured_answer' } }] })).to.include(
      'tools[0]',
    );
  });

  for (const [choice, parallel, expected] of [
    ['auto', undefined, { type: 'auto' }],
    ['none', undefined, { type: 'none' }],
    ['required', true, { type: 'any' }],
    [{ type: 'function', function: { name: 'tide' } }, undefined, { type: 'tool', name: 'tide' }],
    [undefined, undefined, undefined],
    [undefined, true, undefined],
    ['sometimes', undefined, undefined],
    [{ type: 'function', function: { name: '' } }, undefined, undefined],
    [undefined, false, { type: 'auto', disable_parallel_tool_use: true }],
    ['auto', false, { type: 'auto', disable_parallel_tool_use: true }],
    ['required', false, { type: 'any', disable_parallel_tool_use: true }],
    ['none', false, { type: 'none' }],
  ] as const) {
    it(`choose ${JSON.stringify(choice)} with parallel ${parallel} as ${JSON.stringify(expected)}`, async () => {
      const { body, ignored } = await sent({ tools: [TOOL], tool_choice: choice, parallel_tool_calls: parallel });
      expect(body.tool_choice).to.deep.equal(expected);
      expect(ignored).to.deep.equal(choice !== undefined && expected === undefined ? ['tool_choice'] : []);
    });
  }

  it('are chosen from only where there are some', async () => {
    for (const tools of [undefined, null, []])
      expect(await bodyOf({ tools, tool_choice: 'required', parallel_tool_calls: false })).to.not.have.any.keys(
        'tools',
        'tool_choice',
      );
  });

  it('cannot be forced on models that always think', async () => {
    const { body, ignored } = await sent({
      model: 'claude-opus-5-5',
      tools: [TOOL],
      tool_choice: 'required',
      parallel_tool_calls: false,
    });
    expect(body.tool_choice).to.deep.equal({ type: 'auto', disable_parallel_tool_use: true });
    expect(ignored).to.deep.equal(['tool_choice']);
  });
});
