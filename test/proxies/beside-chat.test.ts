import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import {
  eventually,
  fakeClock,
  type FakeClock,
  golden,
  MASTER_KEY,
  openSse,
  replyJson,
  startHost,
  stubUpstream,
} from '../kit/index.ts';
import { everySurface } from '../surfaces/kit.ts';
import { COMMENT } from './kit.ts';

const form = (members: Readonly<Record<string, string | Blob>>): FormData => {
  const data = new FormData();
  for (const [name, value] of Object.entries(members)) data.append(name, value);
  return data;
};
const sound = new File(['RIFF audio'], 'talk.wav');
const picture = new File(['\x89PNG'], 'a.png', { type: 'image/png' });

/** Requests for events beside chat: path, body, golden answer. */
const REQUESTS: readonly (readonly [path: string, body: object, fixture: string])[] = [
  ['images/generations', { model: 'm', prompt: 'a harbour', stream: true }, 'images'],
  ['images/edits', form({ model: 'm', prompt: 'a harbour', image: picture, stream: 'true' }), 'edits'],
  ['audio/transcriptions', form({ model: 'm', file: sound, stream: 'true' }), 'transcriptions'],
  ['audio/speech', { model: 'm', input: 'hello', voice: 'alloy', stream_format: 'sse' }, 'speech'],
];

interface Silent {
  readonly clock: FakeClock;
  readonly answer: Promise<Response>;
  readonly upstream: ServerResponse;
}

async function silent(path: string, body: object): Promise<Silent> {
  const clock = fakeClock();
  const asked = Promise.withResolvers<ServerResponse>();
  const stub = await stubUpstream((_request, response) => asked.resolve(response));
  const host = await startHost({ targets: [stub.target('a', {}, everySurface)] }, { clock });
  const isForm = body instanceof FormData;
  const answer = fetch(`${host.url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${MASTER_KEY}`, ...(!isForm && { 'content-type': 'application/json' }) },
    body: isForm ? body : JSON.stringify(body),
  });
  return { clock, answer, upstream: await asked.promise };
}

describe('events beside chat', () => {
  for (const [path, body, fixture] of REQUESTS) {
    it(`are opened early, and say that they go on: ${path}`, async () => {
      const { clock, answer, upstream } = await silent(path, body);
      clock.advance(45_000);
      const { status, headers, body: stream } = await answer;
      expect([status, headers.get('x-accel-buffering'), headers.get('content-type')]).to.deep.equal([
        200,
        'no',
        'text/event-stream',
      ]);
      let text = '';
      const reading = (async () => {
        for await (const piece of stream ?? []) text += Buffer.from(piece as Uint8Array).toString('utf8');
      })();
      const [first = '', ...rest] = golden(`openai/${fixture}/events.sse`).split(/(?<=\n\n)/);
      clock.advance(15_000);
      await eventually(() => text === COMMENT);
      openSse(upstream);
      upstream.write(first);
      const begun = `${COMMENT}: gw target=a model=m attempts=1\n\n${first}`;
      await eventually(() => text === begun);
      clock.advance(15_000);
      await eventually(() => text === begun + COMMENT);
      upstream.end(rest.join(''));
      await reading;
      expect(text).to.equal(begun + COMMENT + rest.join(''));
      expect(clock.waiting).to.equal(0);
    });

    it(`fail in the stream that was opened: ${path}`, async () => {
      const { clock, answer, upstream } = await silent(path, body);
      clock.advance(45_000);
      const opened = await answer;
      replyJson(upstream, 500, {});
      expect(await opened.text()).to.equal(
        'data: {"error":{"message":"the provider failed","type":"stream_error","code":"stream_error"}}\n\n',
      );
    });
  }

  it('of an answer that came whole stand behind the comment too', async () => {
    const [[path, body]] = REQUESTS as [(typeof REQUESTS)[0]];
    const { clock, answer, upstream } = await silent(path, body);
    clock.advance(45_000);
    const opened = await answer;
    replyJson(upstream, 200, { created: 1, data: [{ b64_json: 'eA==' }] });
    expect(await opened.text()).to.match(/^: gw target=a model=m attempts=1\n\ndata: .*"eA=="/);
  });
});
