import { expect } from 'chai';
import { estimateTokens } from '../../builtins/wires/estimate.ts';
import { type Answer, startHost, type StubUpstream, stubUpstream, type TestHost } from '../kit/index.ts';
import { keptRows, LOGGING } from './kept-rows.ts';
import { hello, saying } from './messages-kit.ts';

type Turn = Record<string, unknown>;

const use = (...ids: string[]): Turn => ({
  role: 'assistant',
  content: ids.map((id) => ({ type: 'tool_use', id, name: 'f', input: {} })),
});
const result = (...ids: string[]): Turn => ({
  role: 'user',
  content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'done' })),
});
const ask: Turn = { role: 'user', content: 'go on' };
const call = (...names: string[]): Turn => ({
  role: 'model',
  parts: names.map((name) => ({ functionCall: { name } })),
});
const response = (...names: string[]): Turn => ({
  role: 'user',
  parts: names.map((name) => ({ functionResponse: { name, response: { output: 'done' } } })),
});
const say = (text: string, role = 'user'): Turn => ({ role, parts: [{ text }] });

interface Case {
  readonly turns: readonly Turn[];
  /** What the refusal names; `undefined` where the turns belong together. */
  readonly path: string | undefined;
}

const MESSAGES: Readonly<Record<string, Case>> = {
  'a result alone': { turns: [result('a')], path: 'messages[0].content[0].tool_use_id' },
  'a result of another call': { turns: [use('a'), result('b')], path: 'messages[1].content[0].tool_use_id' },
  'two results of one call': { turns: [use('a'), result('a', 'a')], path: 'messages[1].content[1].tool_use_id' },
  'a call that is not answered': { turns: [ask, use('a'), ask], path: 'messages[1].content[0]' },
  'one of two calls answered': { turns: [use('a', 'b'), result('a')], path: 'messages[0].content[1]' },
  'a call that a later turn answers': {
    turns: [use('a'), ask, use('b'), result('a', 'b')],
    path: 'messages[0].content[0]',
  },
  'each call answered': { turns: [ask, use('a', 'b'), result('b', 'a'), use('c'), result('c'), ask], path: undefined },
  'a call answered behind instructions': {
    turns: [use('a'), { role: 'system', content: 'x' }, result('a')],
    path: undefined,
  },
};

const GEMINI: Readonly<Record<string, Case>> = {
  'a result alone': { turns: [response('f')], path: 'contents[0].parts[0].functionResponse.name' },
  'a result of another call': { turns: [call('f'), response('g')], path: 'contents[1].parts[0].functionResponse.name' },
  'two results of one call': {
    turns: [call('f'), response('f', 'f')],
    path: 'contents[1].parts[1].functionResponse.name',
  },
  'a call that is not answered': {
    turns: [say('hi'), call('f'), say('go on')],
    path: 'contents[1].parts[0].functionCall',
  },
  'one of two calls answered': { turns: [call('f', 'g'), response('f')], path: 'contents[0].parts[1].functionCall' },
  'one of two calls of one name answered': {
    turns: [call('f', 'f'), response('f')],
    path: 'contents[0].parts[1].functionCall',
  },
  'a call in the second piece of a turn': {
    turns: [say('I look', 'model'), call('f'), say('go on'), say('done', 'model')],
    path: 'contents[1].parts[0].functionCall',
  },
  'a call that a later turn answers': {
    turns: [call('f'), say('go on'), call('g'), response('f', 'g')],
    path: 'contents[0].parts[0].functionCall',
  },
  'a call that a function answers in snake case': {
    turns: [call('f'), { role: 'function', parts: [{ function_response: { name: 'f' } }] }],
    path: undefined,
  },
  'each call answered': {
    turns: [say('hi'), call('f', 'f'), response('f'), response('f'), say('go on')],
    path: undefined,
  },
};

const WIRES = [
  ['Messages', '/v1/messages', '/v1/messages/count_tokens', MESSAGES],
  ['the Gemini API', '/v1beta/models/claude-x:generateContent', '/v1beta/models/claude-x:countTokens', GEMINI],
] as const;

describe('calls and results that belong together', () => {
  let [host, upstream]: [TestHost | undefined, StubUpstream | undefined] = [undefined, undefined];
  const { rows, builtin } = keptRows();
  beforeEach(async () => {
    rows.length = 0;
    upstream = await stubUpstream(saying({ content: 'ok' }));
    host = await startHost(
      { strategy: { mode: 'single' }, targets: [upstream.target('a', { models: ['claude-x'] })], plugins: LOGGING },
      { builtins: [builtin] },
    );
  });
  const post = (path: string, turns: readonly Turn[]): Promise<Answer> =>
    (host as TestHost).post(path, path.startsWith('/v1/') ? { ...hello, messages: turns } : { contents: turns });

  for (const [wire, asking, counting, cases] of WIRES) {
    for (const [what, { turns, path }] of Object.entries(cases)) {
      it(`of a client of ${wire} are looked at before anything is sent: ${what}`, async () => {
        const answer = await post(asking, turns);
        expect(answer.status, answer.text).to.equal(path === undefined ? 200 : 400);
        expect(upstream?.seen.length).to.equal(path === undefined ? 1 : 0);
        if (path !== undefined) expect(answer.json().error.message).to.match(new RegExp(`^${RegExp.escape(path)}[: ]`));
      });

      it(`of a client of ${wire} are not looked at where they are counted: ${what}`, async () => {
        const answer = await post(counting, turns);
        expect([answer.status, answer.headers.get('x-gateway-token-count')], answer.text).to.deep.equal([
          200,
          'estimate',
        ]);
        const { input_tokens: tokens, totalTokens = tokens } = answer.json();
        expect(totalTokens).to.be.above(estimateTokens({ messages: [] }));
        expect(rows.map(({ stage }) => stage)).to.deep.equal(['before_request', 'after_request']);
        expect(upstream?.seen.length).to.equal(0);
      });
    }
  }

  it('are counted with everything else checked', async () => {
    for (const [block, path] of [
      [{ type: 'tool_result', tool_use_id: 7 }, 'messages[0].content[0].tool_use_id'],
      [{ type: 'tool_result' }, 'messages[0].content[0].tool_use_id'],
      [{ type: 'tool_result', tool_use_id: 'a', content: 7 }, 'messages[0].content[0].content'],
      [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'newest' }] }, 'messages[0].content[0].content[0]'],
      [{ type: 'tool_result', tool_use_id: 'a', is_error: 'yes' }, 'messages[0].content[0].is_error'],
    ] as const) {
      const answer = await post('/v1/messages/count_tokens', [{ role: 'user', content: [block] }]);
      expect([answer.status, answer.json().error.message.startsWith(path)], answer.text).to.deep.equal([400, true]);
    }
  });
});
