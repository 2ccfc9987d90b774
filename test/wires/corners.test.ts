import { expect } from 'chai';
import { openEnvelope } from '../../builtins/wires/envelope.ts';
import { retryHeaders } from '../../builtins/wires/errors.ts';
import { MESSAGES_WIRE } from '../../builtins/wires/messages/wire.ts';
import { GeminiWire } from '../../builtins/wires/gemini/wire.ts';
import { SSE_FORM } from '../../builtins/wires/gemini/stream-form.ts';
import { finishWord } from '../../builtins/wires/gemini/answer/finish.ts';
import { pathWire } from '../../builtins/wires/responses/path-wire.ts';
import { endOf } from '../../builtins/wires/responses/response-object.ts';
import { stopReason } from '../../builtins/wires/messages/stop-reason.ts';
import { type ErrorCode, ERRORS } from '../../host/contract/index.ts';
import { MASTER_KEY, openSse, replyJson, sseEvent, startHost, stubUpstream, type TestHost } from '../kit/index.ts';
import { crossWire, eventsOf, type Gateway, hello, sameWire, saying, vendorMessage } from './messages-kit.ts';

type Json = any;

const TOOL = { name: 'tide', input_schema: { type: 'object' } };
const CONTENTS = { contents: [{ parts: [{ text: 'hi' }] }] };
const GEMINI_PATH = '/v1beta/models/claude-x:generateContent';
const ok = (_request: unknown, response: Parameters<typeof replyJson>[0]): void => {
  replyJson(response, 200, vendorMessage([{ type: 'text', text: 'a' }]));
};

/** Rows of the cross table: code, status, type of Messages, status of Gemini. See docs/reference/ingress.md#error-types. */
const ROWS: readonly (readonly [ErrorCode, number, string, string])[] = [
  ['invalid_request', 400, 'invalid_request_error', 'INVALID_ARGUMENT'],
  ['request_rejected', 400, 'invalid_request_error', 'INVALID_ARGUMENT'],
  ['unsupported_parameter', 400, 'invalid_request_error', 'INVALID_ARGUMENT'],
  ['streaming_not_supported', 400, 'invalid_request_error', 'INVALID_ARGUMENT'],
  ['provider_not_resolved', 400, 'invalid_request_error', 'INVALID_ARGUMENT'],
  ['invalid_proxy_path', 400, 'invalid_request_error', 'INVALID_ARGUMENT'],
  ['missing_api_key', 401, 'authentication_error', 'UNAUTHENTICATED'],
  ['invalid_api_key', 401, 'authentication_error', 'UNAUTHENTICATED'],
  ['authentication_required', 401, 'authentication_error', 'UNAUTHENTICATED'],
  ['insufficient_quota', 402, 'billing_error', 'FAILED_PRECONDITION'],
  ['insufficient_scope', 403, 'permission_error', 'PERMISSION_DENIED'],
  ['model_not_found', 404, 'not_found_error', 'NOT_FOUND'],
  ['provider_not_found', 404, 'not_found_error', 'NOT_FOUND'],
  ['resource_not_found', 404, 'not_found_error', 'NOT_FOUND'],
  ['method_not_supported', 405, 'invalid_request_error', 'UNIMPLEMENTED'],
  ['request_too_large', 413, 'request_too_large', 'INVALID_ARGUMENT'],
  ['rate_limit_exceeded', 429, 'rate_limit_error', 'RESOURCE_EXHAUSTED'],
  ['provider_saturated', 429, 'rate_limit_error', 'RESOURCE_EXHAUSTED'],
  ['plugin_error', 500, 'api_error', 'INTERNAL'],
  ['internal_error', 500, 'api_error', 'INTERNAL'],
  ['routing_error', 500, 'api_error', 'INTERNAL'],
  ['proxy_not_supported', 501, 'invalid_request_error', 'UNIMPLEMENTED'],
  ['not_implemented', 501, 'invalid_request_error', 'UNIMPLEMENTED'],
  ['responses_not_configured', 501, 'invalid_request_error', 'UNIMPLEMENTED'],
  ['response_rejected', 502, 'api_error', 'INTERNAL'],
  ['upstream_error', 502, 'api_error', 'UNAVAILABLE'],
  ['upstream_auth_error', 502, 'api_error', 'UNAVAILABLE'],
  ['upstream_unavailable', 503, 'overloaded_error', 'UNAVAILABLE'],
  ['upstream_timeout', 504, 'timeout_error', 'DEADLINE_EXCEEDED'],
  ['gateway_timeout', 504, 'timeout_error', 'DEADLINE_EXCEEDED'],
];

describe('errors of other wires', () => {
  it('have the type and the status of the cross table, each code in each wire', () => {
    const gemini = new GeminiWire(SSE_FORM);
    const responses = pathWire(() => true);
    for (const [code, status, type, word] of ROWS) {
      const failure = { code, status, message: 'm', requestId: 'r', retryAfterS: 7 } as never;
      expect(JSON.parse(MESSAGES_WIRE.error(failure).body), code).to.deep.equal({
        type: 'error',
        error: { type, message: 'm', details: { error_code: code } },
        request_id: 'r',
      });
      const { error } = JSON.parse(gemini.error(failure).body);
      expect([error.code, error.message, error.status, error.details[0].reason], code).to.deep.equal([
        status,
        'm',
        word,
        code.toUpperCase(),
      ]);
      expect(JSON.parse(responses.error(failure).body), code).to.deep.equal({
        error: { message: 'm', type: ERRORS[code].type, code, param: null },
      });
    }
  });

  it('say that a repeat cannot help on seven codes, and on no other', () => {
    const final = Object.keys(ERRORS).filter((code) => retryHeaders({ code } as never).length > 0);
    expect(final).to.have.members([
      'insufficient_quota',
      'request_rejected',
      'response_rejected',
      'plugin_error',
      'proxy_not_supported',
      'responses_not_configured',
      'unsupported_parameter',
    ]);
  });

  it('tell when to come again, by the header and in the body', async () => {
    const { host } = await crossWire((_request, response) =>
      replyJson(response, 429, { error: { message: 'slow' } }, { 'retry-after': '7' }),
    );
    const messages = await host.post('/v1/messages', hello);
    expect([messages.status, messages.headers.get('retry-after'), messages.json().error.type]).to.deep.equal([
      429,
      '7',
      'rate_limit_error',
    ]);
    const gemini = await host.post(GEMINI_PATH, CONTENTS);
    expect([gemini.status, gemini.headers.get('retry-after'), gemini.json().error.details[1]]).to.deep.equal([
      429,
      '7',
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '7s' },
    ]);
  });
});

describe('ends of answers', () => {
  it('have the words of the cross table in each wire', () => {
    for (const [finish, hasCalls, messages, gemini, responses] of [
      ['stop', false, 'end_turn', 'STOP', { status: 'completed' }],
      ['stop', true, 'tool_use', 'STOP', { status: 'completed' }],
      ['tool_calls', true, 'tool_use', 'STOP', { status: 'completed' }],
      ['tool_calls', false, 'end_turn', 'STOP', { status: 'completed' }],
      ['length', false, 'max_tokens', 'MAX_TOKENS', { status: 'incomplete', reason: 'max_output_tokens' }],
      ['content_filter', false, 'refusal', 'SAFETY', { status: 'incomplete', reason: 'content_filter' }],
      ['pause_turn', false, 'pause_turn', 'OTHER', { status: 'completed' }],
      ['', false, 'end_turn', 'STOP', { status: 'completed' }],
      ['MALFORMED_FUNCTION_CALL', false, 'end_turn', 'MALFORMED_FUNCTION_CALL', { status: 'completed' }],
      ['MALFORMED_RESPONSE', false, 'end_turn', 'MALFORMED_RESPONSE', { status: 'completed' }],
      ['another', false, 'end_turn', 'OTHER', { status: 'completed' }],
    ] as const) {
      expect([stopReason(finish, hasCalls, false), finishWord(finish)], finish).to.deep.equal([messages, gemini]);
      expect(endOf(finish === '' ? undefined : finish), finish).to.deep.include(responses);
    }
  });
});

describe('credentials of other wires', () => {
  it('count on the paths of their own wire, and nowhere else', async () => {
    const { host } = await crossWire(saying({ content: 'ok' }));
    const none = { authorization: '' };
    const chat = { model: 'claude-x', messages: [{ role: 'user', content: 'a' }] };
    for (const [path, body, headers, status] of [
      ['/v1/chat/completions', chat, { ...none, 'x-api-key': MASTER_KEY }, 401],
      ['/v1/chat/completions', chat, { ...none, 'x-goog-api-key': MASTER_KEY }, 401],
      [`/v1/chat/completions?key=${MASTER_KEY}`, chat, none, 401],
      ['/v1/messages', hello, { ...none, 'x-goog-api-key': MASTER_KEY }, 401],
      [`/v1/messages?key=${MASTER_KEY}`, hello, none, 401],
      ['/v1/messages', hello, { ...none, 'x-api-key': MASTER_KEY }, 200],
      ['/v1/messages', hello, { authorization: 'Bearer sk-ant-login', 'x-api-key': MASTER_KEY }, 200],
      ['/v1/messages', hello, { 'x-api-key': 'sk-ant-other' }, 200],
      ['/v1/messages', hello, none, 401],
      [GEMINI_PATH, CONTENTS, { ...none, 'x-api-key': MASTER_KEY }, 401],
      [`${GEMINI_PATH}?key=${MASTER_KEY}`, CONTENTS, { ...none, 'x-goog-api-key': 'wrong' }, 200],
      [`${GEMINI_PATH}?key=${MASTER_KEY}&key=${MASTER_KEY}`, CONTENTS, none, 401],
      ['/v1/responses', { model: 'claude-x', input: 'a' }, { ...none, 'x-api-key': MASTER_KEY }, 401],
    ] as const) {
      const answer = await host.post(path, body, headers);
      expect(answer.status, `${path} ${JSON.stringify(headers)}: ${answer.text}`).to.equal(status);
    }
  });
});

describe('corners of the Messages wire', () => {
  async function sent(more: object): Promise<Json> {
    const { upstream, post } = await crossWire(saying({ content: 'ok' }));
    const answer = await post({ ...hello, ...more });
    expect(answer.status, answer.text).to.equal(200);
    return {
      ...(upstream.seen[0]?.json() as object),
      text: upstream.seen[0]?.text,
      lost: answer.headers.get('x-gateway-ignored-params'),
    };
  }

  it('drop the line about billing across wires in both forms, so that two turns have one prefix, and keep it in their own', async () => {
    const line = (turn: number): string => `x-anthropic-billing-header: cc_version=2.1.197.${turn}`;
    for (const form of [
      (turn: number) => `${line(turn)}\nrules`,
      (turn: number) => [
        { type: 'text', text: line(turn) },
        { type: 'text', text: 'rules' },
      ],
    ]) {
      const [first, second] = [await sent({ system: form(1) }), await sent({ system: form(2) })];
      expect(first.text).to.equal(second.text);
      expect(first.text).to.include('rules').and.not.include('billing');
      expect(first.lost).to.equal(null);
    }
    const { upstream, post } = await sameWire(ok);
    await post({ ...hello, system: [{ type: 'text', text: line(1) }] });
    expect(upstream.seen[0]?.text).to.include(line(1));
  });

  it('pass what only the vendor has in its own wire: files, blocks, containers, tools', async () => {
    const { upstream, post } = await sameWire(ok);
    const body = {
      ...hello,
      container: 'c',
      mcp_servers: [{}],
      tools: [{ type: 'bash_20250124', name: 'bash' }],
      temperature: 7,
      messages: [
        { role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }, { type: 'hologram' }] },
      ],
    };
    expect((await post(body)).status).to.equal(200);
    expect(upstream.seen[0]?.text).to.equal(JSON.stringify(body));
  });

  it('have results before the words of a turn, in order, and their media behind the last', async () => {
    const { messages } = await sent({
      tools: [TOOL],
      messages: [
        { role: 'user', content: 'go' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'two' },
            { type: 'tool_use', id: 'a', name: 'tide', input: {} },
            { type: 'tool_use', id: 'b', name: 'tide', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'more' },
            {
              type: 'tool_result',
              tool_use_id: 'b',
              content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }],
            },
            {
              type: 'tool_result',
              tool_use_id: 'a',
              content: [
                { type: 'text', text: 'high' },
                { type: 'image', source: { type: 'url', url: 'https://h/i.png' } },
              ],
            },
          ],
        },
      ],
    });
    expect(messages[1])
      .to.deep.include({ role: 'assistant', content: 'two' })
      .and.have.property('tool_calls')
      .with.length(2);
    expect(messages.slice(2)).to.deep.equal([
      { role: 'tool', tool_call_id: 'b', content: '(see the next message)' },
      { role: 'tool', tool_call_id: 'a', content: 'high' },
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          { type: 'image_url', image_url: { url: 'https://h/i.png' } },
        ],
      },
      { role: 'user', content: 'more' },
    ]);
  });

  it('give each call an id of its own, where the upstream names two alike or one not at all', async () => {
    const calls = ['c', 'c', ''].map((id) => ({ id, type: 'function', function: { name: 'tide', arguments: '' } }));
    const { post } = await crossWire(saying({ content: null, tool_calls: calls }));
    const answer = await post(hello);
    const id = answer.headers.get('x-request-id');
    expect(answer.json().content.map((block: Json) => [block.id, block.input])).to.deep.equal([
      ['c', {}],
      [`toolu_${id}_1`, {}],
      [`toolu_${id}_2`, {}],
    ]);
  });

  it('keep every digit of what a tool is given, there and back', async () => {
    const big = '{"n":12345678901234567890,"f":1.5}';
    const turns = `[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"tide","input":${big}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}]`;
    const { upstream, post } = await crossWire(
      saying({
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'tide', arguments: big } }],
      }),
    );
    const answer = await post(`{"model":"claude-x","max_tokens":9,"messages":${turns}}`);
    const asked: Json = upstream.seen[0]?.json();
    expect(asked.messages[1].tool_calls[0].function.arguments).to.equal(big);
    expect(answer.text).to.include(`"input":${big}`);
  });

  it('ask for tools in all five forms, one at a time or not', async () => {
    const asked = async (choice: object | undefined): Promise<Json> => {
      const { tool_choice: word, parallel_tool_calls: parallel } = await sent({
        tools: [TOOL],
        ...(choice && { tool_choice: choice }),
      });
      return [word, parallel];
    };
    const serial = { disable_parallel_tool_use: true };
    expect(await asked(undefined)).to.deep.equal([undefined, undefined]);
    expect(await asked({ type: 'auto', ...serial })).to.deep.equal(['auto', false]);
    expect(await asked({ type: 'any', ...serial })).to.deep.equal(['required', false]);
    expect(await asked({ type: 'any', disable_parallel_tool_use: false })).to.deep.equal(['required', undefined]);
    expect(await asked({ type: 'none' })).to.deep.equal(['none', undefined]);
    expect(await asked({ type: 'tool', name: 'tide', ...serial })).to.deep.equal([
      { type: 'function', function: { name: 'tide' } },
      false,
    ]);
  });

  it('name the user by a digest, and at most fifty things that are lost', async () => {
    const { user, lost } = await sent({
      metadata: { user_id: 'device-and-account' },
      ...Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`member_${at}`, 1])),
    });
    expect(user).to.match(/^[0-9a-f]{64}$/);
    expect(lost.split(', ')).to.have.length(51);
    expect(lost).to.match(/^member_0, .*, member_49, \+10$/);
  });

  it('route by alias, by model_map and by what is asked, each target in its own wire', async () => {
    const common = await stubUpstream(saying({ content: 'common' }));
    const vendor = await stubUpstream(ok);
    const host = await startHost(
      {
        strategy: {
          mode: 'conditional',
          conditions: [{ key: 'metadata', field: 'user_tier', value: 'free', target_key: 'b' }],
        },
        aliases: { 'claude-alias': 'claude-x' },
        targets: [
          { virtual_key: 'anthropic', models: ['claude-x'], model_map: { 'claude-x': 'claude-real' } },
          common.target('b', { models: ['claude-x'] }),
        ],
      },
      { variables: { ANTHROPIC_API_KEY: 'vendor-key-0123456789', ANTHROPIC_BASE_URL: `${vendor.url}/v1` } },
    );
    const body = JSON.stringify({ ...hello, model: 'claude-alias' });
    expect((await host.post('/v1/messages', body)).headers.get('x-gateway-target')).to.equal('anthropic');
    expect(vendor.seen[0]?.text).to.equal(body.replace('claude-alias', 'claude-real'));
    const other = await host.post('/v1/messages', body, { 'x-gateway-metadata': '{"user_tier":"free"}' });
    expect([other.headers.get('x-gateway-target'), other.json().content[0].text, other.json().model]).to.deep.equal([
      'b',
      'common',
      'claude-x',
    ]);
  });
});

describe('Messages to other native wires', () => {
  const CONTENT = [
    { type: 'text', text: 'look' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
    { type: 'document', title: 'T', source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' } },
    {
      type: 'document',
      title: 'plain title',
      context: 'its context',
      source: { type: 'text', media_type: 'text/plain', data: 'plain words' },
    },
    {
      type: 'document',
      source: {
        type: 'content',
        content: [
          { type: 'text', text: 'inner words' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'BBBB' } },
        ],
      },
    },
    {
      type: 'search_result',
      title: 'found title',
      source: 'https://found',
      content: [{ type: 'text', text: 'found words' }],
    },
  ];
  const WORDS = [
    'look',
    'AAAA',
    'application/pdf',
    'plain title',
    'its context',
    'plain words',
    'inner words',
    'BBBB',
    'found title',
    'https://found',
    'found words',
  ];
  const candidate = (parts: readonly object[]): object => ({
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  });

  it('carry texts, images and documents of every kind, in their order', async () => {
    const upstream = await stubUpstream((seen, response) =>
      replyJson(
        response,
        200,
        seen.url.includes('chat/completions')
          ? {
              id: 'x',
              model: 'up',
              choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }],
            }
          : candidate([{ text: 'a' }]),
      ),
    );
    for (const [target, variables] of [
      ['gemini', { GEMINI_API_KEY: 'vendor-key-0123456789', GEMINI_BASE_URL: `${upstream.url}/v1beta` }],
      ['openai', { OPENAI_API_KEY: 'sk-vendor-0123456789', OPENAI_BASE_URL: `${upstream.url}/v1` }],
    ] as const) {
      const host = await startHost(
        { strategy: { mode: 'single' }, targets: [{ virtual_key: target, models: ['claude-x'] }] },
        { variables },
      );
      const answer = await host.post('/v1/messages', { ...hello, messages: [{ role: 'user', content: CONTENT }] });
      expect(
        [answer.status, answer.headers.get('x-gateway-ignored-params')],
        `${target}: ${answer.text}`,
      ).to.deep.equal([200, null]);
      const text = upstream.seen.at(-1)?.text ?? '';
      const places = WORDS.map((word) => text.indexOf(word));
      expect(
        places.every((place) => place >= 0),
        `${target}: ${text}`,
      ).to.equal(true);
      expect(
        text.indexOf('look') < text.indexOf('plain words') &&
          text.indexOf('plain words') < text.indexOf('inner words') &&
          text.indexOf('inner words') < text.indexOf('found words'),
      ).to.equal(true);
    }
  });

  it('have the media of results behind them where results are text alone', async () => {
    const upstream = await stubUpstream((_seen, response) =>
      replyJson(response, 200, {
        id: 'c',
        finish_reason: 'COMPLETE',
        message: { role: 'assistant', content: [{ type: 'text', text: 'a' }] },
      }),
    );
    const host = await startHost(
      { strategy: { mode: 'single' }, targets: [{ virtual_key: 'cohere', models: ['claude-x'] }] },
      { variables: { COHERE_API_KEY: 'vendor-key-0123456789', COHERE_BASE_URL: upstream.url } },
    );
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
    const answer = await host.post('/v1/messages', {
      ...hello,
      tools: [TOOL],
      messages: [
        { role: 'user', content: 'look' },
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 'a', name: 'tide', input: {} },
            { type: 'tool_use', id: 'b', name: 'tide', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'seen' }, image] },
            { type: 'tool_result', tool_use_id: 'b', content: [image] },
          ],
        },
      ],
    });
    expect(answer.status, answer.text).to.equal(200);
    const [, , first, second, media] = upstream.seen[0]!.json()['messages'] as Json[];
    expect([first.role, second.role, media.role]).to.deep.equal(['tool', 'tool', 'user']);
    expect(JSON.stringify([first.content, second.content]))
      .to.include('seen')
      .and.include('(see the next message)')
      .and.not.include('AAAA');
    expect(media.content.map(({ type }: Json) => type)).to.deep.equal(['image_url', 'image_url']);
  });

  it("say by the client's paths which tools and images are not taken as they were meant", async () => {
    const upstream = await stubUpstream((_seen, response) => replyJson(response, 200, candidate([{ text: 'a' }])));
    const host = await startHost(
      {
        strategy: { mode: 'single' },
        responses: { translate: 'auto' },
        targets: [{ virtual_key: 'gemini', models: ['claude-x'] }],
      },
      { variables: { GEMINI_API_KEY: 'vendor-key-0123456789', GEMINI_BASE_URL: `${upstream.url}/v1beta` } },
    );
    const lost = (answer: { readonly headers: Headers }): string | null =>
      answer.headers.get('x-gateway-ignored-params');
    expect(
      lost(
        await host.post('/v1/messages', {
          ...hello,
          tools: [
            { ...TOOL, name: 'a' },
            { ...TOOL, strict: true },
          ],
        }),
      ),
    ).to.equal('tools[1].strict');
    expect(
      lost(
        await host.post('/v1/responses', {
          model: 'claude-x',
          input: [
            {
              role: 'user',
              content: [
                { type: 'input_text', text: 'a' },
                { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'high' },
              ],
            },
          ],
          tools: [
            { type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'f', parameters: {}, strict: true }] },
            { type: 'function', name: 'g', parameters: {}, strict: false },
          ],
        }),
      ),
    ).to.equal('input[0].content[1].detail, tools[0].tools[0].strict');
  });

  it('give Gemini its signature back on its part and its call, and an error of a tool as one', async () => {
    const signed = [
      { text: 'hm', thought: true },
      { functionCall: { id: 'c1', name: 'tide', args: { at: 'noon' } }, thoughtSignature: 'c2lnbmVkLWJ5LWdlbWluaQ==' },
    ];
    const upstream = await stubUpstream((_seen, response) => replyJson(response, 200, candidate(signed)));
    const host = await startHost(
      { strategy: { mode: 'single' }, targets: [{ virtual_key: 'gemini', models: ['claude-x'] }] },
      { variables: { GEMINI_API_KEY: 'vendor-key-0123456789', GEMINI_BASE_URL: `${upstream.url}/v1beta` } },
    );
    const first = (await host.post('/v1/messages', { ...hello, tools: [TOOL] })).json();
    const call = first.content.at(-1);
    expect(call).to.deep.include({ type: 'tool_use', name: 'tide', input: { at: 'noon' } });
    const answer = await host.post('/v1/messages', {
      ...hello,
      tools: [TOOL],
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: first.content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, is_error: true, content: 'no tide' }] },
      ],
    });
    expect(answer.status, answer.text).to.equal(200);
    const asked: Json = upstream.seen.at(-1)?.json();
    const { contents } = asked;
    expect(contents[1].parts.find((part: Json) => part.functionCall)).to.deep.include({
      thoughtSignature: 'c2lnbmVkLWJ5LWdlbWluaQ==',
    });
    expect(JSON.stringify(contents[2].parts[0].functionResponse.response)).to.equal('{"error":"no tide"}');
  });
});

describe('corners of streams of the Messages wire', () => {
  const delta = (value: object, finish: string | null = null): object => ({
    id: 'c',
    choices: [{ index: 0, delta: value, finish_reason: finish }],
  });
  async function streamed(chunks: readonly object[], config: object = {}, more: object = {}): Promise<Json[]> {
    const { post } = await crossWire((_request, response) => {
      openSse(response);
      response.end(`${chunks.map(sseEvent).join('')}data: [DONE]\n\n`);
    }, config);
    return eventsOf((await post({ ...hello, tools: [TOOL], stream: true, ...more })).text);
  }
  const call = (index: number, id: string | undefined, name: string | undefined, args: string | undefined): object => ({
    tool_calls: [
      {
        index,
        ...(id && { id, type: 'function' }),
        function: { ...(name && { name }), ...(args !== undefined && { arguments: args }) },
      },
    ],
  });

  it('begin with a ping and numbers that are not zero, and end with the exact ones', async () => {
    const events = await streamed([
      delta({ content: 'a' }),
      delta({}, 'stop'),
      {
        id: 'c',
        choices: [],
        usage: {
          prompt_tokens: 40,
          completion_tokens: 2,
          total_tokens: 42,
          prompt_tokens_details: { cached_tokens: 40 },
        },
      },
    ]);
    expect(events.map(({ type }) => type)).to.deep.equal([
      'message_start',
      'ping',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(events[0].message.usage.input_tokens).to.be.above(0);
    expect(events[5].usage).to.include({ input_tokens: 1, cache_read_input_tokens: 39, output_tokens: 2 });
  });

  it('buffer fragments of calls that come mixed, and make an id where one is missing or its name comes late', async () => {
    const events = await streamed([
      delta(call(0, 'a', 'tide', '{"x"')),
      delta(call(1, undefined, undefined, '{"y":')),
      delta(call(0, undefined, undefined, ':1}')),
      delta(call(1, undefined, 'tide', '2}')),
      delta(call(2, 'd', 'tide', '')),
      delta({}, 'tool_calls'),
    ]);
    const blocks = events.filter(({ type }) => type === 'content_block_start').map(({ content_block: block }) => block);
    const inputOf = (index: number): string =>
      events
        .filter((event) => event.index === index && event.delta)
        .map(({ delta: piece }) => piece.partial_json)
        .join('');
    expect(blocks.map(({ name }) => name)).to.deep.equal(['tide', 'tide', 'tide']);
    expect([inputOf(0), inputOf(1), inputOf(2)]).to.deep.equal(['{"x":1}', '{"y":2}', '{}']);
    expect(blocks.every(({ id }) => typeof id === 'string' && id !== '')).to.equal(true);
    expect(events.at(-2).delta.stop_reason).to.equal('tool_use');
  });

  it('take the empty arguments of a call that come after what followed it, and no others', async () => {
    const late = (args: string): object[] => [
      delta(call(0, 'a', 'tide', '')),
      delta({ content: 'b' }),
      delta(call(0, undefined, undefined, args)),
      delta({}, 'tool_calls'),
    ];
    for (const args of ['{}', ' { }\n', ' ']) {
      const events = await streamed(late(args));
      expect(
        events
          .filter(({ type }) => type === 'content_block_delta')
          .map(({ delta: piece }) => piece.partial_json ?? piece.text),
        args,
      ).to.deep.equal(['{}', 'b']);
      expect(events.at(-1).type).to.equal('message_stop');
    }
    expect((await streamed(late('{"x":1}'))).at(-1).type).to.equal('error');
  });

  it('send a signature whole and once, before the end of its block', async () => {
    const item = (more: object): object => ({
      reasoning_details: [{ type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1', ...more }],
    });
    const events = await streamed([
      delta({ reasoning_content: 'hm', ...item({ text: 'hm' }) }),
      delta(item({ signature: 'c2' })),
      delta(item({ signature: 'ln' })),
      delta({ content: 'a' }),
      delta({}, 'stop'),
    ]);
    const signatures = events.filter(({ delta: piece }) => piece?.type === 'signature_delta');
    expect(signatures.map(({ delta: piece }) => piece.signature)).to.deep.equal(['c2ln']);
    expect(events[events.indexOf(signatures[0]) + 1].type).to.equal('content_block_stop');
  });

  it('keep what seals a thought of another vendor, though its text has the same index', async () => {
    const item = (more: object): object => ({ reasoning_details: [{ index: 0, format: 'google-gemini-v1', ...more }] });
    const thought = { reasoning_content: 'hm', ...item({ type: 'reasoning.text', text: 'hm' }) };
    const events = await streamed([
      delta(thought),
      delta(item({ type: 'reasoning.encrypted', data: 'k' })),
      delta({ content: 'a' }),
      delta({}, 'stop'),
    ]);
    const [signature] = events.flatMap(({ delta: piece }) =>
      piece?.type === 'signature_delta' ? [piece.signature] : [],
    );
    expect(openEnvelope(signature)).to.deep.equal([
      { type: 'reasoning.text', format: 'google-gemini-v1', index: 0 },
      { type: 'reasoning.encrypted', format: 'google-gemini-v1', index: 0, data: 'k' },
    ]);
  });

  it('end in an error of its type, without an end, where a guardrail refuses or the upstream breaks off', async () => {
    const guard = {
      plugins: [
        { name: 'word-filter', stage: 'after_request', enabled: true, config: { blocked_words: ['forbidden'] } },
      ],
    };
    for (const [chunks, config, type] of [
      [[delta({ content: 'forbidden' }), delta({}, 'stop')], guard, 'api_error'],
      [[delta({ content: 'a' }), { error: { message: 'it broke', type: 'server_error' } }], {}, 'api_error'],
    ] as const) {
      const events = await streamed(chunks, config);
      expect(events.at(-1).error.type).to.equal(type);
      expect(events.at(-1).request_id).to.match(/^[0-9a-f]{32}$/);
      expect(events.map((event) => event.type)).to.not.include('message_stop');
    }
  });
});

describe('arguments of calls that are not an object', () => {
  const ARGUMENTS = ['{"x":', '{"x":1', '[1]', 'null', '{x}', '{"x":1}}', '"a"'];
  const answer = (args: string, finish: string, more: object = {}): object => ({
    choices: [
      {
        index: 0,
        finish_reason: finish,
        message: {
          role: 'assistant',
          content: 'a',
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'tide', arguments: args } }],
        },
      },
    ],
    ...more,
  });
  const gateway = (args: string, finish: string): Promise<Gateway> =>
    crossWire((seen, response) => {
      if (!seen.json().stream) {
        replyJson(response, 200, answer(args, finish));
        return;
      }
      openSse(response);
      const piece = (delta: object, end: string | null = null): string =>
        sseEvent({ id: 'c', choices: [{ index: 0, delta, finish_reason: end }] });
      response.end(
        piece({ content: 'a' }) +
          piece({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'tide', arguments: '' } }] }) +
          piece({ tool_calls: [{ index: 0, function: { arguments: args } }] }) +
          piece({}, finish) +
          'data: [DONE]\n\n',
      );
    });

  it('are an error of the provider, whole and at the end of a stream: no client runs a tool with a part of them', async () => {
    for (const args of ARGUMENTS) {
      const { post } = await gateway(args, 'tool_calls');
      expect((await post({ ...hello, tools: [TOOL] })).status, args).to.equal(502);
      const events = eventsOf((await post({ ...hello, tools: [TOOL], stream: true })).text);
      expect(
        [events.at(-1).type, events.at(-1).error?.type, events.at(-1).error?.details.error_code],
        args,
      ).to.deep.equal(['error', 'api_error', 'upstream_error']);
      expect(events.map(({ type }) => type)).to.not.include.oneOf(['message_delta', 'message_stop']);
    }
  });

  it('leave as they came in a stream that says that it was cut off', async () => {
    const { post } = await gateway('{"x":', 'length');
    const events = eventsOf((await post({ ...hello, tools: [TOOL], stream: true })).text);
    expect(events.at(-1).type).to.equal('message_stop');
    expect(events.at(-2).delta.stop_reason).to.equal('max_tokens');
  });

  it('are objects or blank, else', async () => {
    for (const args of ['', ' ', '{}', ' {"x":[{"}":"]"}]}\n', '{"n":12345678901234567890}']) {
      const { post } = await gateway(args, 'tool_calls');
      expect((await post({ ...hello, tools: [TOOL] })).status, args).to.equal(200);
      expect(eventsOf((await post({ ...hello, tools: [TOOL], stream: true })).text).at(-1).type, args).to.equal(
        'message_stop',
      );
    }
  });
});

describe('an answer whose provider does not count', () => {
  it('counts the same whole and streamed: texts, thoughts and arguments', async () => {
    const delta = {
      content: 'four words of text',
      reasoning_content: 'and some of thought',
      tool_calls: [
        { index: 0, id: 'c', type: 'function', function: { name: 'tide', arguments: '{"at":"noon, or later"}' } },
      ],
    };
    const { post } = await crossWire((seen, response) => {
      if (!seen.json().stream) {
        replyJson(response, 200, {
          choices: [{ index: 0, message: { role: 'assistant', ...delta }, finish_reason: 'tool_calls' }],
        });
        return;
      }
      openSse(response);
      response.end(
        `${sseEvent({ id: 'c', choices: [{ index: 0, delta, finish_reason: 'tool_calls' }] })}data: [DONE]\n\n`,
      );
    });
    const { usage } = (await post({ ...hello, tools: [TOOL] })).json();
    const streamed = eventsOf((await post({ ...hello, tools: [TOOL], stream: true })).text).at(-2).usage;
    expect([usage.input_tokens, usage.output_tokens]).to.deep.equal([
      streamed.input_tokens,
      Math.ceil((18 + 19 + 23) / 4),
    ]);
    expect(streamed.output_tokens).to.equal(usage.output_tokens);
  });
});

describe('the array form of a Gemini stream', () => {
  it('has an error in a list where nothing had begun, and each element for itself where it had', async () => {
    const upstream = await stubUpstream((_request, response) => replyJson(response, 500, { error: { message: 'no' } }));
    const host: TestHost = await startHost({
      strategy: { mode: 'single' },
      targets: [upstream.target('a', { models: ['m'] })],
    });
    const failed = await host.post('/v1beta/models/m:streamGenerateContent', CONTENTS);
    expect(failed.status).to.equal(502);
    expect(failed.json()[0].error.status).to.equal('UNAVAILABLE');
    expect((await host.post('/v1beta/models/m:streamGenerateContent?alt=sse', CONTENTS)).json().error.status).to.equal(
      'UNAVAILABLE',
    );
  });
});
