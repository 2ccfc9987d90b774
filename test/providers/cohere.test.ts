import { expect } from 'chai';
import type { ChatRequest } from '../../host/contract/index.ts';
import cohere from '../../providers/cohere/index.ts';
import { ask, golden, providerContract, refusedBy, rootOf, sentBy } from '../kit/index.ts';
import { itDeclares, itPassesNothingOn } from './native-support.ts';

const chat = (more: object): ChatRequest =>
  ({ ...ask('hi', { model: 'command-a-reasoning-08-2025' }), ...more }) as unknown as ChatRequest;
const messages = async (list: readonly object[]): Promise<any> =>
  (await sentBy(cohere, 'chat', chat({ messages: list }))).body.messages;
const tool = (name: string, more: object = {}): object => ({
  type: 'function',
  function: { name, description: 'd', parameters: { type: 'object', properties: {} }, strict: true },
  ...more,
});
const IMAGE = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'low' } };

providerContract(cohere, {
  name: 'cohere',
  required: ['COHERE_API_KEY'],
  address: 'COHERE_BASE_URL',
  credential: 'COHERE_API_KEY',
  addsVersion: true,
  surfaces: {
    chat: { model: 'command-r', url: (address) => `${address}/v2/chat` },
    embeddings: { model: 'embed-v4.0', url: (address) => `${address}/v1/embed` },
    rerank: { model: 'rerank-v3.5', url: (address) => `${address}/v2/rerank` },
  },
  golden: (file) => golden(`cohere/chat/${file}`),
  errors: {
    401: 'invalid api token',
    404: "model 'none' not found, make sure the correct model ID was used and that you have access to the model.",
  },
});

describe('cohere', () => {
  itPassesNothingOn(cohere);
  itDeclares(cohere, 'f f – f f – f f f f f T – – – – –');

  it('takes a host, whichever version of the API stands behind it', async () => {
    expect(await rootOf(cohere)).to.equal('https://api.cohere.com');
    for (const address of ['https://c.example', 'https://c.example/', 'https://c.example/v2', 'https://c.example/v1/'])
      expect(await rootOf(cohere, { COHERE_BASE_URL: address }), address).to.equal('https://c.example');
    expect(await rootOf(cohere, { COHERE_BASE_URL: 'http://h:9911/probe' })).to.equal('http://h:9911/probe');
  });
});

describe('cohere, chat requests', () => {
  it('rename what the vendor calls otherwise, and keep zeros', async () => {
    const given = {
      temperature: 0,
      top_p: 0.5,
      top_k: 0,
      max_tokens: 64,
      seed: 0,
      presence_penalty: 0,
      frequency_penalty: 0.5,
      stop: ['END'],
    };
    const { url, body, ignored } = await sentBy(cohere, 'chat', chat(given));
    expect(url).to.equal('https://api.cohere.com/v2/chat');
    expect(body).to.deep.equal({
      model: 'command-a-reasoning-08-2025',
      messages: [{ role: 'user', content: 'hi' }],
      stream: false,
      temperature: 0,
      p: 0.5,
      k: 0,
      max_tokens: 64,
      seed: 0,
      presence_penalty: 0,
      frequency_penalty: 0.5,
      stop_sequences: ['END'],
    });
    expect(ignored).to.deep.equal([]);
    expect((await sentBy(cohere, 'chat', chat({ stop: 'END' }), { stream: true })).body)
      .to.include({ stream: true })
      .and.deep.include({ stop_sequences: ['END'] });
  });

  it("pass the vendor's own fields, and name what it has not", async () => {
    const own = {
      k: 7,
      documents: [{ id: 'd', data: { text: 't' } }],
      citation_options: { mode: 'OFF' },
      safety_mode: 'STRICT',
      strict_tools: true,
      priority: 1,
    };
    const { body, ignored } = await sentBy(
      cohere,
      'chat',
      chat({
        ...own,
        metadata: { a: 'b' },
        store: true,
        service_tier: null,
        modalities: ['text'],
        stream_options: { include_usage: true },
      }),
    );
    expect(body)
      .to.deep.include(own)
      .and.not.have.any.keys('metadata', 'store', 'service_tier', 'modalities', 'stream_options');
    expect(ignored).to.deep.equal(['metadata', 'store', 'modalities']);
  });

  it('hold the refusal of an earlier turn as its text', async () => {
    const said = { role: 'user', content: 'hi' };
    for (const [content, expected] of [
      [null, 'never'],
      ['', 'never'],
      ['well', 'well'],
    ] as const)
      expect(await messages([said, { role: 'assistant', content, refusal: 'never' }, said])).to.deep.equal([
        said,
        { role: 'assistant', content: expected },
        said,
      ]);
  });

  it('leave out what is null or empty', async () => {
    const empty = {
      temperature: null,
      stop: [],
      tools: [],
      tool_choice: 'required',
      response_format: null,
      thinking: null,
      reasoning_effort: '',
    };
    expect(Object.keys((await sentBy(cohere, 'chat', chat(empty))).body)).to.have.members([
      'model',
      'messages',
      'stream',
    ]);
  });

  it('ask for JSON, with the schema beside the type', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
    const format = async (response_format: unknown): Promise<unknown> =>
      (await sentBy(cohere, 'chat', chat({ response_format }))).body.response_format;
    expect(await format({ type: 'json_object' })).to.deep.equal({ type: 'json_object' });
    expect(await format({ type: 'json_schema', json_schema: { name: 'n', schema, strict: true } })).to.deep.equal({
      type: 'json_object',
      json_schema: schema,
    });
    for (const json_schema of [undefined, null, {}, { schema: 7 }])
      expect(await format({ type: 'json_schema', json_schema })).to.deep.equal({ type: 'json_object' });
    expect(await format({ type: 'text' })).to.equal(undefined);
    expect((await sentBy(cohere, 'chat', chat({ response_format: { type: 'grammar' } }))).ignored).to.deep.equal([
      'response_format',
    ]);
  });

  it('send tools as they are, without cache markers, which are named', async () => {
    const { body, ignored } = await sentBy(
      cohere,
      'chat',
      chat({ tools: [tool('a', { cache_control: { type: 'ephemeral' } }), tool('b')] }),
    );
    expect(body.tools).to.deep.equal([tool('a'), tool('b')]);
    expect(body).to.not.have.property('tool_choice');
    expect(ignored).to.deep.equal(['cache_control']);
  });

  it('know every choice of tools, and force one by leaving the others out', async () => {
    const choose = async (tool_choice: unknown): Promise<unknown[]> => {
      const { body } = await sentBy(cohere, 'chat', chat({ tools: [tool('a'), tool('b')], tool_choice }));
      return [body.tool_choice, body.tools.map((one: any) => one.function.name)];
    };
    for (const unset of [
      'auto',
      undefined,
      null,
      'whatever',
      {},
      { type: 'function' },
      { type: 'function', function: { name: '' } },
    ])
      expect(await choose(unset), JSON.stringify(unset)).to.deep.equal([undefined, ['a', 'b']]);
    expect(await choose('none')).to.deep.equal(['NONE', ['a', 'b']]);
    expect(await choose('required')).to.deep.equal(['REQUIRED', ['a', 'b']]);
    expect(await choose({ type: 'function', function: { name: 'b' } })).to.deep.equal(['REQUIRED', ['b']]);
    expect(await choose({ type: 'function', function: { name: 'unknown' } })).to.deep.equal(['REQUIRED', ['a', 'b']]);
  });

  it('think as much as the caller wishes', async () => {
    const thinking = async (more: object): Promise<unknown> => {
      const { body, ignored } = await sentBy(cohere, 'chat', chat(more));
      return ignored.length > 0 ? ignored : body.thinking;
    };
    expect(await thinking({ reasoning_effort: 'none' })).to.deep.equal({ type: 'disabled' });
    expect(await thinking({ reasoning_effort: 'high' })).to.deep.equal({ type: 'enabled' });
    expect(await thinking({ reasoning_effort: 'low' })).to.deep.equal({ type: 'enabled', token_budget: 1024 });
    expect(await thinking({ reasoning_effort: 'medium', max_tokens: 100 })).to.deep.equal({
      type: 'enabled',
      token_budget: 50,
    });
    expect(await thinking({ reasoning_effort: 'wild' })).to.deep.equal(['reasoning_effort']);
    expect(await thinking({ thinking: { type: 'enabled', budget_tokens: 300 } })).to.deep.equal({
      type: 'enabled',
      token_budget: 300,
    });
    expect(await thinking({ thinking: { type: 'enabled', token_budget: 200 } })).to.deep.equal({
      type: 'enabled',
      token_budget: 200,
    });
    expect(await thinking({ thinking: { type: 'adaptive' } })).to.deep.equal({ type: 'enabled' });
    expect(await thinking({ thinking: { type: 'disabled' } })).to.deep.equal({ type: 'disabled' });
    for (const odd of [{ type: 'often' }, 7, []]) expect(await thinking({ thinking: odd })).to.deep.equal(['thinking']);
    expect(await thinking({ thinking: { type: 'enabled' }, reasoning_effort: 'low' })).to.deep.equal([
      'reasoning_effort',
    ]);
  });

  it('do not ask models to think that cannot', async () => {
    for (const model of ['command-r-plus-08-2024', 'command-a-03-2025', 'command-a-vision-07-2025']) {
      const asked = await sentBy(cohere, 'chat', chat({ model, reasoning_effort: 'high' }));
      expect([asked.body.thinking, asked.ignored], model).to.deep.equal([undefined, ['reasoning_effort']]);
      const spared = await sentBy(cohere, 'chat', chat({ model, reasoning_effort: 'none' }));
      expect([spared.body.thinking, spared.ignored], model).to.deep.equal([undefined, []]);
    }
  });
});

describe('cohere, messages', () => {
  it('keep their roles, developers speak for the system, names are left out', async () => {
    expect(
      await messages([
        { role: 'system', content: 's' },
        { role: 'developer', content: 'd' },
        { role: 'user', name: 'Ada', content: 'u' },
        { role: 'assistant', content: 'a' },
      ]),
    ).to.deep.equal([
      { role: 'system', content: 's' },
      { role: 'system', content: 'd' },
      { role: 'user', content: 'u' },
      { role: 'assistant', content: 'a' },
    ]);
  });

  it('hold texts and images, without empty texts', async () => {
    const content = [
      { type: 'text', text: 'look' },
      { type: 'text', text: '' },
      IMAGE,
      { type: 'image_url', image_url: { url: 'https://i.example/a.png' } },
    ];
    expect(await messages([{ role: 'user', content }])).to.deep.equal([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          IMAGE,
          { type: 'image_url', image_url: { url: 'https://i.example/a.png' } },
        ],
      },
    ]);
    expect(
      await messages([
        { role: 'user', content: [{ type: 'text', text: '' }] },
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: '' },
      ]),
    ).to.deep.equal([{ role: 'user', content: 'hi' }]);
  });

  it('call tools without an empty text, and answer as documents', async () => {
    const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } };
    const turns = [
      {
        role: 'assistant',
        content: null,
        tool_calls: [call, { id: 'c2', function: { name: 'g', arguments: '' }, index: 1 }],
        reasoning_content: 'first f, then g',
      },
      { role: 'tool', tool_call_id: 'c1', content: '{"ok":true}' },
      {
        role: 'tool',
        tool_call_id: 'c2',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      { role: 'assistant', content: 'done', tool_calls: [], reasoning_content: 'over' },
    ];
    expect(await messages(turns)).to.deep.equal([
      {
        role: 'assistant',
        tool_plan: 'first f, then g',
        tool_calls: [call, { id: 'c2', type: 'function', function: { name: 'g', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: [{ type: 'document', document: { data: '{"ok":true}' } }] },
      { role: 'tool', tool_call_id: 'c2', content: [{ type: 'document', document: { data: 'ab' } }] },
      { role: 'assistant', content: 'done' },
    ]);
  });

  it('bring files along as documents, beside those of the caller', async () => {
    const file = (fields: object): object => ({ type: 'file', file: fields });
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const content = [
      { type: 'text', text: 'read' },
      file({ filename: 'n.txt', file_data: `data:text/plain;base64,${base64('grüß')}` }),
      file({ filename: 'd.json', file_data: base64('{"a":1}') }),
      file({ file_data: 'data:text/csv,a%2Cb' }),
    ];
    const own = { id: 'own', data: { text: 't' } };
    const { body } = await sentBy(
      cohere,
      'chat',
      chat({
        messages: [
          { role: 'user', content },
          { role: 'user', content: [content[1]] },
        ],
        documents: [own],
      }),
    );
    expect(body.documents).to.deep.equal([
      own,
      { data: { text: 'grüß', title: 'n.txt' } },
      { data: { text: '{"a":1}', title: 'd.json' } },
      { data: { text: 'a,b' } },
      { data: { text: 'grüß', title: 'n.txt' } },
    ]);
    expect(body.messages).to.deep.equal([
      { role: 'user', content: [{ type: 'text', text: 'read' }] },
      { role: 'user', content: 'n.txt' },
    ]);
    for (const fields of [
      {},
      { file_id: 'f' },
      { filename: 'a.pdf', file_data: base64('%PDF') },
      { file_data: 'data:application/pdf;base64,AAAA' },
      { file_data: 'https://d.example/a.txt' },
    ]) {
      const refusal = await refusedBy(
        cohere,
        'chat',
        chat({ messages: [{ role: 'user', content: [{ type: 'text', text: 't' }, file(fields)] }] }),
      );
      expect(refusal.message, JSON.stringify(fields)).to.match(/^messages\[0\]\.content\[1\]: /);
    }
  });

  it('name the part that the vendor does not read', async () => {
    const text = { type: 'text', text: 't' };
    const cases = [
      ['user', { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } }],
      ['user', { type: 'file', file: { file_data: 'x' } }],
      ['user', { type: 'video' }],
      ['assistant', IMAGE],
      ['system', IMAGE],
      ['tool', IMAGE],
      ['user', { type: 'image_url' }],
      ['user', { type: 'image_url', image_url: {} }],
    ] as const;
    for (const [role, part] of cases) {
      const refusal = await refusedBy(
        cohere,
        'chat',
        chat({
          messages: [
            { role: 'user', content: 'hi' },
            { role, content: [text, part] },
          ],
        }),
      );
      expect([refusal.code, refusal.message], `${role} ${part.type}`).to.satisfy(
        ([code, message]: string[]) => code === 'invalid_request' && message!.startsWith('messages[1].content[1]: '),
      );
    }
  });

  it('name cache markers, wherever they stand', async () => {
    const { body, ignored } = await sentBy(
      cohere,
      'chat',
      chat({
        messages: [{ role: 'user', content: [{ type: 'text', text: 't', cache_control: { type: 'ephemeral' } }] }],
      }),
    );
    expect([body.messages[0].content, ignored]).to.deep.equal([[{ type: 'text', text: 't' }], ['cache_control']]);
  });
});
