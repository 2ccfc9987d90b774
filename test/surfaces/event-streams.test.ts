import { expect } from 'chai';
import { APIError } from 'openai';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { moduleOf } from '../contract/providers/support.ts';
import { fakeClock, MASTER_KEY, openSse, replyJson, startHost, type StubHandler, stubUpstream } from '../kit/index.ts';
import {
  clientOf,
  collected,
  COUNTS,
  eventsIn,
  type Gateway,
  goldenOf,
  type Streamed,
  STREAMED,
  streaming,
  withStub,
} from './events-kit.ts';
import { everySurface } from './kit.ts';

async function withModule(name: string, handler: StubHandler): Promise<Gateway> {
  const upstream = await stubUpstream(handler);
  const variables: Readonly<Record<string, string>> =
    name === 'openai'
      ? { OPENAI_API_KEY: 'key-0123456789', OPENAI_BASE_URL: upstream.url }
      : {
          AZURE_OPENAI_API_KEY: 'key-0123456789',
          AZURE_OPENAI_ENDPOINT: upstream.url,
          AZURE_OPENAI_DEPLOYMENT: 'chats',
        };
  const host = await startHost({ targets: [{ virtual_key: name, model_map: { m: 'vendor-model' } }] }, { variables });
  return { host, client: clientOf(host), upstream };
}

describe('streams beside chat', () => {
  for (const one of STREAMED) {
    describe(one.surface, () => {
      for (const name of ['openai', 'azure-openai']) {
        it(`deliver each event of ${name} to the official client, by one call`, async () => {
          const { client, upstream, host } = await withModule(name, streaming(goldenOf(one)));
          const { events, error } = await collected(await one.ask(client));
          expect(error).to.equal(undefined);
          expect(events).to.deep.equal(eventsIn(goldenOf(one)));
          expect(upstream.seen).to.have.length(1);
          const [seen] = upstream.seen;
          expect(seen?.url).to.include(one.path);
          expect(seen?.text).to.match(/stream_format":"sse"|"stream":true|name="stream"\r\n\r\ntrue\r\n/);
          expect(`${seen?.url} ${seen?.text}`).to.include('vendor-model');
          const samples = host.samples.filter(({ name: figure }) => figure.startsWith('gateway_tokens_'));
          expect(samples.map(({ value }) => value)).to.deep.equal(COUNTS[one.surface]);
        });
      }

      it('leave in the bytes that came, however these are cut', async () => {
        const text = Buffer.from(goldenOf(one));
        const { client, host } = await withStub(async (_request, response) => {
          openSse(response);
          for (let at = 0; at < text.length; at += 97) {
            response.write(text.subarray(at, at + 97));
            await new Promise((resolve) => {
              setImmediate(resolve);
            });
          }
          response.end();
        });
        const body: string[] = [];
        const raw = clientOf(host).withOptions({
          fetch: async (url, init) => {
            const answer = await fetch(url, init);
            body.push(await answer.clone().text());
            return answer;
          },
        });
        expect((await collected(await one.ask(raw))).error).to.equal(undefined);
        expect(body.filter((each) => each !== '')).to.deep.equal([goldenOf(one)]); // the client looks first whether a fetch sends forms
        expect(client.baseURL).to.equal(raw.baseURL);
      });

      it('go on as they come', async () => {
        const opened = Promise.withResolvers<ServerResponse>();
        const [first = '', ...rest] = goldenOf(one).split(/(?<=\n\n)/);
        const { host } = await withStub((_request, response) => {
          openSse(response);
          response.write(first);
          opened.resolve(response);
        });
        if (one.surface === 'audio.speech') {
          const answer = await fetch(`${host.url}/v1/audio/speech`, {
            method: 'POST',
            headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
            body: JSON.stringify({ model: 'm', input: 'x', voice: { id: 'voice_1' }, stream_format: 'sse' }),
          });
          const reader = answer.body?.getReader();
          expect(Buffer.from((await reader?.read())?.value ?? []).toString()).to.equal(first);
          (await opened.promise).end(rest.join(''));
          return;
        }
        const events = (await one.ask(clientOf(host)))[Symbol.asyncIterator]();
        expect((await events.next()).value).to.deep.equal(eventsIn(first)[0]);
        (await opened.promise).end(rest.join(''));
        expect((await events.next()).done).to.equal(false);
      });

      it('fail over before the first event, on a status and on an event that is an error', async () => {
        const broken: readonly StubHandler[] = [
          (_request, response) => replyJson(response, 500, { error: { message: 'no' } }),
          streaming(': ping\n\nevent: error\ndata: {"type":"error","error":{"message":"overloaded"}}\n\n'),
          streaming(''),
          streaming('data: [DONE]\n\n'),
        ];
        for (const handler of broken) {
          const [bad, good] = [await stubUpstream(handler), await stubUpstream(streaming(goldenOf(one)))];
          const host = await startHost({
            strategy: { mode: 'fallback' },
            targets: [bad.target('bad', {}, everySurface), good.target('good', {}, everySurface)],
          });
          const { events, error } = await collected(await one.ask(clientOf(host)));
          expect([error, events]).to.deep.equal([undefined, eventsIn(goldenOf(one))]);
          expect([bad.seen.length, good.seen.length]).to.deep.equal([1, 1]);
        }
      });

      it('are an error of its own status where no event came', async () => {
        const { client } = await withStub((_request, response) =>
          replyJson(response, 429, { error: { message: 'slow down' } }),
        );
        const error = await one.ask(client).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        expect(error).to.be.instanceOf(APIError).and.to.include({ status: 429, code: 'rate_limit_exceeded' });
      });

      it('end with an error event where they break off after it', async () => {
        const [first = ''] = goldenOf(one).split(/(?<=\n\n)/);
        const ends: readonly (readonly [StubHandler, message: RegExp])[] = [
          [
            streaming(`${first}event: error\ndata: {"error":{"message":"the vendor has stopped"}}\n\n`),
            /the vendor has stopped/,
          ],
          [streaming(`${first}data: {"half`), /ended before it was complete/],
          [
            (_request, response) => {
              openSse(response);
              response.write(first, () => response.destroy());
            },
            /./,
          ],
        ];
        for (const [handler, message] of ends) {
          const { client, upstream } = await withStub(handler);
          const { events, error } = await collected(await one.ask(client));
          expect(events).to.deep.equal(eventsIn(first));
          expect(error?.error).to.include({ type: 'stream_error', code: 'stream_error' });
          expect(error?.error.message).to.match(message);
          expect(upstream.seen).to.have.length(1);
        }
      });

      it('are not asked of a target that does not stream them', async () => {
        const { streams: _all, ...unable } = everySurface;
        const { host, client, upstream } = await withStub(() => {}, {}, unable);
        const error = await one.ask(client).then(
          () => undefined,
          (reason: any) => reason,
        );
        expect(error).to.include({ status: 404, code: 'model_not_found' });
        expect(error.message).to.match(/no target can stream .* of this model/);
        expect(upstream.seen).to.have.length(0);
        const able = await stubUpstream(streaming(goldenOf(one)));
        const both = await startHost({
          strategy: { mode: 'fallback' },
          targets: [upstream.target('unable', {}, unable), able.target('able', {}, everySurface)],
        });
        expect((await collected(await one.ask(clientOf(both)))).error).to.equal(undefined);
        expect([upstream.seen.length, able.seen.length]).to.deep.equal([0, 1]);
        expect(host.url).not.to.equal(both.url);
      });

      it('end their upstream when the client leaves', async () => {
        const [first = ''] = goldenOf(one).split(/(?<=\n\n)/);
        const closed = Promise.withResolvers<void>();
        const { client } = await withStub((_request, response) => {
          openSse(response);
          response.write(first);
          void once(response, 'close').then(() => closed.resolve());
        });
        if (one.surface === 'audio.speech') {
          const answer = await client.audio.speech.create({
            model: 'm',
            input: 'x',
            voice: 'alloy',
            stream_format: 'sse',
          });
          await answer.body?.cancel();
        } else for await (const _event of await one.ask(client)) break;
        await closed.promise;
      });
    });
  }
});

describe('streams beside chat, behind proxies', () => {
  it('are not buffered, open early, and say between whole events that they go on', async () => {
    const clock = fakeClock();
    const called = Promise.withResolvers<ServerResponse>();
    const upstream = await stubUpstream((_request, response) => called.resolve(response));
    const host = await startHost({ targets: [upstream.target('a', {}, everySurface)] }, { clock });
    const opened = fetch(`${host.url}/v1/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', prompt: 'x', stream: true }),
    });
    const vendor = await called.promise;
    clock.advance(45_000);
    const answer = await opened;
    expect([answer.status, answer.headers.get('x-accel-buffering')]).to.deep.equal([200, 'no']);
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const until = async (end: string): Promise<void> => {
      while (!text.endsWith(end)) text += (await reader?.read())?.value ?? expect.fail(`ended with ${text}`);
    };
    const COMMENT = ': keep-alive\n\n';
    clock.advance(15_000);
    await until(COMMENT);
    const [first = '', ...rest] = goldenOf(STREAMED[1] as Streamed).split(/(?<=\n\n)/);
    openSse(vendor);
    vendor.write(first);
    await until(first);
    vendor.write(rest[0]?.slice(0, 40));
    clock.advance(15_000);
    await until(COMMENT);
    vendor.end(rest.join('').slice(40));
    await until(rest.at(-1) ?? '');
    expect((await reader?.read())?.done).to.equal(true);
    expect(text).to.equal([COMMENT, ': gw target=a model=m attempts=1\n\n', first, COMMENT, ...rest].join(''));
  });
});

describe('a stream that goes silent', () => {
  const [one] = STREAMED as readonly [Streamed];
  const [first = ''] = goldenOf(one).split(/(?<=\n\n)/);
  const idle = { streamIdleMs: 50 };

  it('is a time-out before its first event, so that the next target is tried, whether or not its headers came', async () => {
    for (const handler of [() => {}, (_request, response) => openSse(response)] as readonly StubHandler[]) {
      const [silent, good] = [await stubUpstream(handler), await stubUpstream(streaming(goldenOf(one)))];
      const targets = [silent.target('silent', {}, everySurface), good.target('good', {}, everySurface)];
      const host = await startHost({ strategy: { mode: 'fallback' }, targets }, idle);
      expect((await collected(await one.ask(clientOf(host)))).events).to.have.length(8);
      const alone = await startHost({ strategy: { mode: 'single' }, targets: targets.slice(0, 1) }, idle);
      const error = await one.ask(clientOf(alone)).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).to.include({ status: 504, code: 'upstream_timeout' });
    }
  });

  it('ends with an error event after it', async () => {
    const upstream = await stubUpstream((_request, response) => {
      openSse(response);
      response.write(first);
    });
    const host = await startHost({ targets: [upstream.target('a', {}, everySurface)] }, idle);
    const { events, error } = await collected(await one.ask(clientOf(host)));
    expect(events).to.have.length(1);
    expect(error?.error).to.include({ type: 'timeout_error', code: 'stream_timeout' });
  });
});

describe('the modules of OpenAI and Azure', () => {
  it('say what they stream, and the others that they stream nothing', () => {
    for (const name of ['openai', 'azure-openai'])
      expect(moduleOf(name).streams).to.have.members([
        'images',
        'images.edits',
        'audio.transcriptions',
        'audio.speech',
      ]);
    for (const name of ['groq', 'together', 'mistral']) expect(moduleOf(name).streams).to.equal(undefined);
  });
});
