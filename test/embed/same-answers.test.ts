import { expect } from 'chai';
import { ask, forSuite, MASTER_KEY, startHost } from '../kit/index.ts';
import { CONFIG, DOORS, embedded } from './servers.ts';

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const KEY = { authorization: `Bearer ${MASTER_KEY}` };

/** Requests of each kind that the plane of models knows, and of each way to be refused there. */
const REQUESTS: Readonly<Record<string, Asked>> = {
  'a whole answer': { method: 'POST', path: '/v1/chat/completions', body: ask(), headers: KEY },
  'a streamed answer': {
    method: 'POST',
    path: '/v1/chat/completions',
    body: ask('hi', { stream: true }),
    headers: KEY,
  },
  'an answer of the Messages wire': {
    method: 'POST',
    path: '/v1/messages',
    body: { ...ask(), max_tokens: 9 },
    headers: { 'x-api-key': MASTER_KEY },
  },
  'an answer of the Responses wire': {
    method: 'POST',
    path: '/v1/responses',
    body: { model: 'm', input: 'hi' },
    headers: KEY,
  },
  'an answer of the Gemini wire, with the key in the query': {
    method: 'POST',
    path: `/v1beta/models/m:generateContent?key=${MASTER_KEY}`,
    body: { contents: [{ parts: [{ text: 'hi' }] }] },
  },
  embeddings: { method: 'POST', path: '/v1/embeddings', body: { model: 'm', input: 'hi' }, headers: KEY },
  'the models': { method: 'GET', path: '/v1/models', headers: KEY },
  'the head of the models': { method: 'HEAD', path: '/v1/models', headers: KEY },
  'the holder of the key': { method: 'GET', path: '/v1/key', headers: KEY },
  'a probe': { method: 'GET', path: '/livez' },
  readiness: { method: 'GET', path: '/readyz?ignore=mcp' },
  'no credential': { method: 'POST', path: '/v1/chat/completions', body: ask() },
  'a wrong credential': {
    method: 'POST',
    path: '/v1/chat/completions',
    body: ask(),
    headers: { authorization: 'Bearer gw_wrong' },
  },
  'a wrong method': { method: 'PUT', path: '/v1/chat/completions', body: ask(), headers: KEY },
  'a body that is not JSON': { method: 'POST', path: '/v1/chat/completions', body: '{', headers: KEY },
  'no such model': { method: 'POST', path: '/v1/chat/completions', body: { ...ask(), model: 'x' }, headers: KEY },
  'a path with a slash too many': { method: 'POST', path: '/v1//chat/completions', body: ask(), headers: KEY },
  'another spelling of a path': { method: 'POST', path: '/v1/%63hat/completions', body: ask(), headers: KEY },
  'a path that no route serves': { method: 'GET', path: '/v1/nothing', headers: KEY },
  'a question of a browser': {
    method: 'OPTIONS',
    path: '/v1/chat/completions',
    headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
  },
};

/** What differs from one answer to the next. */
const CHANGES =
  /[0-9a-f]{32}|(?<="created":)\d+|(?<="created_at":)\d+|(?<="completed_at":)\d+|(?:chatcmpl|msg|resp|gen)[-_][\w-]+|(?<="responseId":")[^"]+|(?<="duration_ms":)[\d.]+/g;
/** Headers of the connection, and of Express, and the time. */
const OF_SERVERS = new Set([
  'connection',
  'keep-alive',
  'date',
  'x-powered-by',
  'x-gateway-overhead-ms',
  'server-timing',
]);

async function answerOf(url: string, { method, path, body, headers }: Asked): Promise<object> {
  const response = await fetch(url + path, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const shown = (text: string): string => text.replace(CHANGES, '…');
  return {
    status: response.status,
    headers: [...response.headers]
      .filter(([name]) => !OF_SERVERS.has(name))
      .map(([name, value]) => [name, shown(value)]),
    body: shown(await response.text()),
  };
}

describe('a gateway in a server of your own', () => {
  const alone = forSuite(() => startHost(CONFIG, { isLenient: true }));

  for (const door of DOORS) {
    describe(door, () => {
      const inside = forSuite(() => embedded(door));

      for (const [what, asked] of Object.entries(REQUESTS)) {
        it(`answers as one that listens itself: ${what}`, async () => {
          expect(await answerOf(inside().url, asked)).to.deep.equal(await answerOf(alone().url, asked));
        });
      }
    });
  }
});
