import { expect } from 'chai';
import Joi from 'joi';
import { definePlugin, rewrite } from 'gw/contract';
import { ask, chatReply, replyJson, replyStream, type StubHandler } from '../kit/index.ts';
import { PLANTED, ROOT } from '../wire/planted-wire.ts';
import { calling, CHAT, setUp, type Setup, stdio, toolContents } from './setup.ts';

describe('the loop of tool calls', () => {
  it('offers the tools, runs what the model calls, and answers with what it says then', async () => {
    const setup = await setUp([stdio('files')], { turns: [calling([['echo', { a: 'x' }, 'c1']]), chatReply('done')] });
    const answer = await setup.chat();
    expect([answer.status, answer.json().choices[0].message.content]).to.deep.equal([200, 'done']);
    const [first, second] = setup.sent();
    expect(first.tools).to.deep.equal([
      {
        type: 'function',
        function: {
          name: 'echo',
          description: 'does echo',
          parameters: { type: 'object', properties: { a: { type: 'string' } } },
        },
      },
    ]);
    expect(second.tools).to.deep.equal(first.tools);
    expect(second.messages.slice(1)).to.deep.equal([
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'echo', arguments: '{"a":"x"}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'echo {"a":"x"}' },
    ]);
    expect(answer.json().usage).to.deep.include({ prompt_tokens: 22, completion_tokens: 14, total_tokens: 36 });
    expect(answer.headers.get('x-gateway-attempts')).to.equal('2');
    expect(toolContents(second.messages)).to.have.lengthOf(1);
  });

  it('takes no part where the caller brings tools, and does where it brings an empty list', async () => {
    const setup = await setUp([stdio('files')]);
    const tool = { type: 'function', function: { name: 'own', parameters: {} } };
    await setup.chat({ tools: [tool] });
    await setup.chat({ tools: [] });
    expect(setup.sent().map(({ tools }) => tools.map((each: any) => each.function.name))).to.deep.equal([
      ['own'],
      ['echo'],
    ]);
  });

  it('is decided before plugins: tools that a plugin adds stand beside those of the servers', async () => {
    const adding = definePlugin({
      name: 'adding',
      type: 'transform',
      summary: 'For this test',
      stages: ['before_request'],
      settings: Joi.object({}),
      keepsModel: true,
      create: () => ({
        before_request: ({ request }) =>
          rewrite({
            ...request,
            tools: [
              { type: 'function', function: { name: 'echo', parameters: {} } },
              { type: 'function', function: { name: 'added', parameters: {} } },
            ],
          }),
      }),
    });
    const setup = await setUp([stdio('files', { tools: ['echo', 'pid'] })], {
      turns: [calling([['added']])],
      modules: [adding],
      config: { plugins: [{ name: 'adding', stage: 'before_request', enabled: true }] },
    });
    const answer = await setup.chat();
    expect(setup.sent()[0].tools.map((each: any) => each.function.name)).to.deep.equal(['echo', 'added', 'pid']);
    expect(answer.json().choices[0].message.tool_calls[0].function.name, 'the caller runs it').to.equal('added');
  });

  it('serves completions, and leaves clients of another wire alone', async () => {
    const setup = await setUp([stdio('files')], { turns: [calling([['echo']]), chatReply('done')], builtins: PLANTED });
    const answer = await setup.t.post('/v1/completions', { model: 'm', prompt: 'hi' });
    expect([answer.status, answer.json().choices[0].text, setup.sent().length]).to.deep.equal([200, 'done', 2]);
    expect((await setup.t.post(`${ROOT}/chat`, { model: 'm', say: 'hi' })).status).to.equal(200);
    expect(setup.sent().map(({ tools }) => tools?.length)).to.deep.equal([1, 1, undefined]);
  });

  it('gives mixed calls, and calls of tools that no server has, to the client untouched', async () => {
    for (const names of [['echo', 'theirs'], ['theirs']]) {
      const setup = await setUp([stdio('files')], { turns: [calling(names.map((name) => [name] as const))] });
      const {
        choices: [choice],
      } = (await setup.chat()).json();
      expect([
        choice.finish_reason,
        choice.message.tool_calls.map((call: any) => call.function.name),
        setup.sent().length,
      ]).to.deep.equal(['tool_calls', names, 1]);
      expect(setup.t.samples.filter(({ name }) => name === 'gw_mcp_unknown_tool_calls_total')).to.deep.equal([]);
    }
  });

  it('runs only the first choice whose calls all belong to servers', async () => {
    const choice = (index: number, names: readonly string[]): object => ({
      index,
      finish_reason: 'tool_calls',
      message: {
        role: 'assistant',
        content: null,
        tool_calls: names.map((name, at) => ({
          id: `${index}-${at}`,
          type: 'function',
          function: { name, arguments: '{}' },
        })),
      },
    });
    const setup = await setUp([stdio('files')], {
      turns: [
        chatReply('', { choices: [choice(0, ['theirs']), choice(1, ['echo']), choice(2, ['echo', 'echo'])] }),
        chatReply('done'),
      ],
    });
    await setup.chat({ n: 3 });
    expect(
      setup
        .messages()
        .slice(1)
        .map((message: any) => message.tool_call_id ?? message.tool_calls[0].id),
    ).to.deep.equal(['1-0', '1-0']);
  });

  it('runs 64 calls of a turn and drops the rest, in the message of the model too', async () => {
    const setup = await setUp([stdio('files')], {
      turns: [calling(Array.from({ length: 70 }, (_, at) => ['echo', { at }] as const)), chatReply('done')],
    });
    await setup.chat();
    const [, assistant, ...results] = setup.messages();
    expect(assistant.tool_calls).to.have.lengthOf(64);
    expect(results.map(({ tool_call_id: id }: any) => id)).to.deep.equal(assistant.tool_calls.map(({ id }: any) => id));
    expect(toolContents(results)[63]).to.equal('echo {"at":63}');
  });

  it('runs the calls of a turn side by side, at most eight at one server, and gives the results in their order', async () => {
    const calls = Array.from({ length: 20 }, (_, at) => [at % 2 === 0 ? 'busy' : 'echo', { at }] as const);
    const setup = await setUp(
      [stdio('one', { tools: ['busy'] }, { max_result_bytes: 5 }), stdio('two', { tools: ['echo'] })],
      { turns: [calling([...calls, ...calls]), chatReply('done')] },
    );
    await setup.chat();
    const contents = toolContents(setup.messages());
    const atOnce = contents.filter((_, at) => at % 2 === 0).map(Number);
    expect(atOnce).to.have.lengthOf(20);
    expect(Math.max(...atOnce)).to.be.within(2, 8);
    expect(contents.filter((_, at) => at % 2 === 1)).to.deep.equal(
      [...calls, ...calls].filter(([name]) => name === 'echo').map(([, { at }]) => `echo {"at":${at}}`),
    );
  });

  it('ends after as many rounds as the smallest limit says: calls of servers are taken out, and the answer was cut', async () => {
    const limits = [{ max_call_depth: 3 }, { max_call_depth: 2 }, { max_call_depth: 0 }];
    const servers = limits.map((limit, at) => stdio(`s${at}`, { tools: [`t${at}`] }, limit));
    const setup = await setUp(servers, { turns: [calling([['t0']])] });
    const {
      choices: [choice],
    } = (await setup.chat()).json();
    expect([setup.sent().length, choice.finish_reason, choice.message.tool_calls]).to.deep.equal([
      3,
      'length',
      undefined,
    ]);
  });

  it('allows five rounds unless said, and keeps the calls of the client at its end', async () => {
    const setup = await setUp([stdio('files')], {
      turns: [...Array.from({ length: 5 }, () => calling([['echo']])), calling([['echo'], ['theirs']])],
    });
    const {
      choices: [choice],
    } = (await setup.chat()).json();
    expect([
      setup.sent().length,
      choice.finish_reason,
      choice.message.tool_calls.map((call: any) => call.function.name),
    ]).to.deep.equal([6, 'length', ['theirs']]);
  });

  it('sends the result of each call as the model reads it', async () => {
    const tools = ['blocks', 'nothing', 'structured', 'failing', 'silentFailure', 'refuse', 'garbage', 'echo'];
    const calls = [
      ...tools.slice(0, 7).map((name) => [name] as const),
      ['echo', ''] as const,
      ['echo', '{"a":'] as const,
      ['echo', '12'] as const,
      ['echo', '{"big":12345678901234567890}'] as const,
    ];
    const setup = await setUp([stdio('s', { tools })], { turns: [calling(calls), chatReply('done')] });
    await setup.chat();
    expect(toolContents(setup.messages())).to.deep.equal([
      '[{"type":"text","text":"one"},{"type":"image","data":"AAAA","mimeType":"image/png"}]',
      '',
      '{"a":1}',
      'no such file',
      '{"error":"the tool call failed"}',
      '{"error":"the tool call failed"}',
      'after the garbage',
      'echo {}',
      '{"error":"the arguments of the call are not a JSON object"}',
      '{"error":"the arguments of the call are not a JSON object"}',
      'echo {"big":12345678901234567000}',
    ]);
  });

  it('cuts the text of a long result, between characters, and says so', async () => {
    const setup = await setUp(
      [stdio('s', { tools: ['long'] }, { max_result_bytes: 1001 }), stdio('d', { tools: ['long2'] })],
      { turns: [calling([['long']]), chatReply('done')] },
    );
    await setup.chat();
    expect(toolContents(setup.messages())).to.deep.equal([
      `${'é'.repeat(500)}\n[the result was cut: it exceeds the limit of 1001 bytes]`,
    ]);
  });

  it('answers a client that asked for a stream with one chunk, after the whole loop', async () => {
    const setup = await setUp([stdio('files')], { turns: [calling([['echo']]), chatReply('done')] });
    const answer = await setup.chat({ stream: true });
    const [chunk, end, ...more] = answer.events();
    expect([answer.status, answer.headers.get('content-type'), end, more]).to.deep.equal([
      200,
      'text/event-stream',
      '[DONE]',
      [],
    ]);
    expect(chunk).to.deep.include({ object: 'chat.completion.chunk', model: 'm' });
    expect(chunk.choices).to.deep.equal([
      { index: 0, delta: { role: 'assistant', content: 'done' }, finish_reason: 'stop' },
    ]);
    expect(chunk.usage).to.deep.include({ total_tokens: 36 });
    expect(setup.sent().map(({ stream, stream_options: options }) => [stream, options])).to.deep.equal([
      [undefined, undefined],
      [undefined, undefined],
    ]);
    const without = await setup.chat({ stream: true, stream_options: { include_usage: false } });
    expect(without.events()[0]).to.not.have.property('usage');
  });

  it('goes without tools, and streams, while no server is ready', async () => {
    const setup = await setUp(
      [
        stdio('silent', { isSilent: true }),
        { name: 'broken', command: '/nonexistent/server' },
        { name: 'undefined', command: 'x', env: { A: '${NOT_SET}' } },
      ],
      {
        waits: false,
        turns: [
          (request, response) =>
            request.json()['stream'] ? replyStream(response, ['a', 'b']) : replyJson(response, 200, chatReply('plain')),
        ],
      },
    );
    expect((await setup.chat()).json().choices[0].message.content).to.equal('plain');
    expect((await setup.chat({ stream: true })).events().length).to.be.greaterThan(2);
    expect(setup.sent().map(({ tools }) => tools)).to.deep.equal([undefined, undefined]);
  });

  it('takes the tools of the first ready server that has a name, in the order of the configuration, and only allowed ones', async () => {
    const setup = await setUp([
      stdio('one', { tools: ['pid', 'hidden', 'both'] }, { allowed_tools: ['both'] }),
      stdio('two', { tools: ['both', 'hidden', 'more'] }, { allowed_tools: ['more', 'both'] }),
    ]);
    await setup.chat();
    expect(setup.sent()[0].tools.map((each: any) => each.function.name)).to.deep.equal(['both', 'more']);
    expect(
      setup.t.host
        .current!.hooks.toolServers.call()!
        .tools()
        .map(({ server, tool }) => `${server} ${tool.name}`),
    ).to.deep.equal(['one both', 'two more']);
  });

  it('shows a key the tools that it may use', async () => {
    const setup = await setUp([stdio('one', { tools: ['a', 'b'] }), stdio('two', { tools: ['c', 'd'] })]);
    const { key } = (await setup.t.post('/admin/keys', { name: 'k', mcp_tools: ['b', 'two/*'] })).json();
    await setup.t.post(CHAT, ask(), { authorization: `Bearer ${key}` });
    expect(setup.sent()[0].tools.map((each: any) => each.function.name)).to.deep.equal(['b', 'c', 'd']);
  });

  it('names a tool that vanished before it could be called, and counts it', async () => {
    let setup: Setup;
    const vanish: StubHandler = async (_request, response) => {
      for (const each of setup.connections()) each.kill();
      replyJson(response, 200, calling([['echo']]));
    };
    setup = await setUp([stdio('files')], { turns: [vanish, chatReply('done')] });
    await setup.chat();
    expect(toolContents(setup.messages())).to.deep.equal(['{"error":"the tool \\"echo\\" was not found"}']);
    expect(setup.t.samples).to.deep.include({
      name: 'gw_mcp_unknown_tool_calls_total',
      labels: { tool_name: 'echo' },
      value: 1,
    });
  });

  it('has the deadline of the request for all of it', async () => {
    const setup = await setUp([stdio('files', { tools: ['hang'] })], {
      turns: [calling([['hang']])],
      config: { request_timeout: '300ms' },
    });
    const answer = await setup.chat();
    expect([answer.status, answer.json().error.code]).to.deep.equal([504, 'gateway_timeout']);
  });
});
