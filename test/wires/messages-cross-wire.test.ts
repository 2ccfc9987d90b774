import { hash } from 'node:crypto';
import { expect } from 'chai';
import { MASTER_KEY, openSse, replyJson, sseEvent, startHost, stubUpstream } from '../kit/index.ts';
import { openEnvelope, sealEnvelope } from '../../builtins/wires/envelope.ts';
import { crossWire, eventsOf, hello, PATH, saying } from './messages-kit.ts';

const TOOL = {
  name: 'tide',
  description: 'd',
  input_schema: { type: 'object', properties: { place: { type: 'string' } } },
};
const CHUNK = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'up' };
const delta = (value: object, finish: string | null = null): object => ({
  ...CHUNK,
  choices: [{ index: 0, delta: value, finish_reason: finish }],
});

/** What the upstream gets of a request that is served. */
async function sent(body: object, headers: Record<string, string> = {}): Promise<any> {
  const { upstream, post } = await crossWire(saying({ content: 'ok' }));
  const answer = await post({ ...hello, ...body }, headers);
  expect(answer.status, answer.text).to.equal(200);
  const [seen] = upstream.seen;
  return { ...seen?.json(), lost: answer.headers.get('x-gateway-ignored-params') };
}

async function refused(body: object, headers: Record<string, string> = {}): Promise<string> {
  const { upstream, post } = await crossWire(saying({ content: 'ok' }));
  const answer = await post({ ...hello, ...body }, headers);
  expect(answer.status, answer.text).to.equal(400);
  expect(upstream.seen).to.have.length(0);
  const { type, error, request_id: id } = answer.json();
  expect(type).to.equal('error');
  expect(id).to.equal(answer.headers.get('x-request-id'));
  expect(error.type).to.equal('invalid_request_error');
  return error.message;
}

async function streamed(chunks: readonly (object | string)[], more: object = {}): Promise<any[]> {
  const { post } = await crossWire((_request, response) => {
    openSse(response);
    for (const chunk of chunks) response.write(typeof chunk === 'string' ? chunk : sseEvent(chunk));
    response.end('data: [DONE]\n\n');
  });
  const answer = await post({ ...hello, stream: true, tools: [TOOL], ...more });
  expect(answer.status, answer.text).to.equal(200);
  return eventsOf(answer.text);
}

describe('Messages to a target of the common wire', () => {
  it('answer without what only some texts have, where the client refuses it as null', async () => {
    const { post } = await crossWire(saying({ content: 'hello' }));
    const old = [
      'ai-sdk/anthropic/2.0.112 ai-sdk/provider-utils/3.0.44 runtime/node.js/26',
      'ai/5.0.277 ai-sdk/provider-utils/3.0.44 runtime/node.js/26',
      'ai/6.0.326 ai-sdk/provider-utils/4.0.65 runtime/node.js/26',
    ];
    for (const agent of old)
      expect((await post(hello, { 'user-agent': agent })).json().content, agent).to.deep.equal([
        { type: 'text', text: 'hello' },
      ]);
    for (const agent of ['ai/7.0.173 ai-sdk-provider-utils/5.0.81 node.js/26', 'Anthropic/JS 1.12.0'])
      expect((await post(hello, { 'user-agent': agent })).json().content, agent).to.deep.equal([
        { type: 'text', text: 'hello', citations: null },
      ]);
  });

  it('answer as a message, whole', async () => {
    const { post } = await crossWire(
      saying(
        {
          content: 'hello',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'tide', arguments: '{"n":12345678901234567890}' } },
          ],
        },
        {
          usage: {
            prompt_tokens: 10,
            completion_tokens: 4,
            total_tokens: 14,
            prompt_tokens_details: { cached_tokens: 10 },
            completion_tokens_details: { reasoning_tokens: 1 },
          },
        },
      ),
    );
    const answer = await post(hello);
    const id = answer.headers.get('x-request-id');
    expect(answer.text).to.include('12345678901234567890');
    expect(answer.json()).to.deep.equal({
      id: `msg_${id}`,
      type: 'message',
      role: 'assistant',
      model: 'claude-x',
      content: [
        { type: 'text', text: 'hello', citations: null },
        {
          type: 'tool_use',
          id: 'c1',
          name: 'tide',
          input: { n: Number('12345678901234567890') },
          caller: { type: 'direct' },
        },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      stop_details: null,
      usage: {
        input_tokens: 0,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 10,
        output_tokens: 4,
        output_tokens_details: { thinking_tokens: 1 },
        cache_creation: null,
        server_tool_use: null,
        service_tier: null,
        inference_geo: null,
        speed: null,
      },
      container: null,
      diagnostics: null,
    });
  });

  it('carry what the common format has a place for', async () => {
    const { lost, ...body } = await sent({
      system: [
        { type: 'text', text: 'x-anthropic-billing-header: cc_version=1' },
        { type: 'text', text: 'be terse' },
      ],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'see' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'calling' },
            { type: 'tool_use', id: 't1', name: 'tide', input: { n: 1 } },
            { type: 'tool_use', id: 't2', name: 'tide', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'and' },
            { type: 'tool_result', tool_use_id: 't1', content: 'high', is_error: true },
            {
              type: 'tool_result',
              tool_use_id: 't2',
              content: [{ type: 'image', source: { type: 'url', url: 'https://example.test/a.png' } }],
            },
          ],
        },
      ],
      temperature: 0.5,
      top_p: 0.9,
      stop_sequences: ['END', ' '],
      metadata: { user_id: 'device' },
      tools: [TOOL],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
    });
    expect(body).to.deep.equal({
      model: 'claude-x',
      max_tokens: 64,
      temperature: 0.5,
      top_p: 0.9,
      stop: ['END'],
      user: hash('sha256', 'device'),
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'be terse' }] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'see' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          ],
        },
        {
          role: 'assistant',
          content: 'calling',
          tool_calls: [
            { id: 't1', type: 'function', function: { name: 'tide', arguments: '{"n":1}' } },
            { id: 't2', type: 'function', function: { name: 'tide', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 't1', content: 'high' },
        { role: 'tool', tool_call_id: 't2', content: '(see the next message)' },
        { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.test/a.png' } }] },
        { role: 'user', content: 'and' },
      ],
      tools: [{ type: 'function', function: { name: 'tide', description: 'd', parameters: TOOL.input_schema } }],
      tool_choice: 'required',
      parallel_tool_calls: false,
    });
    expect(lost).to.equal('messages[2].content[1].is_error, stop_sequences[1]');
  });

  it('name what is lost, in the order of the body', async () => {
    const { lost } = await sent({
      context_management: {},
      thinking: { type: 'enabled', budget_tokens: 1024 },
      max_tokens: 2048,
      top_k: 3,
      newest: 1,
      tools: [
        { ...TOOL, input_examples: [] },
        { type: 'web_search_20250305', name: 'web_search' },
      ],
      service_tier: 'auto',
      metadata: {},
    });
    expect(lost).to.equal(
      'context_management, thinking, top_k, newest, tools[0].input_examples, tools[1], service_tier',
    );
  });

  it('name a way to show thoughts that is not known as lost, and answer', async () => {
    for (const display of ['updates', 'loud']) {
      const { lost } = await sent({ thinking: { type: 'adaptive', display } });
      expect(lost.split(', '), display).to.include('thinking.display');
    }
    for (const display of ['summarized', 'omitted', null])
      expect((await sent({ thinking: { type: 'adaptive', display } })).lost ?? '').to.not.include('display');
  });

  it('say nothing of what is lost where the configuration wants that, and refuse where it wants that', async () => {
    for (const [policy, status] of [
      ['drop', 200],
      ['reject', 400],
    ] as const) {
      const { post } = await crossWire(saying({ content: 'ok' }), { compatibility: { on_unsupported_param: policy } });
      const answer = await post({ ...hello, top_k: 3 });
      expect(answer.status).to.equal(status);
      expect(answer.headers.get('x-gateway-ignored-params')).to.equal(null);
      if (status === 400) {
        expect(answer.json().error).to.deep.include({
          type: 'invalid_request_error',
          details: { error_code: 'unsupported_parameter' },
        });
        expect(answer.json().error.message).to.include('top_k');
        expect(answer.headers.get('x-should-retry')).to.equal('false');
      }
    }
  });

  for (const [what, body, path] of [
    [
      'a file of the vendor',
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] }] },
      'messages[0].content[0].source',
    ],
    [
      'an unknown block',
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }, { type: 'hologram' }] }] },
      'messages[0].content[1]',
    ],
    [
      "a server tool's use",
      {
        messages: [
          { role: 'user', content: 'a' },
          { role: 'assistant', content: [{ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }] },
        ],
      },
      'messages[1].content[0]',
    ],
    [
      'a result without a call',
      { messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x', content: '' }] }] },
      'messages[0].content[0]',
    ],
    [
      'a call without a result',
      {
        messages: [
          { role: 'user', content: 'a' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'n', input: {} }] },
          { role: 'user', content: 'b' },
        ],
      },
      'messages[1].content[0]',
    ],
    [
      'a result that comes twice',
      {
        messages: [
          { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'n', input: {} }] },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 't' },
              { type: 'tool_result', tool_use_id: 't' },
            ],
          },
        ],
      },
      'messages[1].content[1]',
    ],
    ['another role', { messages: [{ role: 'tool', content: 'a' }] }, 'messages[0].role'],
    ['a block without a type', { messages: [{ role: 'user', content: [{ text: 'a' }] }] }, 'messages[0].content[0]'],
    [
      'broken base64',
      {
        messages: [
          {
            role: 'user',
            content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'not base64' } }],
          },
        ],
      },
      'messages[0].content[0]',
    ],
    [
      'another image',
      {
        messages: [
          {
            role: 'user',
            content: [{ type: 'image', source: { type: 'base64', media_type: 'image/tiff', data: 'AAAA' } }],
          },
        ],
      },
      'messages[0].content[0]',
    ],
    ['a container', { container: 'c1' }, 'container'],
    ['servers of tools', { mcp_servers: [{}] }, 'mcp_servers'],
    [
      'a mark of a cache that lasts two of something',
      { cache_control: { type: 'ephemeral', ttl: 2 } },
      'cache_control',
    ],
    ['a mark of a cache that is a word', { cache_control: 'ephemeral' }, 'cache_control'],
    [
      'a mark of a block that is a word',
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'a', cache_control: 'ephemeral' }] }] },
      'messages[0].content[0].cache_control',
    ],
    [
      'a mark of a block whose type is a number',
      { system: [{ type: 'text', text: 'a', cache_control: { type: 7 } }] },
      'system[0].cache_control',
    ],
    [
      'a mark of a tool that has no type',
      { tools: [{ ...TOOL, cache_control: { ttl: '1h' } }] },
      'tools[0].cache_control',
    ],
    ['a thought that is shown by a number', { thinking: { type: 'adaptive', display: 1 } }, 'thinking.display'],
    ['a description that is a number', { tools: [{ ...TOOL, description: 5 }] }, 'tools[0].description'],
    ['a tool that is strict in words', { tools: [{ ...TOOL, strict: 'yes' }] }, 'tools[0].strict'],
    [
      'a choice that is serial in words',
      { tools: [TOOL], tool_choice: { type: 'auto', disable_parallel_tool_use: 'yes' } },
      'tool_choice.disable_parallel_tool_use',
    ],
    ['a conversation without a word', { messages: [{ role: 'user', content: '' }] }, 'messages'],
    [
      'an error that is a word',
      {
        messages: [
          { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'n', input: {} }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', is_error: 'yes' }] },
        ],
      },
      'messages[1].content[0].is_error',
    ],
    ['a hot temperature', { temperature: 1.5 }, 'temperature'],
    ['a fraction of tokens', { max_tokens: 1.5 }, 'max_tokens'],
    ['no tokens', { max_tokens: 0 }, 'max_tokens'],
    ['no ceiling', { max_tokens: null }, 'max_tokens'],
    ['no messages', { messages: [] }, 'messages'],
    ['a tool of the vendor alone', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools[0]'],
    [
      'a tool of the vendor that is forced',
      {
        tools: [TOOL, { type: 'web_search_20250305', name: 'web_search' }],
        tool_choice: { type: 'tool', name: 'web_search' },
      },
      'tool_choice',
    ],
    ['a tool whose schema is built in', { tools: [{ type: 'bash_20250124', name: 'bash' }] }, 'tools[0]'],
    ['two tools of one name', { tools: [TOOL, TOOL] }, 'tools[1]'],
    ['a tool without a schema', { tools: [{ name: 'a' }] }, 'tools[0].input_schema'],
    ['a choice that is not a tool', { tools: [TOOL], tool_choice: { type: 'tool', name: 'other' } }, 'tool_choice'],
    ['a small budget', { thinking: { type: 'enabled', budget_tokens: 10 } }, 'thinking.budget_tokens'],
  ] as const)
    it(`are refused with the path: ${what}`, async () => {
      expect(await refused(body)).to.include(path);
    });

  for (const [name, value] of [
    ['temperature', 1],
    ['top_p', 1],
    ['top_k', 1],
  ] as const) {
    it(`are refused by a newer version with ${name}`, async () => {
      expect(await refused({ [name]: value }, { 'anthropic-version': '2026-10-21' })).to.include(name);
      await sent({ [name]: value }, { 'anthropic-version': '2023-06-01' });
    });
  }

  it('are not counted where they would be refused', async () => {
    const { host, upstream } = await crossWire(saying({ content: 'ok' }));
    for (const messages of [[], [{ role: 'user', content: [{ type: 'hologram' }] }]]) {
      const answer = await host.post('/v1/messages/count_tokens', { model: 'claude-x', messages });
      expect([
        answer.status,
        answer.json().error?.type,
        String(answer.json().error?.message).startsWith('messages'),
      ]).to.deep.equal([400, 'invalid_request_error', true]);
    }
    expect(upstream.seen).to.have.length(0);
  });

  it('are refused where the model stands there twice', async () => {
    const { upstream, post } = await crossWire(saying({ content: 'ok' }));
    const answer = await post('{"model":"claude-x","max_tokens":1,"messages":[],"mod\\u0065l":"b"}');
    expect(answer.status).to.equal(400);
    expect(upstream.seen).to.have.length(0);
  });

  it('find no model that is not served', async () => {
    const { post } = await crossWire(saying({ content: 'ok' }));
    const answer = await post({ ...hello, model: 'other' });
    expect(answer.status).to.equal(404);
    expect(answer.json().error).to.deep.include({
      type: 'not_found_error',
      details: { error_code: 'model_not_found' },
    });
  });

  it('stream as events, the blocks in order and numbered without gaps', async () => {
    const events = await streamed([
      delta({ role: 'assistant', reasoning_content: 'hm' }),
      delta({ reasoning_content: ' so' }),
      delta({ content: 'a' }),
      delta({ reasoning_content: 'again' }),
      delta({ tool_calls: [{ index: 0, id: 'c0', type: 'function', function: { name: 'tide', arguments: '{"a":' } }] }),
      delta({ tool_calls: [{ index: 1, id: 'c1', type: 'function', function: { name: 'tide', arguments: '{}' } }] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] }),
      delta({ content: 'b' }),
      delta({}, 'tool_calls'),
      {
        ...CHUNK,
        choices: [],
        usage: {
          prompt_tokens: 9,
          completion_tokens: 3,
          total_tokens: 12,
          prompt_tokens_details: { cached_tokens: 9 },
        },
      },
    ]);
    expect(events.map(({ type }) => type)).to.deep.equal([
      'message_start',
      'ping',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(
      events
        .filter(({ type }) => type === 'content_block_start')
        .map(({ index, content_block: { type } }) => `${index} ${type}`),
    ).to.deep.equal(['0 thinking', '1 text', '2 thinking', '3 tool_use', '4 tool_use', '5 text']);
    expect(events[5].delta).to.deep.equal({ type: 'signature_delta', signature: sealEnvelope([]) });
    expect(events.at(-2)).to.deep.include({
      delta: { stop_reason: 'tool_use', stop_sequence: null, stop_details: null, container: null },
    });
    expect(events.at(-2).usage).to.include({
      input_tokens: 1,
      cache_read_input_tokens: 8,
      output_tokens: 3,
      cache_creation_input_tokens: 0,
    });
    expect(events[0].message.usage).to.include({ output_tokens: 1 });
    expect(events[0].message.usage.input_tokens).to.be.greaterThan(0);
  });

  it('stream a call without arguments as an empty object, and make an id where there is none', async () => {
    const events = await streamed([
      delta({ tool_calls: [{ index: 0, type: 'function', function: { name: 'tide' } }] }),
      delta({}, 'tool_calls'),
    ]);
    const start = events.find(({ type }) => type === 'content_block_start');
    expect(start.content_block.id).to.match(/^toolu_[0-9a-f]{32}_0$/);
    expect(events.find(({ delta: piece }) => piece?.type === 'input_json_delta').delta.partial_json).to.equal('{}');
  });

  it('end a stream that breaks with an error, and no end', async () => {
    const { post } = await crossWire((_request, response) => {
      openSse(response);
      response.write(sseEvent(delta({ content: 'a' })));
      response.end(sseEvent({ error: { message: 'it broke' } }));
    });
    const events = eventsOf((await post({ ...hello, stream: true })).text);
    expect(events.at(-1)).to.deep.include({ type: 'error' });
    expect(events.at(-1).error).to.deep.include({ type: 'api_error' });
    expect(events.map(({ type }) => type))
      .to.not.include('message_stop')
      .and.not.include('content_block_stop');
  });

  it('give reasoning of another vendor back to it, and to no other', async () => {
    const signed = { type: 'reasoning.encrypted', index: 0, format: 'google-gemini-v1', id: 'c1', data: 'sig' };
    const { post } = await crossWire(
      saying({
        content: 'x',
        reasoning_content: 'why',
        reasoning_details: [signed],
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'tide', arguments: '{}' } }],
      }),
    );
    const { content } = (await post(hello)).json();
    expect(content.map(({ type }: { type: string }) => type)).to.deep.equal([
      'thinking',
      'text',
      'thinking',
      'tool_use',
    ]);
    expect(content[0]).to.deep.equal({ type: 'thinking', thinking: 'why', signature: sealEnvelope([]) });
    expect(content[2]).to.deep.equal({ type: 'thinking', thinking: '', signature: sealEnvelope([signed]) });
    const body = await sent({
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1' }] },
      ],
    });
    expect(body.messages[1]).to.include({ reasoning_content: 'why', content: 'x' });
    expect(body.messages[1].reasoning_details).to.equal(undefined);
    expect(body.lost).to.equal('messages[1].content[2]');
  });

  it('keep a thought that is not shown in its envelope, whole and streamed, and give it back', async () => {
    const body = { thinking: { type: 'adaptive', display: 'omitted' } };
    const signed = { type: 'reasoning.text', index: 0, format: 'unknown-v1', text: 'why', signature: 'c2ln' };
    for (const details of [undefined, [signed]]) {
      const { post } = await crossWire(
        saying({ content: 'x', reasoning_content: 'why', ...(details && { reasoning_details: details }) }),
      );
      const [whole] = (await post({ ...hello, ...body })).json().content;
      const events = await streamed(
        [
          ...['w', 'hy'].map((text) =>
            delta({ reasoning_content: text, ...(details && { reasoning_details: [{ ...signed, text }] }) }),
          ),
          delta({ content: 'x' }),
          delta({}, 'stop'),
        ],
        body,
      );
      expect(JSON.stringify(events)).to.not.include('thinking_delta').and.not.include('why');
      const { signature } = events.find(({ delta: piece }) => piece?.type === 'signature_delta').delta;
      for (const block of [whole, { type: 'thinking', thinking: '', signature }]) {
        expect(block.thinking).to.equal('');
        const back = await sent({
          messages: [
            { role: 'user', content: 'a' },
            { role: 'assistant', content: [block, { type: 'text', text: 'x' }] },
            { role: 'user', content: 'b' },
          ],
        });
        expect(back.messages[1]).to.include({ reasoning_content: 'why', content: 'x' });
      }
    }
  });

  it('leave the text of a thought out of an envelope that would be too large to come back', async () => {
    const body = { thinking: { type: 'adaptive', display: 'omitted' } };
    for (const [text, isKept] of [
      ['x'.repeat(700_000), true],
      ['\u0001'.repeat(200_000), false], // six bytes each as JSON has them
      ['x'.repeat(2 * 1024 * 1024), false],
    ] as const) {
      const { post } = await crossWire(saying({ content: 'x', reasoning_content: text }));
      const [whole] = (await post({ ...hello, ...body })).json().content;
      const events = await streamed(
        [delta({ reasoning_content: text }), delta({ content: 'x' }), delta({}, 'stop')],
        body,
      );
      const { signature } = events.find(({ delta: piece }) => piece?.type === 'signature_delta').delta;
      const envelope = sealEnvelope(isKept ? [{ type: 'reasoning.text', text }] : []);
      expect([whole.signature === envelope, signature === envelope], `${text.length}`).to.deep.equal([true, true]);
      expect(openEnvelope(signature), `${text.length}`).to.not.equal(undefined);
    }
  });

  it('show a call of another vendor behind its signature, and leave out signatures of texts', async () => {
    const ofText = {
      type: 'reasoning.encrypted',
      index: 0,
      format: 'google-gemini-v1',
      start: 0,
      end: 4,
      data: 'dGV4dA==',
    };
    const ofCall = { type: 'reasoning.encrypted', index: 1, format: 'google-gemini-v1', id: 'c1', data: 'Y2FsbA==' };
    const call = { id: 'c1', type: 'function', function: { name: 'tide', arguments: '{}' } };
    const shown = [
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'tool_use', id: 'c1', name: 'tide', input: {}, caller: { type: 'direct' } },
    ];
    for (const isCalling of [true, false]) {
      const events = await streamed([
        delta({ content: 'low ' }),
        delta({ content: 'tide', reasoning_details: [ofText] }),
        ...(isCalling ? [delta({ reasoning_details: [ofCall], tool_calls: [{ index: 0, ...call }] })] : []),
        delta({}, isCalling ? 'tool_calls' : 'stop'),
      ]);
      const blocks = events.filter(({ type }) => type === 'content_block_start').map((event) => event.content_block);
      expect(blocks).to.deep.equal([{ type: 'text', text: '' }, ...(isCalling ? shown : [])]);
      const signatures = events.filter(({ delta: piece }) => piece?.type === 'signature_delta');
      expect(signatures.map((event) => event.delta.signature)).to.deep.equal(isCalling ? [sealEnvelope([ofCall])] : []);
      const { post } = await crossWire(
        saying({
          content: 'low tide',
          reasoning_details: [ofText, ...(isCalling ? [ofCall] : [])],
          tool_calls: isCalling ? [call] : [],
        }),
      );
      const { content } = (await post(hello)).json();
      expect(content.map(({ type }: { type: string }) => type)).to.deep.equal([
        'text',
        ...(isCalling ? ['thinking', 'tool_use'] : []),
      ]);
    }
  });

  // Shape: charmbracelet/fantasy, an answer of GPT-5 recorded from OpenRouter, 2026-11-23.
  it('keep what seals the reasoning of another vendor, though its id is not that of a call', async () => {
    const summary = { type: 'reasoning.summary', summary: 'why', format: 'openai-responses-v1', index: 0 };
    const sealed = { type: 'reasoning.encrypted', data: 'gAAA', format: 'openai-responses-v1', id: 'rs_0', index: 1 };
    const call = { id: 'c1', type: 'function', function: { name: 'tide', arguments: '{}' } };
    for (const calls of [[call], []]) {
      const { post } = await crossWire(
        saying({ content: 'x', reasoning_content: 'why', reasoning_details: [summary, sealed], tool_calls: calls }),
      );
      const { content } = (await post(hello)).json();
      expect(content[0]).to.deep.equal({
        type: 'thinking',
        thinking: 'why',
        signature: sealEnvelope([summary, sealed]),
      });
      expect(content.filter(({ type }: { type: string }) => type === 'redacted_thinking')).to.deep.equal([]);
    }
  });

  it('cut names of tools that are too long for it, and give them back', async () => {
    const name = `tool_${'x'.repeat(95)}`;
    let asked = '';
    const { post } = await crossWire((request, response) => {
      asked = (request.json() as any).tools[0].function.name;
      replyJson(response, 200, {
        id: 'x',
        model: 'up',
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: null,
              tool_calls: [{ id: 'c', type: 'function', function: { name: asked, arguments: '{}' } }],
            },
            finish_reason: 'tool_calls',
          },
        ],
      });
    });
    const answer = await post({ ...hello, tools: [{ ...TOOL, name }] });
    expect(asked).to.have.length(64);
    expect(answer.json().content[0].name).to.equal(name);
  });

  it('list models as the vendor does, for clients that say its version', async () => {
    const upstream = await stubUpstream(saying({ content: 'ok' }));
    const host = await startHost({
      strategy: { mode: 'single' },
      targets: [upstream.target('a', { models: ['m1', 'm2', 'm3'] })],
      aliases: { 'claude-alias': 'm1' },
    });
    const headers = { authorization: '', 'x-api-key': MASTER_KEY, 'anthropic-version': '2023-06-01' };
    const all = (await host.get('/v1/models', headers)).json();
    expect(all).to.include({ has_more: false, first_id: all.data[0].id, last_id: all.data.at(-1).id });
    expect(all.data.map(({ id }: { id: string }) => id)).to.include.members(['m1', 'm2', 'm3', 'claude-alias']);
    expect(all.data[0]).to.deep.equal({
      type: 'model',
      id: all.data[0].id,
      display_name: all.data[0].id,
      created_at: '1970-01-01T00:00:00Z',
      max_input_tokens: null,
      max_tokens: null,
      lifecycle: 'active',
      deprecated_at: null,
      retires_at: null,
      line: null,
      capabilities: null,
    });
    const page = (await host.get('/v1/models?limit=2', headers)).json();
    expect(page).to.include({ has_more: true }).and.have.property('data').with.length(2);
    expect(
      (await host.get(`/v1/models?limit=2&after_id=${page.last_id}`, headers))
        .json()
        .data.map(({ id }: { id: string }) => id),
    ).to.deep.equal(all.data.slice(2).map(({ id }: { id: string }) => id));
    for (const query of ['limit=0', 'limit=1001', 'after_id=missing', 'after_id=m1&before_id=m2'])
      expect((await host.get(`/v1/models?${query}`, headers)).status, query).to.equal(400);
    expect((await host.get('/v1/models/claude-alias', headers)).json()).to.include({
      type: 'model',
      id: 'claude-alias',
    });
    const missing = await host.get('/v1/models/missing', headers);
    expect(missing.status).to.equal(404);
    expect(missing.json().error.type).to.equal('not_found_error');
    expect((await host.get('/v1/models')).json().object).to.equal('list');
    const silent = await host.get('/v1/models', { 'anthropic-version': '' });
    expect([silent.json().object, silent.headers.get('request-id')], 'an empty version').to.deep.equal(['list', null]);
    expect((await host.get('/v1/models', { ...headers, 'anthropic-version': '' })).status).to.equal(401);
    expect((await host.get('/v1/models')).json().data.map(({ id }: { id: string }) => id)).to.not.include(
      'claude-alias',
    );
  });

  it('come as they are: an empty Content-Encoding is none', async () => {
    const { post } = await crossWire(saying({ content: 'ok' }));
    for (const [coding, status] of [
      ['', 200],
      ['Identity', 200],
      ['gzip', 400],
    ] as const)
      expect((await post(hello, { 'content-encoding': coding })).status, coding).to.equal(status);
  });

  it('are refused, whatever refuses them, in the wire of the client', async () => {
    const { host } = await crossWire(saying({ content: 'ok' }));
    for (const [answer, status, type] of [
      [await host.post(PATH, hello, { authorization: '' }), 401, 'authentication_error'],
      [await host.request('PUT', PATH, hello), 405, 'invalid_request_error'],
      [await host.post(PATH, `{"model":"${'x'.repeat(11 * 1024 * 1024)}"}`), 413, 'request_too_large'],
      [await host.post(PATH, '{'), 400, 'invalid_request_error'],
      [await host.post('/v1/messages/batches', {}), 400, 'invalid_request_error'],
    ] as const) {
      expect(answer.status, answer.text).to.equal(status);
      expect(answer.json().error.type).to.equal(type);
      expect(answer.headers.get('request-id')).to.equal(answer.json().request_id);
    }
  });
});
