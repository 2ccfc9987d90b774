import { expect } from 'chai';
import { GEMINI_DIALECT } from '../../builtins/wires/gemini/dialect.ts';
import { readGenerate } from '../../builtins/wires/gemini/request/request.ts';
import { MESSAGES } from '../../builtins/wires/messages/dialect.ts';
import { readMessages } from '../../builtins/wires/messages/request.ts';
import { RESPONSES_DIALECT } from '../../builtins/wires/responses/dialect.ts';
import { readResponses } from '../../builtins/wires/responses/request.ts';
import type { Adapted, TargetFacts } from '../../host/wire/client-request.ts';
import type { ChatRequest } from '../../host/contract/index.ts';
import { replyJson, startHost, stubUpstream } from '../kit/index.ts';
import { EVERY_TARGET } from './every-target.ts';
import { crossWire, hello, sameWire, saying, vendorMessage } from './messages-kit.ts';

type Json = Record<string, any>;

const READERS = {
  messages: (body: Json, facts: TargetFacts): Adapted<ChatRequest> => {
    const { request, notes } = readMessages(body, undefined);
    expect(notes.refusal).to.equal(undefined);
    return MESSAGES.adapt(request, facts, body);
  },
  gemini: (body: Json, facts: TargetFacts): Adapted<ChatRequest> =>
    GEMINI_DIALECT.adapt(readGenerate(body, 'm').request, facts, body),
  responses: (body: Json, facts: TargetFacts): Adapted<ChatRequest> =>
    RESPONSES_DIALECT.adapt(readResponses(body).request, facts, body),
};

/** What native wires write for a result that failed. */
const SAID = /"is_error":true|"status":"error"|"response":\{"error"/;

describe('a result of a tool that failed', () => {
  const failed = {
    ...hello,
    tools: [{ name: 'f', input_schema: { type: 'object' } }],
    messages: [
      { role: 'user', content: 'hi' },
      {
        role: 'assistant',
        content: ['a', 'b'].map((id) => ({ type: 'tool_use', id, name: 'f', input: {} })),
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'it works', is_error: false },
          { type: 'tool_result', tool_use_id: 'b', content: 'it broke', is_error: true },
        ],
      },
    ],
  };

  for (const { name, model, facts, bodyOf } of EVERY_TARGET)
    it(`is said to ${name}, or named as lost: ${model}`, () => {
      const { request, lost } = READERS.messages(failed, facts);
      const body = bodyOf(request);
      if (body === undefined) return; // a model without tools
      expect(body).to.include('it broke');
      const path = 'messages[2].content[1].is_error';
      expect(SAID.test(body), body).to.equal(!lost.includes(path));
      expect(lost).to.not.include('messages[2].content[0].is_error');
      if (lost.includes(path)) expect(body).to.not.include('is_error');
    });

  it('of a Gemini client goes on as its text, and is not named', () => {
    const body = {
      contents: [
        { role: 'model', parts: [{ functionCall: { name: 'f' } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: { error: 'it broke' } } }] },
      ],
    };
    for (const { name, facts, bodyOf } of EVERY_TARGET) {
      const { request, lost } = READERS.gemini(body, facts);
      const sent = bodyOf(request);
      if (sent === undefined) continue;
      expect(sent, name).to.include('it broke');
      expect(lost, name).to.deep.equal([]);
      if (facts.wire === 'common') expect(sent, name).to.not.include('is_error');
    }
  });

  it('is refused towards a target without a word for it, where nothing may be lost', async () => {
    const { post } = await crossWire(saying({ content: 'ok' }), { compatibility: { on_unsupported_param: 'reject' } });
    const answer = await post(failed);
    expect([answer.status, answer.json().error.details.error_code]).to.deep.equal([400, 'unsupported_parameter']);
    expect(answer.json().error.message).to.include('messages[2].content[1].is_error');
  });
});

/** Conversations whose last turn of the user is white space, and where the client has it. */
const BLANKS: Readonly<
  Record<string, { readonly wire: keyof typeof READERS; readonly body: Json; readonly path: string }>
> = {
  ...Object.fromEntries(
    [
      ' \n\t',
      '',
      [],
      [{ type: 'text', text: ' ' }],
      [
        { type: 'text', text: '' },
        { type: 'text', text: '\n' },
      ],
    ].map((content) => [
      `Messages, ${JSON.stringify(content)}`,
      {
        wire: 'messages' as const,
        body: { ...hello, messages: [...ask('content', 'assistant'), { role: 'user', content }] },
        path: 'messages[2].content',
      },
    ]),
  ),
  'Messages, two turns': {
    wire: 'messages',
    body: {
      ...hello,
      messages: [...ask('content', 'assistant'), { role: 'user', content: ' ' }, { role: 'user', content: '' }],
    },
    path: 'messages[3].content',
  },
  'Messages, behind it a system message': {
    wire: 'messages',
    body: {
      ...hello,
      messages: [...ask('content', 'assistant'), { role: 'user', content: ' ' }, { role: 'system', content: 'late' }],
    },
    path: 'messages[2].content',
  },
  ...Object.fromEntries(
    [[{ text: ' ' }], [{ text: '' }], [{ text: '\n' }, { text: '' }]].map((parts) => [
      `Gemini, ${JSON.stringify(parts)}`,
      {
        wire: 'gemini' as const,
        body: { contents: [...gemini(), { role: 'user', parts }] },
        path: 'contents[2].parts',
      },
    ]),
  ),
  'Gemini, without a role': {
    wire: 'gemini',
    body: { contents: [...gemini(), { parts: [{ text: ' ' }] }] },
    path: 'contents[2].parts',
  },
  ...Object.fromEntries(
    [' ', '', [{ type: 'input_text', text: '\n' }]].map((content) => [
      `Responses, ${JSON.stringify(content)}`,
      {
        wire: 'responses' as const,
        body: { model: 'm', input: [...ask('content', 'assistant'), { role: 'user', content }] },
        path: 'input[2].content',
      },
    ]),
  ),
};

function ask(member: string, answering: string): Json[] {
  return [
    { role: 'user', [member]: 'hi' },
    { role: answering, [member]: 'I begin' },
  ];
}

function gemini(): Json[] {
  return [
    { role: 'user', parts: [{ text: 'hi' }] },
    { role: 'model', parts: [{ text: 'I begin' }] },
  ];
}

describe('a last turn of the user that is white space', () => {
  /** Providers whose vendors refuse such a text: those of the Messages wire, and Bedrock. */
  const REFUSING = EVERY_TARGET.filter(({ name, model }) => name === 'bedrock' || model.startsWith('claude-'));

  it('concerns every target of the Messages wire, and all of Bedrock', () => {
    expect(new Set(REFUSING.map(({ name }) => name))).to.deep.equal(
      new Set(['anthropic', 'azure-foundry', 'bedrock', 'vertex-ai']),
    );
    for (const target of EVERY_TARGET)
      expect(target.facts.traits.refusesBlankTurns === true, `${target.name} ${target.model}`).to.equal(
        REFUSING.includes(target),
      );
  });

  for (const [what, { wire, body, path }] of Object.entries(BLANKS)) {
    it(`is refused where the vendor refuses it, by the client's path: ${what}`, () => {
      for (const { facts, name } of REFUSING)
        expect(() => READERS[wire](body, facts), name).to.throw(
          new RegExp(`^${RegExp.escape(path)} is white space only`),
        );
    });

    it(`goes on as it is to all others: ${what}`, () => {
      for (const { facts, name, model } of EVERY_TARGET.filter((target) => !REFUSING.includes(target))) {
        const { request, lost } = READERS[wire](body, facts);
        expect(
          lost.filter((path) => !path.endsWith('.role')),
          name,
        ).to.deep.equal([]); // a system message behind it becomes a turn of the user
        const turn = request.messages.findLast(
          ({ role, content }) => role !== 'system' && !JSON.stringify(content).includes('<system>'),
        );
        expect(turn?.role, `${name} ${model}`).to.equal('user');
        expect(JSON.stringify(turn?.content)).to.match(
          /^(?:""|"[ \\nt]+"|\[(?:,?\{"type":"text","text":"[ \\n]*"\})+\])$/,
        );
      }
    });
  }

  it('is a turn like any other where it says something, holds something, or stands earlier', () => {
    const turns = ask('content', 'assistant');
    const PIXEL = { type: 'image', source: { type: 'url', url: 'https://vendor.example/pixel.png' } };
    for (const messages of [
      [...turns, { role: 'user', content: 'go on' }],
      [...turns, { role: 'user', content: [{ type: 'text', text: ' ' }, PIXEL] }],
      [...turns, { role: 'user', content: ' ' }, { role: 'user', content: 'go on' }],
      [...turns, { role: 'user', content: ' ' }, ...turns.slice(1), { role: 'user', content: 'go on' }],
      [...turns, { role: 'user', content: '' }, ...turns.slice(1)],
      turns,
      [{ role: 'user', content: ' ' }], // nothing is left then, which the translator says
      [
        turns[0],
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: '' },
            { type: 'text', text: ' ' },
          ],
        },
      ],
    ])
      for (const { facts, name } of REFUSING)
        expect(() => READERS.messages({ ...hello, messages }, facts), name).to.not.throw();
  });

  it('is answered through the gateway in the shape of each wire, and nothing is sent', async () => {
    const upstream = await stubUpstream(saying({ content: 'ok' }));
    const host = await startHost({
      strategy: { mode: 'single' },
      responses: { translate: 'auto' },
      targets: [upstream.target('a', { models: ['claude-x', 'm'] }, { chatTraits: { refusesBlankTurns: true } })],
    });
    for (const [what, { wire, body, path }] of Object.entries(BLANKS)) {
      const address = {
        messages: '/v1/messages',
        gemini: '/v1beta/models/m:generateContent',
        responses: '/v1/responses',
      };
      const answer = await host.post(address[wire], body);
      expect([answer.status, answer.json().error.message.startsWith(path)], `${what} ${answer.text}`).to.deep.equal([
        400,
        true,
      ]);
    }
    expect(upstream.seen).to.have.length(0);
  });

  it('goes on to the vendor itself, which answers for it', async () => {
    const { upstream, post } = await sameWire((_request, response) =>
      replyJson(response, 200, vendorMessage([{ type: 'text', text: 'a' }])),
    );
    const body = { ...hello, messages: [...ask('content', 'assistant'), { role: 'user', content: ' ' }] };
    expect((await post(body)).status).to.equal(200);
    expect(upstream.seen[0]?.json()).to.deep.equal(body);
  });
});
