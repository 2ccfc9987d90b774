import { expect } from 'chai';
import {
  contentTexts,
  type Exchange,
  messageTexts,
  type Stage,
  type Surface,
  texts,
} from '../../host/contract/index.ts';

function exchangeOf(surface: Surface, request: object, stage: Stage = 'before_request', reply?: object): Exchange {
  return { surface, stage, request, reply } as unknown as Exchange;
}

const chat = (request: object): string[] => [...texts(exchangeOf('chat', { model: 'm', messages: [], ...request }))];
const message = (fields: object): string[] => chat({ messages: [{ role: 'user', ...fields }] });
const answer = (fields: object): Exchange =>
  exchangeOf('chat', { model: 'm', messages: [{ role: 'user', content: 'question' }] }, 'after_request', {
    choices: [{ index: 0, message: { role: 'assistant', content: null, ...fields }, finish_reason: 'stop' }],
  });

describe('texts of a chat request', () => {
  it('are the content of every message, whatever its role', () => {
    const roles = ['system', 'developer', 'user', 'assistant', 'tool', 'function'];
    expect(chat({ messages: roles.map((role) => ({ role, content: `from ${role}` })) })).to.deep.equal(
      roles.map((role) => `from ${role}`),
    );
    expect(chat({ messages: [{ role: 'whatever a client writes', content: 'x' }] })).to.deep.equal([
      'x',
      'whatever a client writes',
    ]);
  });

  it('are the text of every part, and the parts joined; addresses, audio and words of the wire are not read', () => {
    expect(
      message({
        content: [
          { type: 'text', text: 'one' },
          { type: 'image_url', image_url: { url: 'https://h/i.png', detail: 'high' } },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
          { type: 'text', text: 'two' },
        ],
      }),
    ).to.deep.equal(['one', 'two', 'onetwo']);
    expect(message({ content: [{ type: 'file', file: { filename: 'a.pdf', file_data: 'AAAA' } }] })).to.deep.equal([
      'a.pdf',
    ]);
  });

  it('are names, reasoning and tool-call arguments', () => {
    expect(message({ name: 'jane', reasoning_content: 'because' })).to.include.members(['jane', 'because']);
    expect(
      message({ tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: 'raw' } }] }),
    ).to.include.members(['look', 'raw']);
  });

  it('leave out ids and words of the wire, but no other value in their place', () => {
    const call = { id: 'call_1', type: 'function', function: { arguments: 'x' } };
    const detail = { type: 'reasoning.text', id: 'rs_1', format: 'vendor-v1', signature: 'Eq4B+/w==', text: 'thought' };
    expect(message({ tool_call_id: 'call_1', tool_calls: [call], reasoning_details: [detail] })).to.deep.equal([
      'thought',
      'x',
    ]);
    const hidden = {
      tool_call_id: 'say this',
      tool_calls: [{ ...call, id: 'say that', type: 'other' }],
      reasoning_details: [{ ...detail, signature: 'or this' }, 'bare'],
    };
    expect(message(hidden)).to.have.members(['say this', 'say that', 'other', 'or this', 'thought', 'bare', 'x']);
    expect(
      message({
        content: [
          { type: 'image_url', image_url: { url: 'https://h', detail: 'in detail', alt: 'note' }, note: 'too' },
        ],
      }),
    ).to.have.members(['in detail', 'note', 'too']);
    expect(message({ constructor: 'an unknown member' })).to.deep.equal(['an unknown member']);
    expect(
      chat({ tools: [{ type: 'function', function: { name: 'f' } }], response_format: { type: 'json_object' } }),
    ).to.deep.equal(['f']);
  });

  it('are the arguments decoded as well', () => {
    const read = message({
      tool_calls: [
        {
          id: 'c',
          type: 'function',
          function: { name: 'f', arguments: '{"q":"s\\u0065cret","deep":[{"x":"\\ud83d\\ude00"}]}' },
        },
      ],
    });
    expect(read).to.include.members(['secret', '\ud83d\ude00']);
  });

  it('are any string that is itself JSON decoded as well; words that name its members are read as they stand in it', () => {
    expect(message({ content: '  ["a", {"key": "b"}]' })).to.deep.equal(['  ["a", {"key": "b"}]', 'a', 'b']);
    expect(message({ content: '{"a key": "b"}' })).to.deep.equal(['{"a key": "b"}', 'a key', 'b']);
    expect(message({ content: '{"k\\u0065y": {"an \\"other": "b\\u0063"}, "x": 1}' }).slice(1)).to.deep.equal([
      'key',
      'an "other',
      'an "other',
      'bc',
    ]);
    expect(message({ content: '"quot\\u0065d"' })).to.include('quoted');
    expect(message({ content: '{no json' })).to.deep.equal(['{no json']);
  });

  it('are strings of JSON inside strings of JSON, escaped anew each time', () => {
    let nested = '{"q":"s\\u0065cret"}';
    for (let level = 0; level < 3; level += 1)
      nested = JSON.stringify({ inner: nested }).replaceAll('u0065', '\\u0075\\u0030065');
    expect(
      message({ tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: nested } }] }),
    ).to.include('secret');
  });

  it('open nested JSON so often and no more, however much there is of it', () => {
    let nested = 'bottom';
    for (let level = 0; level < 40; level += 1)
      nested = `"${nested.replaceAll('\\', '\\u005c').replaceAll('"', '\\u0022')}"`;
    expect(message({ content: nested }).length).to.be.within(2, 16);
  });

  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  for (const [what, file] of [
    ['base64', { file_data: base64('s\u00e9cret words') }],
    ['base64 with a name that says otherwise', { file_data: base64('s\u00e9cret words'), filename: 'a.pdf' }],
    ['a data address', { file_data: `data:text/plain;charset=utf-8;base64,${base64('s\u00e9cret words')}` }],
    ['a data address of another type', { file_data: `DATA:application/pdf;BASE64,${base64('s\u00e9cret words')}` }],
    ['a data address without a type', { file_data: 'data:,s%C3%A9cret%20words' }],
    [
      'UTF-16',
      { file_data: `data:text/plain;base64,${Buffer.from('\ufeffs\u00e9cret words', 'utf16le').toString('base64')}` },
    ],
    [
      'UTF-16 of the other order, without a type',
      { file_data: Buffer.from('\ufeffs\u00e9cret words', 'utf16le').swap16().toString('base64') },
    ],
    [
      'a text that is not all UTF-8',
      {
        file_data: `data:text/csv;base64,${Buffer.concat([Buffer.from('s\u00e9cret words'), Buffer.from([0, 0xff])]).toString('base64')}`,
      },
    ],
  ] as const) {
    it(`are what a file says that holds text: ${what}`, () => {
      expect(
        message({ content: [{ type: 'file', file }] }).some((text) => text.includes('s\u00e9cret words')),
      ).to.equal(true);
    });
  }

  it('are not the bytes of other files, of images and of what lies elsewhere', () => {
    const pdf = Buffer.concat([
      Buffer.from('%PDF-1.7\n%'),
      Buffer.from([0xe2, 0xe3, 0xcf, 0xd3]),
      Buffer.from('\nsecret'),
    ]).toString('base64');
    for (const url of [`data:image/png;base64,${base64('secret')}`, 'https://h/secret'])
      expect(message({ content: [{ type: 'image_url', image_url: { url } }] })).to.deep.equal([]);
    for (const file_data of [pdf, `data:application/pdf;base64,${pdf}`, 'https://h/secret'])
      expect(message({ content: [{ type: 'file', file: { file_data } }] })).to.deep.equal([]);
  });

  it('are tools, response_format and stop', () => {
    const read = chat({
      tools: [
        {
          type: 'function',
          function: {
            name: 'weather',
            description: 'tells the weather',
            parameters: { type: 'object', properties: { city: { description: 'of the city', enum: ['Rome'] } } },
          },
        },
      ],
      response_format: { type: 'json_schema', json_schema: { name: 'shape', schema: { title: 'a title' } } },
      stop: ['END', 'STOP'],
    });
    expect(read).to.include.members([
      'weather',
      'tells the weather',
      'of the city',
      'Rome',
      'shape',
      'a title',
      'END',
      'STOP',
    ]);
  });

  it('are the user and the tool that is wanted, and no word that says how tools are chosen', () => {
    expect(
      chat({ user: 'jane@example.com', tool_choice: { type: 'function', function: { name: 'look' } } }),
    ).to.deep.equal(['jane@example.com', 'look']);
    for (const choice of ['auto', 'none', 'required']) expect(chat({ tool_choice: choice })).to.deep.equal([]);
    expect(chat({ tool_choice: 'say this' })).to.deep.equal(['say this']);
    expect(chat({ stream_options: { include_usage: true, note: 'hidden' } })).to.deep.equal(['hidden']);
  });

  it('are fields that are only forwarded, at any depth and whatever their members are called', () => {
    expect(
      chat({
        metadata: { note: 'a note' },
        prediction: { content: [{ type: 'text', text: 'predicted' }] },
        reasoning_effort: 'high',
      }),
    ).to.have.members(['note', 'a note', 'content', 'type', 'text', 'text', 'predicted', 'high']);
  });

  const TABLES = [
    'properties',
    'patternProperties',
    '$defs',
    'definitions',
    'dependentSchemas',
    'dependentRequired',
    'dependencies',
  ];
  for (const table of TABLES) {
    it(`are the names in ${table} of schemas, at any depth, and no words of the schema`, () => {
      const inner = { type: 'object', items: { [table]: { city: { type: 'string' } } } };
      for (const schema of [
        { [table]: { city: {} } },
        { properties: { type: inner } },
        { anyOf: [{ not: inner }] },
        { $defs: { properties: inner } },
      ]) {
        const read = [
          chat({ tools: [{ type: 'function', function: { name: 'f', parameters: schema } }] }),
          chat({ response_format: { type: 'json_schema', json_schema: { name: 'f', schema } } }),
        ];
        for (const each of read)
          expect(
            each.filter(
              (text) =>
                text !== 'f' && text !== 'object' && text !== 'string' && text !== 'type' && text !== 'properties',
            ),
          ).to.deep.equal(['city']);
        for (const each of read) expect(each.includes('items')).to.equal(false);
      }
    });
  }

  it('are the names in what a schema gives for an example, and in what no wire knows', () => {
    const parameters = {
      type: 'object',
      default: { a: { b: 1 } },
      examples: [{ c: null }],
      const: { d: [] },
      enum: [{ e: 1 }],
      'x-note': { f: {} },
      discriminator: { mapping: { g: '#' } },
    };
    expect(chat({ tools: [{ type: 'function', function: { parameters } }] })).to.have.members([
      'object',
      'a',
      'b',
      'c',
      'd',
      'e',
      'f',
      'mapping',
      'g',
      '#',
    ]);
  });

  it('are the names below a field that is only forwarded, whatever it is called on other wires', () => {
    for (const field of ['input', 'text', 'items', 'properties', 'content', 'thinking', 'filters', 'x']) {
      expect(chat({ [field]: { [field]: { k: 1 } } }), field).to.have.members([field, 'k']);
      expect([...texts(exchangeOf('images', { prompt: 'p', [field]: { k: 1 } }))], field).to.have.members(['p', 'k']);
    }
  });

  it('are names that are not words, wherever they stand', () => {
    const name = 'jane@example.com';
    for (const request of [
      { [name]: 1 },
      { logit_bias: { [name]: 1 } },
      { tools: [{ [name]: 1 }] },
      { tools: [{ function: { parameters: { [name]: 1 } } }] },
      { tool_choice: { [name]: 1 } },
      { stream_options: { [name]: 1 } },
    ]) {
      expect(chat(request), JSON.stringify(request)).to.deep.equal([name]);
    }
    for (const fields of [
      { [name]: 1 },
      { content: [{ type: 'text', text: 'x', [name]: 1 }] },
      { content: [{ type: 'image_url', image_url: { url: 'https://h', [name]: 1 } }] },
      { content: [{ type: 'file', file: { file_data: { [name]: 1 } } }] },
      { tool_calls: [{ function: { [name]: 1 } }] },
    ]) {
      expect(message(fields), JSON.stringify(fields)).to.include(name);
    }
    for (const odd of ['4111111111111111', 'AKIAIOSFODNN7EXAMPLE', 'two words', 'x'.repeat(33), '\u00e9t\u00e9'])
      expect(chat({ [odd]: 1 })).to.deep.equal([odd]);
    for (const word of ['b64_json', '$ref', 'camelCase', 'x-note', '50256', '__proto__'])
      expect(chat(JSON.parse(`{"${word}":1}`) as object), word).to.deep.equal([]);
  });

  it('are a name once, however often it stands there', () => {
    const properties = { 'a name': { type: 'object', properties: { 'a name': {} } } };
    expect(
      chat({ metadata: [{ k: 1 }, { k: 2 }, { k: { k: 3 } }], tools: [{ function: { parameters: { properties } } }] }),
    ).to.have.members(['k', 'a name', 'object']);
  });

  it('are what names that are JSON say', () => {
    expect(chat({ metadata: { '{"a":"s\\u0065cret"}': 1 } })).to.include('secret');
  });

  it('are strings under any name: a schema may call its members id, type, role or signature', () => {
    for (const name of ['id', 'type', 'role', 'signature', 'tool_call_id', 'file_id', 'cache_control']) {
      const properties = { [name]: { description: 'hidden here' } };
      expect(
        chat({ tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties } } }] }),
        `a schema's ${name}`,
      ).to.include('hidden here');
      expect(chat({ metadata: { [name]: 'hidden here' } }), `a forwarded ${name}`).to.include('hidden here');
    }
  });

  it('are not the model, numbers and switches', () => {
    expect(
      chat({
        model: 'm',
        seed: 5,
        n: 2,
        stream: true,
        stream_options: { include_usage: true },
        temperature: 1,
        logit_bias: { 5: 1 },
      }),
    ).to.deep.equal([]);
  });

  it('are read the same at on_error', () => {
    expect([
      ...texts(exchangeOf('chat', { model: 'm', messages: [{ role: 'user', content: 'question' }] }, 'on_error')),
    ]).to.deep.equal(['question']);
  });
});

describe('texts of an answer', () => {
  it('are content, reasoning and arguments of every choice', () => {
    expect([
      ...texts(
        answer({
          content: 'said',
          reasoning_content: 'thought',
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":"b\\u0063"}' } }],
        }),
      ),
    ]).to.have.members(['said', 'thought', 'f', '{"a":"b\\u0063"}', 'bc']);
  });

  it('are nothing where there is no chat answer', () => {
    expect([
      ...texts(exchangeOf('embeddings', { model: 'm', input: 'x' }, 'after_request', { data: [] })),
    ]).to.deep.equal([]);
    expect([...texts(exchangeOf('passthrough', {}, 'after_request'))]).to.deep.equal([]);
    expect([
      ...messageTexts(exchangeOf('chat', { messages: [{ role: 'user', content: 'x' }] }, 'after_request')),
    ]).to.deep.equal([]);
  });

  it('are content alone in the plain view', () => {
    expect([...messageTexts(answer({ content: 'said', reasoning_content: 'thought' }))]).to.deep.equal(['said']);
    expect([...messageTexts(answer({}))]).to.deep.equal([]);
  });
});

describe('texts of what a tool answers', () => {
  const answered = (content: readonly unknown[], more: object = {}): Exchange =>
    exchangeOf('mcp', { server: 's', name: 't', arguments: { a: 'asked' } }, 'after_request', { content, ...more });
  const BLOCKS = [
    { type: 'text', text: 'one' },
    { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    { type: 'resource', resource: { uri: 'file:///a b', mimeType: 'text/plain', text: 'two' } },
    { type: 'resource', resource: { uri: 'u:1', blob: 'AAAA' } },
    { type: 'resource_link', uri: 'u:2', name: 'linked' },
    'bare',
  ];

  it('are the texts of its blocks, also joined, and its structured answer', () => {
    expect([...texts(answered(BLOCKS, { structuredContent: { a: ['three'] } }))]).to.deep.equal([
      'one',
      'file:///a b',
      'two',
      'u:1',
      'u:2',
      'linked',
      'bare',
      'onetwo',
      'three',
    ]);
  });

  it('are in plain view the text blocks', () => {
    expect([...messageTexts(answered(BLOCKS, { structuredContent: { a: 'three' } }))]).to.deep.equal(['one', 'two']);
  });

  it('are none of an answer that is not there', () => {
    expect([...texts(exchangeOf('mcp', {}, 'after_request'))]).to.deep.equal([]);
    expect([...messageTexts(exchangeOf('mcp', {}, 'after_request'))]).to.deep.equal([]);
  });
});

describe('texts beside chat', () => {
  const json = { input: ['a', { b: 'c', n: 5 }], d: null };
  for (const [surface, request, expected, names = []] of [
    ['completions', { messages: [{ role: 'user', content: 'prompt' }] }, ['prompt']],
    ['embeddings', { input: 'one' }, ['one']],
    ['embeddings', { input: ['one', 'two'] }, ['one', 'two']],
    ['embeddings', { input: [1, 2] }, []],
    ['images', { prompt: 'a cat' }, ['a cat']],
    ['rerank', { query: 'q', documents: ['d1', 'd2'] }, ['q', 'd1', 'd2']],
    ['moderations', { input: ['one', { type: 'image_url' }] }, ['one']],
    ['audio.transcriptions', { prompt: 'context' }, ['context']],
    ['audio.translations', {}, []],
    ['audio.speech', { input: 'say this', voice: 'alloy' }, ['say this']],
    [
      'mcp',
      { server: 's', name: 't', arguments: { path: 'a', more: [{ text: '{"b":"c"}' }], n: 1 } },
      ['a', '{"b":"c"}', 'c'],
      ['path', 'more', 'n', 'text'],
    ],
    ['passthrough', { json }, ['a', 'c'], ['b', 'n']],
    ['responses', { json }, ['a', 'c']],
  ] as readonly (readonly [Surface, object, readonly string[], (readonly string[])?])[]) {
    it(`${surface} ${JSON.stringify(request)}`, () => {
      const read = [...texts(exchangeOf(surface, request))];
      expect(read.filter((text) => !names.includes(text))).to.deep.equal(expected);
      expect(read).to.have.members([...expected, ...names]);
      expect([...messageTexts(exchangeOf(surface, request))]).to.deep.equal(expected);
    });
  }

  it('are the texts that a data address holds', () => {
    for (const held of [
      `data:text/plain;base64,${Buffer.from('a secret').toString('base64')}`,
      'DATA:,a%20secret',
      ` data:application/json;base64,${Buffer.from('{"a":"a s\\u0065cret"}').toString('base64')}`,
    ]) {
      for (const [surface, request] of [
        ['responses', { json: { input: [{ type: 'input_file', file_data: held }] } }],
        ['passthrough', { json: [held] }],
      ] as const) {
        expect([...texts(exchangeOf(surface, request))], `${surface} ${held}`).to.include('a secret');
      }
    }
  });

  it('are the texts inside strings that are JSON, which the plain view leaves as they are', () => {
    const text = '{"a":"s\\u0065cret"}';
    for (const [surface, request] of [
      ['responses', { json: { input: [{ type: 'function_call_output', output: text }] } }],
      ['passthrough', { json: [text] }],
      ['embeddings', { input: text }],
    ] as const) {
      expect([...texts(exchangeOf(surface, request))], surface).to.include('secret');
      expect([...messageTexts(exchangeOf(surface, request))], surface).to.not.include('secret');
    }
  });

  it('are found in bodies too deep to recurse into', () => {
    let deep: unknown = 'bottom';
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect([...texts(exchangeOf('passthrough', { json: deep }))]).to.deep.equal(['bottom']);
  });
});

describe('plain view of a chat request', () => {
  it('is content and part texts, without tools, arguments and reasoning', () => {
    const request = {
      model: 'm',
      tools: [{ type: 'function', function: { name: 'f' } }],
      messages: [
        { role: 'system', content: 'rules' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'part' },
            { type: 'image_url', image_url: { url: 'https://h' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          reasoning_content: 'thought',
          tool_calls: [{ function: { name: 'f', arguments: 'a' } }],
        },
        { role: 'tool', content: 'result' },
      ],
    };
    expect([...messageTexts(exchangeOf('chat', request))]).to.deep.equal(['rules', 'part', 'result']);
    expect([...contentTexts({ role: 'user' })]).to.deep.equal([]);
  });
});
