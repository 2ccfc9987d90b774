import { join } from 'node:path';
import { expect } from 'chai';
import { MASTER_KEY, replyJson, stubUpstream, temporaryFolder } from '../kit/index.ts';
import { eventsOf, eventText, hello, sameWire, VENDOR_EVENTS, vendorMessage, VERSION } from './messages-kit.ts';

const BODY =
  '{ "model" : "claude-x",\n "max_tokens":64, "x":{"a":1,"a":2.50}, "big": 12345678901234567890, "messages":[ {"role":"user","content":[{"type":"text","text":"\\u00e9\\/ \\"q\\""},{"type":"unknown_block","of":"tomorrow"}]} ] }';

/** An answer of which something can be read. */
const BEGUN = VENDOR_EVENTS.slice(0, 4);

describe('Messages to the vendor itself', () => {
  it('are its bytes, answer and all', async () => {
    const reply = JSON.stringify(
      vendorMessage([
        { type: 'text', text: 'hello', citations: null },
        { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} },
      ]),
    );
    const { upstream, post } = await sameWire((_request, response) => {
      response
        .writeHead(200, {
          'content-type': 'application/json',
          'request-id': 'req_vendor',
          'anthropic-ratelimit-x': '1',
        })
        .end(reply);
    });
    const answer = await post(BODY, {
      'anthropic-version': '2026-10-21',
      'anthropic-beta': 'one-2026,oauth-2025-04-20, two-2026',
    });
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.text).to.equal(reply);
    expect(answer.headers.get('request-id')).to.equal(answer.headers.get('x-request-id'));
    expect(answer.headers.get('anthropic-ratelimit-x')).to.equal(null);
    const [seen] = upstream.seen;
    expect(seen?.text).to.equal(BODY);
    expect(seen?.url).to.equal('/v1/messages');
    expect(seen?.headers).to.include({
      'anthropic-version': '2026-10-21',
      'anthropic-beta': 'one-2026,two-2026',
      'x-api-key': 'vendor-key-0123456789',
      'content-type': 'application/json',
    });
    expect(JSON.stringify(seen?.headers)).to.not.include(MASTER_KEY);
    for (const [name, value] of [
      ['x-gateway-provider', 'anthropic'],
      ['x-gateway-model', 'claude-x'],
      ['x-gateway-attempts', '1'],
      ['x-gateway-target', 'anthropic'],
    ])
      expect(answer.headers.get(name ?? ''), name).to.equal(value);
  });

  it('written for a model that takes late system messages have them in turns of the user for one that does not', async () => {
    const { host, upstream, post } = await sameWire(
      (_request, response) =>
        replyJson(response, 200, vendorMessage([{ type: 'text', text: 'a' }], { input_tokens: 7 })),
      {
        aliases: { 'claude-opus-4-8': 'claude-sonnet-4-6' },
        models: [{ name: 'smart', routes: [{ target: 'anthropic', model: 'claude-sonnet-4-6' }] }],
      },
    );
    const late = (model: string): object => ({
      model,
      max_tokens: 64,
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'system', content: 'be brief' },
      ],
    });
    const inTurn = [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'hi' },
          { type: 'text', text: '<system>\nbe brief\n</system>' },
        ],
      },
    ];
    for (const [asked, messages] of [
      ['claude-opus-4-8', inTurn],
      ['smart', inTurn],
      ['claude-opus-5', (late('') as { messages: unknown }).messages],
    ] as const) {
      const answer = await post(late(asked));
      expect(answer.status, answer.text).to.equal(200);
      expect(upstream.seen.at(-1)?.json()['messages'], asked).to.deep.equal(messages);
      expect(answer.headers.get('x-gateway-ignored-params'), asked).to.equal(
        messages === inTurn ? 'messages[1].role' : null,
      );
      await host.post('/v1/messages/count_tokens', late(asked));
      expect(upstream.seen.at(-1)?.json()['messages'], `${asked}, counted`).to.deep.equal(messages);
    }
  });

  it('leave a line that says so', async () => {
    const { host, post } = await sameWire(
      (_request, response) =>
        replyJson(response, 200, vendorMessage([{ type: 'text', text: 'a' }]), { 'request-id': 'req_vendor' }),
      {},
      { variables: { LOG_LEVEL: 'debug' } },
    );
    await post(hello, { 'session-id': 'second', 'x-claude-code-session-id': 'first' });
    const line = host.lines.find(({ msg }) => msg === 'request completed');
    expect(line).to.include({
      surface: 'messages',
      client_wire: 'messages',
      same_wire: true,
      session_id: 'first',
      upstream_request_id: 'req_vendor',
      tokens_in: 15,
    });
  });

  it('leave a row that says so, of the target that answered, or failed last', async () => {
    let status = 200;
    const other = await stubUpstream((_request, response) =>
      replyJson(
        response,
        200,
        {
          id: 'x',
          model: 'up',
          choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }],
        },
        { 'x-request-id': 'req_other' },
      ),
    );
    const { host, post } = await sameWire(
      (_request, response) =>
        replyJson(
          response,
          status,
          status === 200
            ? vendorMessage([{ type: 'text', text: 'a' }])
            : { type: 'error', error: { type: 'invalid_request_error', message: 'no' } },
          { 'request-id': 'req_vendor' },
        ),
      {
        strategy: { mode: 'fallback' },
        targets: [{ virtual_key: 'anthropic', models: ['claude-x'] }, other.target('b', { models: ['claude-x'] })],
        plugins: ['after_request', 'on_error'].map((stage) => ({
          name: 'request-logger',
          stage,
          enabled: true,
          config: { persist: true },
        })),
      },
      {
        variables: {
          REQUEST_LOG_STORE_BACKEND: 'sqlite',
          REQUEST_LOG_STORE_DSN: join(await temporaryFolder(), 'log.db'),
        },
      },
    );
    for (status of [200, 503, 400]) await post(hello, { 'x-session-id': 'mine', 'session-id': 'other' });
    const facts = { surface: 'messages', client_wire: 'messages', session_id: 'mine' };
    const { data } = (await host.get('/admin/logs')).json();
    expect(data[2]).to.deep.include({
      ...facts,
      same_wire: true,
      upstream_request_id: 'req_vendor',
      target: 'anthropic',
    });
    expect(data[1]).to.deep.include({ ...facts, same_wire: false, upstream_request_id: 'req_other', target: 'b' });
    expect(data[0]).to.deep.include({
      ...facts,
      same_wire: true,
      upstream_request_id: 'req_vendor',
      stage: 'on_error',
    });
  });

  it('differ in the model alone behind an alias', async () => {
    const { upstream, post } = await sameWire(
      (_request, response) => replyJson(response, 200, vendorMessage([{ type: 'text', text: 'a' }])),
      { aliases: { 'claude-alias': 'claude-y' } },
    );
    const answer = await post(BODY.replace('claude-x', 'claude-alias'), {
      'x-api-key': MASTER_KEY,
      authorization: 'Bearer sk-ant-login',
    });
    expect(answer.status, answer.text).to.equal(200);
    expect(upstream.seen[0]?.text).to.equal(BODY.replace('claude-x', 'claude-y'));
    expect(upstream.seen[0]?.headers['anthropic-version']).to.equal(VERSION);
  });

  it('stream in its bytes, the last event once all is well', async () => {
    const text = VENDOR_EVENTS.map(eventText).join('');
    const { host, post } = await sameWire((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const byte of Buffer.from(text)) response.write(Buffer.from([byte]));
      response.end();
    });
    const answer = await post({ ...hello, stream: true });
    expect(answer.text).to.equal(text);
    expect(answer.headers.get('content-type')).to.equal('text/event-stream; charset=utf-8');
    const counted = host.samples.filter(({ name }) => name.includes('tokens'));
    expect(JSON.stringify(counted)).to.include('9');
  });

  it("fail with the vendor's message where the request is wrong", async () => {
    const { post } = await sameWire((_request, response) =>
      replyJson(response, 400, {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'messages.0.content.0.thinking: Invalid `signature` in `thinking` block',
        },
      }),
    );
    const answer = await post(hello);
    expect(answer.status).to.equal(400);
    expect(answer.json().error.message).to.include('Invalid `signature` in `thinking` block');
  });

  for (const [what, body] of [
    ['a page', '<html>\n<body>busy</body>\n\n</html>'],
    ['an error as JSON', '{"error":{"message":"inside"}}\n\n'],
    ['comments', ': one\n\n: two\n\n'],
    ['nothing', ''],
  ]) {
    it(`fail, and go to the next target, where ${what} comes for a stream`, async () => {
      const { upstream, post } = await sameWire(
        (_request, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' }).end(body);
        },
        {
          targets: [{ virtual_key: 'anthropic', models: ['claude-x'], retry: { attempts: 2, initial_backoff_ms: 1 } }],
        },
      );
      const answer = await post({ ...hello, stream: true });
      expect(answer.status, answer.text).to.equal(502);
      expect(answer.json()).to.have.nested.property('error.type', 'api_error');
      expect(upstream.seen.length).to.be.greaterThan(1);
    });
  }

  it('stream with the comments that came before the first event', async () => {
    const text = VENDOR_EVENTS.map(eventText).join('');
    const { post } = await sameWire((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`: busy\n\n${text}`);
    });
    expect((await post({ ...hello, stream: true })).text).to.equal(`: busy\n\n${text}`);
  });

  for (const [what, error] of [
    ['an object', { message: 'the backend is away' }],
    ['a text', 'the backend is away'],
  ] as const) {
    it(`end a stream with an error that does not say that it is one: ${what}`, async () => {
      const { post } = await sameWire((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(
          `${BEGUN.map(eventText).join('')}data: ${JSON.stringify({ error })}\n\n${eventText({ type: 'ping' })}`,
        );
      });
      const events = eventsOf((await post({ ...hello, stream: true })).text);
      expect(events.map(({ type }) => type)).to.deep.equal([...BEGUN.map(({ type }) => type), 'error']);
      expect(events.at(-1).error.message).to.equal('the backend is away');
    });
  }

  it('end a stream with the type of its error', async () => {
    const { post } = await sameWire((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(
        BEGUN.map(eventText).join('') +
          eventText({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
      );
    });
    const answer = await post({ ...hello, stream: true });
    expect(answer.status).to.equal(200);
    const last = answer.text.split('\n\n').at(-2) ?? '';
    expect(last.startsWith('event: error\n')).to.equal(true);
    expect(JSON.parse(last.slice(last.indexOf('data: ') + 6)))
      .to.deep.include({ type: 'error' })
      .and.have.nested.property('error.type', 'overloaded_error');
    expect(JSON.parse(last.slice(last.indexOf('data: ') + 6)).error.message).to.equal('Overloaded');
  });

  it('leave out the half of an event with which a stream breaks off', async () => {
    const whole = VENDOR_EVENTS.slice(0, 7).map(eventText).join('');
    for (const half of [
      'event: content_block_delta\ndata: {"type":"content_bl',
      'event: content_block_delta\n',
      'event: conten',
      'data: ',
      'event: message_stop',
      'event: message_stop\ndata: {"type":"message_stop"',
    ]) {
      const { post } = await sameWire((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(whole + half);
      });
      const answer = await post({ ...hello, stream: true });
      expect(answer.text.slice(0, whole.length), half).to.equal(whole);
      expect(
        eventsOf(answer.text.slice(whole.length)).map(({ type }) => type),
        half,
      ).to.deep.equal(['error']);
    }
  });

  it('end with the event of an upstream that breaks off within it, once all of the answer has come', async () => {
    const whole = VENDOR_EVENTS.slice(0, -1).map(eventText).join('');
    for (const half of [
      '',
      'event: message_stop',
      'event: message_stop\n',
      'event: message_stop\ndata: {"type":',
      'event: message_stop\ndata: {"type":"message_stop"}',
    ]) {
      const { post } = await sameWire((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(whole + half);
      });
      expect((await post({ ...hello, stream: true })).text, half).to.equal(
        `${whole}event: message_stop\ndata: {"type":"message_stop"}\n\n`,
      );
    }
  });

  it('count by the vendor, or by an estimate where it does not', async () => {
    let status = 200;
    const { upstream, host } = await sameWire((_request, response) =>
      replyJson(
        response,
        status,
        status === 200
          ? { input_tokens: 77 }
          : { type: 'error', error: { type: 'invalid_request_error', message: 'no' } },
      ),
    );
    const { max_tokens: _none, ...body } = hello;
    const counted = await host.post('/v1/messages/count_tokens', body);
    expect(counted.json()).to.deep.equal({ input_tokens: 77 });
    expect(counted.headers.get('x-gateway-token-count')).to.equal('vendor');
    expect(upstream.seen[0]?.url).to.equal('/v1/messages/count_tokens');
    expect(upstream.seen[0]?.text).to.equal(JSON.stringify(body));
    status = 529;
    const estimated = await host.post('/v1/messages/count_tokens', body);
    expect(estimated.json()).to.deep.equal({ input_tokens: 5 });
    expect(estimated.headers.get('x-gateway-token-count')).to.equal('estimate');
    status = 400;
    const refused = await host.post('/v1/messages/count_tokens', body);
    expect(refused.status).to.equal(400);
    expect(refused.json().type).to.equal('error');
  });

  for (const [what, body] of [
    ['nothing', ''],
    ['a page', '<html></html>'],
    ['half an answer', '{"input_tokens":1'],
    ['an error', '{"type":"error","error":{"type":"api_error","message":"inside"}}'],
    ['a number that is a text', '{"input_tokens":"7"}'],
  ]) {
    it(`count by an estimate where the vendor answers 200 with ${what}`, async () => {
      const { host } = await sameWire((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(body);
      });
      const answer = await host.post('/v1/messages/count_tokens', { model: 'claude-x', messages: hello.messages });
      expect([answer.status, answer.json(), answer.headers.get('x-gateway-token-count')]).to.deep.equal([
        200,
        { input_tokens: 5 },
        'estimate',
      ]);
    });
  }
});
