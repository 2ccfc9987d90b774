import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { chatChunks, MASTER_KEY, openSse, sseEvent, startHost, stubUpstream } from '../kit/index.ts';
import { eventText, VENDOR_EVENTS } from './messages-kit.ts';

const MESSAGE = { max_tokens: 64, messages: [{ role: 'user', content: 'hi' }] };
const CONTENTS = { contents: [{ parts: [{ text: 'hi' }] }] };
const FRAME = `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ text: 'a' }] }, index: 0 }] })}\r\n\r\n`;
const CHUNK = chatChunks(['a'])
  .slice(0, 2)
  .map((chunk) => sseEvent(chunk))
  .join('');

/** A route, the body that asks it, and what its upstream has sent by then: the client goes while that is all. */
const WIRES: readonly (readonly [what: string, target: string, path: string, body: object, sent: string])[] = [
  ['a message whole', 'deepseek', '/v1/messages', { ...MESSAGE, model: 'm' }, ''],
  ['a message in a stream', 'deepseek', '/v1/messages', { ...MESSAGE, model: 'm', stream: true }, CHUNK],
  ['a message of the vendor, whole', 'anthropic', '/v1/messages', { ...MESSAGE, model: 'm' }, ''],
  [
    'a message of the vendor, in a stream',
    'anthropic',
    '/v1/messages',
    { ...MESSAGE, model: 'm', stream: true },
    VENDOR_EVENTS.slice(0, 4).map(eventText).join(''),
  ],
  ['content in a stream', 'deepseek', '/v1beta/models/m:streamGenerateContent?alt=sse', CONTENTS, CHUNK],
  ['content of the vendor, in a list', 'gemini', '/v1beta/models/m:streamGenerateContent', CONTENTS, FRAME],
  ['a translated response', 'deepseek', '/v1/responses', { model: 'm', input: 'hi', stream: true }, CHUNK],
];

describe('a client of another wire that goes away', () => {
  for (const [what, target, path, body, sent] of WIRES) {
    it(`releases the upstream and its place: ${what}`, async () => {
      const arrived: PromiseWithResolvers<ServerResponse>[] = [Promise.withResolvers(), Promise.withResolvers()];
      const closed = Promise.withResolvers<void>();
      const upstream = await stubUpstream((_request, response) => {
        if (upstream.seen.length === 1) response.on('close', () => closed.resolve());
        if (sent !== '') {
          openSse(response);
          response.write(sent);
        }
        arrived[upstream.seen.length - 1]?.resolve(response);
      });
      const variable = target.toUpperCase();
      const host = await startHost(
        {
          targets: [{ virtual_key: target, models: ['m'], concurrency: { max_concurrency: 1, queue_size: 1 } }],
          responses: { translate: 'auto' },
        },
        { variables: { [`${variable}_API_KEY`]: 'vendor-key-0123456789', [`${variable}_BASE_URL`]: upstream.url } },
      );
      const ask = (signal: AbortSignal): Promise<Response> =>
        fetch(host.url + path, {
          method: 'POST',
          signal,
          headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
      for (const arrival of arrived) {
        const client = new AbortController();
        const asked = ask(client.signal);
        asked.catch(() => {});
        await arrival.promise; // the second one gets here only through the place that the first one had
        if (sent !== '') await (await asked).body?.getReader().read();
        client.abort();
      }
      await closed.promise;
      expect(upstream.seen).to.have.length(2);
    });
  }
});
