import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { replyJson, startHost, stubUpstream, type TestHost } from '../kit/index.ts';

/** Secrets with what JSON and addresses escape. */
const KEY = 'sk-Can"ary\\key/0123+456=789&<x>';
const HEADER = 'hdr-Can"ary\\val/9876+543=210';
const PASSWORD = 'pwd-Can"ary\\pw/4444+5555';
const FORMS = [KEY, HEADER, PASSWORD].flatMap((value) => [value, JSON.stringify(value).slice(1, -1)]);

const found = (text: string): string[] => FORMS.filter((form) => text.includes(form));

type Echo = (headers: IncomingHttpHeaders, response: ServerResponse) => void;

/** Upstreams that say again what they were sent, wherever an answer has a text. */
const ECHOES: Readonly<Record<string, Echo>> = {
  'a refusal': ({ authorization, 'x-extra': extra }, response) =>
    replyJson(response, 401, {
      error: { message: `bad ${authorization} ${String(extra)}`, code: `c ${String(extra)}` },
    }),
  'a refused request': ({ authorization, 'x-extra': extra }, response) =>
    replyJson(response, 400, { error: { message: `bad ${authorization} ${String(extra)}`, param: extra } }),
  'a page and headers': ({ authorization, 'x-extra': extra }, response) => {
    response.writeHead(500, { 'x-echo': extra, 'content-type': 'text/plain', 'x-request-id': extra });
    response.end(`bad ${authorization} ${String(extra)}`);
  },
};

const messages = [{ role: 'user', content: 'hi' }];
const CALLS: readonly (readonly [path: string, body: object])[] = [
  ['/v1/chat/completions', { model: 'm', messages }],
  ['/v1/chat/completions', { model: 'm', messages, stream: true }],
  ['/v1/messages', { model: 'm', messages, max_tokens: 3 }],
  ['/v1/embeddings', { model: 'm', input: 'hi' }],
  ['/v1/responses', { model: 'm', input: 'hi', store: false }],
  ['/v1/anything', { model: 'm' }],
  ['/admin/explain', { request: { model: 'm', messages } }],
];
const SHOWN = ['/admin/providers', '/admin/health', '/health', '/admin/config', '/metrics', '/v1/models'];

function startEchoed(url: string): Promise<TestHost> {
  const headers = { 'X-Extra': '${C_HEADER}', 'X-Secret': 'Basic ${C_PASSWORD}' };
  return startHost(
    {
      strategy: { mode: 'fallback' },
      providers: {
        acme: { kind: 'openai', base_url: `${url}/v1`, api_key: '${C_KEY}', headers },
        live: { kind: 'openai-compatible', base_url: url, api_key: '${C_KEY}', headers },
      },
      targets: [{ virtual_key: 'acme', models: ['m'] }, { virtual_key: 'live' }],
    },
    { variables: { C_KEY: KEY, C_HEADER: HEADER, C_PASSWORD: PASSWORD } },
  );
}

describe('the secrets of an instance, to which the upstream answers with them', () => {
  for (const [name, say] of Object.entries(ECHOES))
    it(`stand in no answer, line or figure: ${name}`, async () => {
      const upstream = await stubUpstream((request, response) => say(request.headers, response));
      const t = await startEchoed(upstream.url);
      for (const [path, body] of CALLS) {
        const answer = await t.post(path, body);
        expect(found(answer.text + JSON.stringify([...answer.headers])), path).to.deep.equal([]);
      }
      for (const path of SHOWN) expect(found((await t.get(path)).text), path).to.deep.equal([]);
      expect(JSON.stringify(upstream.seen.map(({ headers }) => headers)), 'what was sent').to.include('Can');
      for (const text of t.texts) expect(found(text), text).to.deep.equal([]);
      expect(found(JSON.stringify(t.samples))).to.deep.equal([]);
    });
});
