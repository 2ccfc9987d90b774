import { expect } from 'chai';
import type { SeenRequest } from '../kit/index.ts';
import { CLAUDE, GEMINI_MODEL, OPENAI_MODEL, withVendors } from '../groups/vendors.ts';

/** How the client of a wire asks for its nth turn, in a session that its own body names, or by nothing but its beginning. */
interface Client {
  readonly wire: string;
  readonly path: (isStreamed: boolean) => string;
  body(turns: number, session: string | undefined, isStreamed: boolean): object;
}

const texts = (turns: number): readonly (readonly [ask: string, answer: string])[] =>
  Array.from({ length: turns }, (_each, at) => [`Frage ${at} é`, `Antwort ${at}`] as const);

const SCHEMA = { type: 'object', properties: { q: { type: 'string' } } };

const turnsOf = (turns: number): object[] =>
  texts(turns).flatMap(([ask, answer], at) => [
    { role: 'user', content: ask },
    ...(at < turns - 1 ? [{ role: 'assistant', content: answer }] : []),
  ]);

const CLIENTS: readonly Client[] = [
  {
    wire: 'chat',
    path: () => '/v1/chat/completions',
    body: (turns, session, stream) => ({
      model: 'smart',
      stream,
      messages: [{ role: 'system', content: 'be brief' }, ...turnsOf(turns)],
      tools: [{ type: 'function', function: { name: 'look', parameters: SCHEMA } }],
      ...(session !== undefined && { prompt_cache_key: session }),
    }),
  },
  {
    wire: 'messages',
    path: () => '/v1/messages',
    body: (turns, session, stream) => ({
      model: 'smart',
      stream,
      max_tokens: 50,
      system: 'be brief',
      messages: turnsOf(turns),
      tools: [{ name: 'look', input_schema: SCHEMA }],
      ...(session !== undefined && { metadata: { user_id: `user_1_session_${session}` } }),
    }),
  },
  {
    wire: 'responses',
    path: () => '/v1/responses',
    body: (turns, session, stream) => ({
      model: 'smart',
      stream,
      store: false,
      instructions: 'be brief',
      input: turnsOf(turns),
      tools: [{ type: 'function', name: 'look', parameters: SCHEMA }],
      ...(session !== undefined && { prompt_cache_key: session }),
    }),
  },
  {
    wire: 'gemini',
    path: (isStreamed) => `/v1beta/models/smart:${isStreamed ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: (turns) => ({
      systemInstruction: { parts: [{ text: 'be brief' }] },
      contents: texts(turns).flatMap(([ask, answer], at) => [
        { role: 'user', parts: [{ text: ask }] },
        ...(at < turns - 1 ? [{ role: 'model', parts: [{ text: answer }] }] : []),
      ]),
      tools: [{ functionDeclarations: [{ name: 'look', parameters: SCHEMA }] }],
    }),
  },
];

const group = (routes: readonly object[]): object => ({
  responses: { translate: 'auto' },
  models: [{ name: 'smart', routes, strategy: { mode: 'loadbalance', affinity: 'session' } }],
});

const ROUTES = [
  { target: 'openai', model: OPENAI_MODEL, weight: 1 },
  { target: 'anthropic', model: CLAUDE, weight: 1 },
  { target: 'gemini', model: GEMINI_MODEL, weight: 1 },
];

/** Where a vendor is asked: its host is one stub, and each has paths of its own. */
const askedAt = ({ url }: SeenRequest): string =>
  url
    .replace(/\?.*$/, '')
    .replace(/:stream/, ':')
    .toLowerCase();

describe('a session of every client wire', () => {
  for (const client of CLIENTS)
    for (const isStreamed of [false, true])
      for (const isNamed of client.wire === 'gemini' ? [false] : [true, false])
        it(`stays where it began (${client.wire}, ${isStreamed ? 'streamed' : 'whole'}, ${isNamed ? 'named in its body' : 'by its beginning'})`, async () => {
          const { host, takeSeen } = await withVendors(group(ROUTES), { random: Math.random });
          for (let one = 0; one < 4; one += 1) {
            const session = isNamed ? `s-${one}` : undefined;
            const places = new Set<string>();
            for (const turns of [1, 2, 3, 4]) {
              const body = JSON.stringify(client.body(turns, session, isStreamed));
              const answer = await host.post(
                client.path(isStreamed),
                isNamed ? body : body.replaceAll('be brief', `be brief ${one}`),
              );
              expect(answer.status, answer.text).to.equal(200);
              expect(answer.headers.get('x-gateway-affinity')).to.equal(turns === 1 ? 'new' : 'followed');
              for (const seen of takeSeen()) places.add(askedAt(seen));
            }
            expect([...places], `of session ${one}`).to.have.lengthOf(1);
          }
        });

  for (const client of CLIENTS)
    it(`sends Claude what begins with what it was sent before, to the byte (${client.wire})`, async () => {
      const { host, takeSeen } = await withVendors(group([ROUTES[1] ?? {}]));
      let before: { readonly around: string; readonly turns: string } | undefined;
      for (const turns of [1, 2, 3, 4, 5]) {
        expect((await host.post(client.path(false), client.body(turns, 's', false))).status).to.equal(200);
        const [seen] = takeSeen();
        const { messages, ...around } = JSON.parse(seen?.text ?? '{}') as { messages: unknown };
        const now = { around: JSON.stringify(around), turns: JSON.stringify(messages).slice(0, -1) };
        if (before) {
          expect(now.around).to.equal(before.around);
          expect(now.turns.startsWith(before.turns), now.turns).to.equal(true);
        }
        before = now;
      }
    });
});
