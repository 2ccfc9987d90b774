import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import Joi from 'joi';
import { answer, type ChatReply, type ChatRequest, definePlugin, reject } from 'gw/contract';
import {
  type Answer,
  ask,
  chatReply,
  fakeClock,
  MASTER_KEY,
  openSse,
  replyJson,
  sseEvent,
  type StubHandler,
} from '../kit/index.ts';
import { type Call, CHAT, setUp, stdio } from './setup.ts';

const HEAD = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'upstream-model' };
const USAGE = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };

interface Said {
  readonly text?: readonly string[];
  readonly calls?: readonly Call[];
  /** Text that comes behind the calls. */
  readonly after?: string;
  readonly id?: string;
}

/** A streamed turn: pieces of text, then calls, each in two deltas. */
function streamed({ text = [], calls = [], after, id = 'c' }: Said): StubHandler {
  const chunk = (delta: object, finish_reason: string | null = null): string =>
    sseEvent({ ...HEAD, id, choices: [{ index: 0, delta, finish_reason }] });
  return (_request, response) => {
    openSse(response);
    response.write(chunk({ role: 'assistant', content: '' }));
    for (const piece of text) response.write(chunk({ content: piece }));
    calls.forEach(([name, args = {}], index) => {
      response.write(
        chunk({ tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: '' } }] }),
      );
      response.write(chunk({ tool_calls: [{ index, function: { arguments: JSON.stringify(args) } }] }));
    });
    if (after !== undefined) response.write(chunk({ content: after }));
    response.write(chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'));
    response.end(sseEvent({ ...HEAD, id, choices: [], usage: USAGE }) + sseEvent('[DONE]'));
  };
}

const choicesIn = (answer: Answer): any[] => answer.events().flatMap((event) => event.choices ?? []);
const textIn = (answer: Answer): string =>
  choicesIn(answer)
    .map(({ delta }) => delta.content ?? '')
    .join('');
const finishesIn = (answer: Answer): string[] => choicesIn(answer).flatMap(({ finish_reason: finish }) => finish ?? []);
const rolesIn = (answer: Answer): string[] => choicesIn(answer).flatMap(({ delta }) => delta.role ?? []);
const usagesIn = (answer: Answer): any[] => answer.events().flatMap((event) => event.usage ?? []);
const callsIn = (answer: Answer): any[] => choicesIn(answer).flatMap(({ delta }) => delta.tool_calls ?? []);

const STREAM = { config: { mcp: { stream: true } } };

describe('a loop of tool calls whose turns are streamed', () => {
  for (const stream of [true, false])
    it(`keeps the status of its failure, however long the model is silent, mcp.stream ${stream}`, async () => {
      const clock = fakeClock();
      const asked = Promise.withResolvers<ServerResponse>();
      const turns: StubHandler[] = [(_request, response) => asked.resolve(response)];
      const setup = await setUp([stdio('files')], { config: { mcp: { stream } }, clock, turns });
      const answer = setup.chat({ stream: true });
      const response = await asked.promise;
      clock.advance(60_000);
      replyJson(response, 400, { error: { message: 'not today' } });
      expect([(await answer).status, (await answer).json().error.message]).to.deep.equal([400, 'not today']);
    });

  it('relays text as it comes, and nothing of the calls: one role, one finish, one usage', async () => {
    const setup = await setUp([stdio('files')], {
      ...STREAM,
      turns: [
        streamed({ text: ['let me ', 'look'], calls: [['echo', { a: 'x' }]], after: 'unseen', id: 'one' }),
        streamed({ text: ['. done'], id: 'two' }),
      ],
    });
    const answer = await setup.chat({ stream: true });
    expect([textIn(answer), rolesIn(answer), finishesIn(answer), callsIn(answer)]).to.deep.equal([
      'let me look. done',
      ['assistant'],
      ['stop'],
      [],
    ]);
    expect(usagesIn(answer)).to.have.lengthOf(1);
    expect(usagesIn(answer)[0]).to.deep.include({ prompt_tokens: 20, completion_tokens: 4, total_tokens: 24 });
    expect(new Set(answer.events().flatMap((event) => event.id ?? []))).to.deep.equal(new Set(['one']));
    expect(answer.events().at(-1)).to.equal('[DONE]');
    expect(setup.sent().map(({ stream }) => stream)).to.deep.equal([true, true]);
    expect(setup.messages().slice(1)).to.deep.equal([
      {
        role: 'assistant',
        content: 'let me lookunseen',
        tool_calls: [{ id: 'call_0', type: 'function', function: { name: 'echo', arguments: '{"a":"x"}' } }],
      },
      { role: 'tool', tool_call_id: 'call_0', content: 'echo {"a":"x"}' },
    ]);
  });

  it('begins before the loop is over', async () => {
    const gate = Promise.withResolvers<void>();
    const setup = await setUp([stdio('files')], {
      ...STREAM,
      turns: [
        streamed({ text: ['early'], calls: [['echo']] }),
        async (request, response) => {
          await gate.promise;
          await streamed({ text: ['late'] })(request, response);
        },
      ],
    });
    const response = await fetch(`${setup.t.url}${CHAT}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(ask('hi', { stream: true })),
    });
    let text = '';
    for await (const bytes of response.body!) {
      text += Buffer.from(bytes).toString('utf8');
      if (text.includes('early')) gate.resolve();
    }
    expect(text.indexOf('late')).to.be.greaterThan(text.indexOf('early'));
  });

  it('leaves usage out where the client opted out', async () => {
    const setup = await setUp([stdio('files')], {
      ...STREAM,
      turns: [streamed({ calls: [['echo']] }), streamed({ text: ['done'] })],
    });
    const answer = await setup.chat({ stream: true, stream_options: { include_usage: false } });
    expect([textIn(answer), usagesIn(answer)]).to.deep.equal(['done', []]);
  });

  it('gives the calls of the caller to it, whole', async () => {
    const setup = await setUp([stdio('files')], {
      ...STREAM,
      turns: [streamed({ text: ['see'], calls: [['theirs', { b: 1 }], ['echo']] })],
    });
    const answer = await setup.chat({ stream: true });
    expect([textIn(answer), finishesIn(answer)]).to.deep.equal(['see', ['tool_calls']]);
    expect(
      callsIn(answer).map((call) => [call.index, call.function.name ?? '', call.function.arguments]),
    ).to.deep.equal([
      [0, 'theirs', ''],
      [0, '', '{"b":1}'],
      [1, 'echo', ''],
      [1, '', '{}'],
    ]);
  });

  it('takes the calls of servers out at the limit', async () => {
    const setup = await setUp([stdio('files', {}, { max_call_depth: 1 })], {
      ...STREAM,
      turns: [streamed({ calls: [['echo']] }), streamed({ text: ['more?'], calls: [['echo'], ['theirs']] })],
    });
    const answer = await setup.chat({ stream: true });
    expect([
      textIn(answer),
      finishesIn(answer),
      callsIn(answer).map((call) => [call.index, call.function.name ?? '']),
    ]).to.deep.equal([
      'more?',
      ['length'],
      [
        [0, 'theirs'],
        [0, ''],
      ],
    ]);
  });

  const budget = definePlugin({
    name: 'second',
    type: 'guardrail',
    summary: 'For this test',
    stages: ['before_request'],
    settings: Joi.object({}),
    create: () => ({
      before_request: ({ request }) => ((request as ChatRequest).messages.length > 1 ? reject('too long') : undefined),
    }),
  });
  const guarded = {
    modules: [budget],
    config: { ...STREAM.config, plugins: [{ name: 'second', stage: 'before_request', enabled: true }] },
  };

  it('is refused in plain JSON while nothing has left', async () => {
    const setup = await setUp([stdio('files')], {
      ...guarded,
      turns: [streamed({ calls: [['echo']] }), streamed({ text: ['never'] })],
    });
    const answer = await setup.chat({ stream: true });
    expect([answer.status, answer.json().error.code, setup.sent().length]).to.deep.equal([400, 'request_rejected', 1]);
  });

  it('is refused with an event once something has left', async () => {
    const setup = await setUp([stdio('files')], {
      ...guarded,
      turns: [streamed({ text: ['hm'], calls: [['echo']] }), streamed({ text: ['never'] })],
    });
    const answer = await setup.chat({ stream: true });
    expect([answer.status, textIn(answer), answer.events().at(-1).error.type]).to.deep.equal([
      200,
      'hm',
      'stream_error',
    ]);
  });

  it('fails in plain JSON, or with an event, as the upstream fails', async () => {
    const fails: StubHandler = (_request, response) => {
      response.writeHead(500).end();
    };
    const early = await setUp([stdio('files')], { ...STREAM, turns: [streamed({ calls: [['echo']] }), fails] });
    expect((await early.chat({ stream: true })).status).to.equal(502);
    const late = await setUp([stdio('files')], {
      ...STREAM,
      turns: [streamed({ text: ['a'], calls: [['echo']] }), fails],
    });
    expect((await late.chat({ stream: true })).events().at(-1).error.type).to.equal('stream_error');
  });

  it('ends with what a plugin answers in the place of a further turn', async () => {
    const answering = definePlugin({
      name: 'answering',
      type: 'guardrail',
      summary: 'For this test',
      stages: ['before_request'],
      settings: Joi.object({}),
      create: () => ({
        before_request: ({ request }) =>
          (request as ChatRequest).messages.length > 1
            ? answer({
                choices: [{ index: 0, message: { role: 'assistant', content: 'not that' }, finish_reason: 'stop' }],
              })
            : undefined,
      }),
    });
    const setup = await setUp([stdio('files')], {
      modules: [answering],
      config: { ...STREAM.config, plugins: [{ name: 'answering', stage: 'before_request', enabled: true }] },
      turns: [streamed({ text: ['hm, '], calls: [['echo']] }), streamed({ text: ['never'] })],
    });
    const answered = await setup.chat({ stream: true });
    expect([
      textIn(answered),
      finishesIn(answered),
      rolesIn(answered),
      answered.events().at(-1),
      setup.sent().length,
    ]).to.deep.equal(['hm, not that', ['stop'], ['assistant'], '[DONE]', 1]);
  });

  it('changes nothing for a client that wants a whole answer', async () => {
    const setup = await setUp([stdio('files')], { ...STREAM, turns: [chatReply('whole')] });
    expect((await setup.chat()).json().choices[0].message.content).to.equal('whole');
  });

  it('passes the guards of its stream: what is held for a verdict leaves once, at the end', async () => {
    const guard = (settings: object): object => ({
      ...STREAM,
      config: {
        ...STREAM.config,
        plugins: [
          {
            name: 'schema-guard',
            stage: 'after_request',
            enabled: true,
            config: { schema: { type: 'object' }, stream: 'window', ...settings },
          },
        ],
      },
    });
    const turns = [streamed({ calls: [['echo']] }), streamed({ text: ['{"a"', ': 1}'] })];
    const kept = await (await setUp([stdio('files')], { ...guard({}), turns })).chat({ stream: true });
    expect([textIn(kept), finishesIn(kept), usagesIn(kept).length, rolesIn(kept), kept.events().at(-1)]).to.deep.equal([
      '{"a": 1}',
      ['stop'],
      1,
      ['assistant'],
      '[DONE]',
    ]);
    const refused = await (
      await setUp([stdio('files')], { ...guard({ schema: { type: 'array' } }), turns })
    ).chat({ stream: true });
    expect(refused.text).to.not.include('"a').and.not.include('[DONE]');
  });

  it('counts its first chunk, and is seen whole at after_request', async () => {
    const seen: unknown[] = [];
    const watching = definePlugin({
      name: 'watching',
      type: 'logging',
      summary: 'For this test',
      stages: ['after_request'],
      settings: Joi.object({}),
      create: () => ({
        after_request: ({ reply, measurements: { ttftMs }, usage, request }) =>
          void seen.push([
            (reply as ChatReply).choices[0]?.message.content,
            typeof ttftMs,
            usage?.total_tokens,
            (request as ChatRequest).messages.length,
          ]),
      }),
    });
    const setup = await setUp([stdio('files')], {
      modules: [watching],
      config: { ...STREAM.config, plugins: [{ name: 'watching', stage: 'after_request', enabled: true }] },
      turns: [streamed({ text: ['a'], calls: [['echo']] }), streamed({ text: ['b'] })],
    });
    await setup.chat({ stream: true });
    expect(seen).to.deep.equal([['ab', 'number', 24, 1]]);
  });
});
