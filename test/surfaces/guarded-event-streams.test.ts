import { expect } from 'chai';
import { definePlugin } from 'gw/contract';
import Joi from 'joi';
import { fakeClock, startHost, stubUpstream } from '../kit/index.ts';
import {
  clientOf,
  collected,
  encoded,
  eventsIn,
  goldenOf,
  type Streamed,
  STREAMED,
  streaming,
  withStub,
} from './events-kit.ts';
import { errorOf, everySurface } from './kit.ts';

const guarded = (config: object = {}): object => ({
  plugins: [
    { name: 'word-filter', stage: 'after_request', enabled: true, config: { blocked_words: ['forbidden'], ...config } },
  ],
});

describe('a guardrail of answers', () => {
  const [one] = STREAMED as readonly [Streamed];
  const said = (...words: string[]): string =>
    [
      ...words.map((delta) => ({ type: 'transcript.text.delta', delta })),
      { type: 'transcript.text.done', text: words.join(''), usage: { type: 'duration', seconds: 2 } },
    ]
      .map((event) => `data: ${JSON.stringify(event)}\n\n`)
      .join('');

  it('reads a streamed transcript whole before any of it leaves', async () => {
    const { client, upstream } = await withStub(streaming(said('all', ' is', ' well')), guarded());
    expect((await collected(await one.ask(client))).events).to.deep.equal([
      { type: 'transcript.text.delta', delta: 'all is well' },
      { type: 'transcript.text.done', text: 'all is well', usage: { type: 'duration', seconds: 2 } },
    ]);
    expect(upstream.seen).to.have.length(1);
  });

  it('refuses what it finds, by a status', async () => {
    const { host } = await withStub(streaming(said('a for', 'bidden', ' word')), guarded());
    const form = new FormData();
    form.append('file', new Blob(['RIFF']), 'a.wav');
    form.append('model', 'm');
    form.append('stream', 'true');
    const answer = await host.post('/v1/audio/transcriptions', ...(await encoded(form)));
    expect([answer.status, errorOf(answer).code]).to.deep.equal([502, 'response_rejected']);
  });

  it('tries the next target where the stream breaks off, as nothing has left', async () => {
    const half = said('all', ' is').split(/(?<=\n\n)/)[0] ?? '';
    const [bad, good] = [await stubUpstream(streaming(half)), await stubUpstream(streaming(said('well')))];
    const host = await startHost({
      strategy: { mode: 'fallback' },
      targets: [bad.target('bad', {}, everySurface), good.target('good', {}, everySurface)],
      ...guarded(),
    });
    expect((await collected(await one.ask(clientOf(host)))).events).to.have.length(2);
  });

  it('has as much time for it as for a whole answer', async () => {
    const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = definePlugin<object>({
      name: 'slow',
      type: 'guardrail',
      summary: 'For this test',
      stages: ['after_request'],
      settings: Joi.object({}),
      create: () => ({
        after_request: async () => {
          asked.resolve();
          await gate.promise;
          return undefined;
        },
      }),
    });
    const upstream = await stubUpstream(streaming(said('all is well')));
    const clock = fakeClock();
    const host = await startHost(
      {
        targets: [upstream.target('a', {}, everySurface)],
        plugins: [{ name: 'slow', stage: 'after_request', enabled: true }],
      },
      { modules: [slow], clock },
    );
    const answer = one.ask(clientOf(host)).then(collected);
    await asked.promise;
    clock.advance(11_000); // longer than what runs when an answer has left
    gate.resolve();
    expect((await answer).events).to.have.length(2);
  });

  it('cannot check more than 1 MiB', async () => {
    const { host, client } = await withStub(streaming(said('x'.repeat(600_000), 'y'.repeat(600_000))), guarded());
    const error = await one.ask(client).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.include({ status: 502, code: 'response_rejected' });
    expect(host.samples.find(({ name }) => name === 'gateway_requests_total')?.labels['status']).to.equal('rejected');
  });

  it('that only records lets it pass as it comes', async () => {
    const text = said('a for', 'bidden', ' word');
    const { client, host } = await withStub(streaming(text), guarded({ stream: 'record' }));
    expect((await collected(await one.ask(client))).events).to.deep.equal(eventsIn(text));
    expect(host.lines.some(({ msg }) => String(msg).includes('guardrail'))).to.equal(true);
  });

  it('leaves images and sound as they are', async () => {
    for (const other of STREAMED.slice(1)) {
      const { client } = await withStub(streaming(goldenOf(other)), guarded());
      expect((await collected(await other.ask(client))).events).to.deep.equal(eventsIn(goldenOf(other)));
    }
  });
});
