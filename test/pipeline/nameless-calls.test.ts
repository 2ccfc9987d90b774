import { expect } from 'chai';
import { type Answer, openSse, replyJson, sseBytes, startHost, type StubHandler, stubUpstream } from '../kit/index.ts';

type Name = string | null | undefined | { readonly custom: string };

interface Said {
  readonly content?: string;
  readonly reasoning_content?: string;
  readonly refusal?: string;
  /** Names of the calls; of a call of a custom tool in an object. */
  readonly calls?: readonly Name[];
  readonly finish: string;
}

const callOf = (name: Name, at: number): object => ({
  index: at,
  id: `c${at}`,
  ...(typeof name === 'object' && name !== null
    ? { type: 'custom', custom: { name: name.custom, input: 'ebb' } }
    : { type: 'function', function: { ...(name !== undefined && { name }), arguments: '{}' } }),
});

/** An upstream that answers so, whole or as a stream of two chunks; `withRole` begins with a chunk of the role alone. */
function saying({ calls = [], finish, ...said }: Said, withRole = false): StubHandler {
  const message = { ...said, ...(calls.length > 0 && { tool_calls: calls.map(callOf) }) };
  const chunk = (delta: object, finish_reason: string | null = null): object => ({
    id: 'x',
    model: 'up',
    choices: [{ index: 0, delta, finish_reason }],
  });
  return (request, response) => {
    if (request.json()['stream'] !== true) {
      const choices = [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: finish }];
      replyJson(response, 200, { id: 'x', object: 'chat.completion', model: 'up', choices });
      return;
    }
    openSse(response);
    const first = withRole ? [chunk({ role: 'assistant', content: '' })] : [];
    const pieces = Object.keys(message).length > 0 ? [chunk(message)] : [];
    response.end(sseBytes([...first, ...pieces, chunk({}, finish), { type: '', data: '[DONE]' }]));
  };
}

/** What a client of each wire asks, and what it gets. */
const WIRES: Readonly<
  Record<string, { readonly path: (isStream: boolean) => string; readonly body: (isStream: boolean) => object }>
> = {
  chat: {
    path: () => '/v1/chat/completions',
    body: (stream) => ({ model: 'm', stream, messages: [{ role: 'user', content: 'hi' }] }),
  },
  messages: {
    path: () => '/v1/messages',
    body: (stream) => ({ model: 'm', max_tokens: 9, stream, messages: [{ role: 'user', content: 'hi' }] }),
  },
  responses: { path: () => '/v1/responses', body: (stream) => ({ model: 'm', stream, input: 'hi' }) },
  gemini: {
    path: (isStream) => `/v1beta/models/m:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: () => ({ contents: [{ parts: [{ text: 'hi' }] }] }),
  },
};

async function asked(wire: string, isStream: boolean, handler: StubHandler): Promise<Answer> {
  const [broken, healthy] = [
    await stubUpstream(handler),
    await stubUpstream(saying({ content: 'fine', finish: 'stop' })),
  ];
  const host = await startHost({
    strategy: { mode: 'fallback' },
    responses: { translate: 'auto' },
    targets: [broken.target('a', { models: ['m'] }), healthy.target('b', { models: ['m'] })],
  });
  const { path, body } = WIRES[wire] ?? expect.fail(wire);
  return host.post(path(isStream), body(isStream));
}

const SILENT: Readonly<Record<string, Said>> = {
  'a call without a name alone': { calls: [undefined], finish: 'tool_calls' },
  'a call with an empty name beside thoughts': { reasoning_content: 'hm', calls: [''], finish: 'tool_calls' },
  'nothing, because the vendor could not read a call': { finish: 'MALFORMED_FUNCTION_CALL' },
  'nothing, because a call was not expected': { finish: 'UNEXPECTED_TOOL_CALL' },
  'nothing but an error': { content: '', finish: 'error' },
};

/** Whether a stream of it begins with its end. */
const isBare = ({ finish: _finish, ...said }: Said): boolean => Object.keys(said).length === 0;

const USABLE: Readonly<Record<string, Said & { readonly shown: RegExp }>> = {
  'a text beside a call without a name': { content: 'sea', calls: [''], finish: 'tool_calls', shown: /sea/ },
  'a call beside one without a name': { calls: [null, 'tide'], finish: 'tool_calls', shown: /tide/ },
  'a text before a call that could not be read': { content: 'sea', finish: 'MALFORMED_FUNCTION_CALL', shown: /sea/ },
  'a call before an error': { calls: ['tide'], finish: 'error', shown: /tide/ },
  'a refusal before an error': { refusal: 'never', finish: 'error', shown: /never/ },
  nothing: { finish: 'stop', shown: /./ },
};

for (const wire of Object.keys(WIRES))
  for (const isStream of [false, true])
    describe(`an answer on ${wire}, ${isStream ? 'streamed' : 'whole'}`, () => {
      for (const [what, said] of Object.entries(SILENT).filter(([, each]) => !isStream || isBare(each)))
        it(`is a failed attempt where it holds ${what}`, async () => {
          const answer = await asked(wire, isStream, saying(said));
          expect([answer.status, answer.headers.get('x-gateway-attempts')], answer.text).to.deep.equal([200, '2']);
          expect(answer.text).to.include('fine');
        });

      for (const [what, { shown, ...said }] of Object.entries(USABLE))
        it(`goes on where it holds ${what}`, async () => {
          const answer = await asked(wire, isStream, saying(said));
          expect([answer.status, answer.headers.get('x-gateway-attempts')], answer.text).to.deep.equal([200, '1']);
          expect(answer.text).to.match(shown);
          expect(answer.text).to.not.match(/"name": ?(?:""|null)|fine/);
        });

      if (isStream)
        it('ends with an error where it has begun and says nothing', async () => {
          for (const [said, withRole] of Object.values(SILENT).map((each) => [each, isBare(each)] as const)) {
            const answer = await asked(wire, isStream, saying(said, withRole));
            const hasBegun = answer.headers.get('x-gateway-attempts') === '1'; // on some wires nothing has left
            expect(answer.status, answer.text).to.equal(200);
            expect(answer.text, JSON.stringify(said)).to.match(hasBegun ? /"error"|response\.failed/ : /fine/);
            if (wire === 'chat') expect(hasBegun).to.equal(true);
          }
        });
    });

describe('an answer on chat with calls that have names and calls that have none', () => {
  it('says that it ended with a text where no call is left', async () => {
    const whole = (await asked('chat', false, saying({ content: 'sea', calls: [''], finish: 'tool_calls' }))).json();
    expect(whole.choices[0]).to.deep.include({ finish_reason: 'stop' });
    expect(whole.choices[0].message).to.not.have.property('tool_calls');
    const { text } = await asked('chat', true, saying({ content: 'sea', calls: [''], finish: 'tool_calls' }));
    expect(text).to.include('"finish_reason":"stop"').and.not.include('tool_calls');
  });

  it('keeps the end that its vendor names beside calls', async () => {
    for (const isStream of [false, true])
      expect((await asked('chat', isStream, saying({ calls: ['tide'], finish: 'stop' }))).text).to.match(
        /"finish_reason": ?"stop"/,
      );
  });
});

describe('a call of a custom tool, which no client but those of chat can have asked for', () => {
  for (const wire of Object.keys(WIRES).filter((name) => name !== 'chat'))
    for (const isStream of [false, true])
      it(`counts as one without a name on ${wire}, ${isStream ? 'streamed' : 'whole'}`, async () => {
        const calls = [{ custom: 'tide' }];
        const beside = await asked(wire, isStream, saying({ content: 'sea', calls, finish: 'tool_calls' }));
        expect(beside.text)
          .to.include('sea')
          .and.not.match(/"name": ?""|tide|"ebb|fine/);
        const alone = await asked(wire, isStream, saying({ calls, finish: 'tool_calls' }));
        expect(alone.text).to.match(isStream ? /fine|"error"|response\.failed/ : /fine/);
        expect(alone.text).to.not.match(/"name": ?""|\btide\b|\bebb\b/);
      });

  it('goes on on chat', async () => {
    for (const isStream of [false, true]) {
      const { text } = await asked('chat', isStream, saying({ calls: [{ custom: 'tide' }], finish: 'tool_calls' }));
      expect(text).to.include('tide').and.include('ebb');
    }
  });
});
