import { expect } from 'chai';
import type { ServerResponse } from 'node:http';
import { replyJson, stubUpstream, startHost, MASTER_KEY } from '../kit/index.ts';
import { blocked, errorOf, everySurface, type SurfaceSet, withUpstream } from './kit.ts';

const PATH = '/v1/audio/speech';
const ask = { model: 'm', input: 'hello', voice: 'alloy' };
const AUDIO = Buffer.from([0xff, 0xfb, 0x00, 0x80, 0x0a, 0x0d]);
const answering = (config: object = {}): Promise<SurfaceSet> =>
  withUpstream((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(AUDIO);
  }, config);

const post = (url: string, body: object): Promise<Response> =>
  fetch(`${url}${PATH}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

describe('speech', () => {
  for (const [format, type] of [
    [undefined, 'audio/mpeg'],
    ['', 'audio/mpeg'],
    ['mp3', 'audio/mpeg'],
    ['opus', 'audio/opus'],
    ['aac', 'audio/aac'],
    ['flac', 'audio/flac'],
    ['wav', 'audio/wav'],
    ['pcm', 'audio/pcm'],
    ['ogg', 'application/octet-stream'],
    ['constructor', 'application/octet-stream'],
  ] as const) {
    it(`answers the bytes as ${type} for format ${String(format)}`, async () => {
      const { host, sent } = await answering();
      const answer = await post(host.url, { ...ask, response_format: format });
      expect([answer.status, answer.headers.get('content-type')]).to.deep.equal([200, type]);
      expect(Buffer.from(await answer.arrayBuffer())).to.deep.equal(AUDIO);
      expect(sent()).to.deep.include({ ...ask, response_format: format || 'mp3' });
      expect(answer.headers.get('x-gateway-target')).to.equal('a');
    });
  }

  it('passes bytes on as they arrive', async () => {
    const pending = Promise.withResolvers<ServerResponse>();
    const { host } = await withUpstream((_request, response) => {
      response.writeHead(200).write(AUDIO);
      pending.resolve(response);
    });
    const answer = await post(host.url, ask);
    const reader = answer.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? [])).to.deep.equal(AUDIO);
    (await pending.promise).end('rest');
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).to.equal('rest');
  });

  it('ends the connection when the provider breaks off, and leaves the provider when the client does', async () => {
    const upstream = await stubUpstream((request, response) => {
      response.writeHead(200).write(AUDIO);
      if (request.json()['voice'] === 'breaks') setImmediate(() => response.destroy());
    });
    const host = await startHost({ strategy: { mode: 'single' }, targets: [upstream.target('a', {}, everySurface)] });
    const broken = await post(host.url, { ...ask, voice: 'breaks' });
    expect(broken.status).to.equal(200);
    expect(
      await broken.arrayBuffer().then(
        () => 'whole',
        () => 'cut',
      ),
    ).to.equal('cut');

    const left = await post(host.url, ask);
    const closed = new Promise<void>((resolve) => {
      for (const socket of upstream.sockets) socket.once('close', () => resolve());
    });
    await left.body?.cancel();
    await closed;
  });

  it('maps errors and fails over before the first byte', async () => {
    const bad = await stubUpstream((_request, response) =>
      replyJson(response, 500, { error: { message: 'no voice today' } }),
    );
    const good = await stubUpstream((_request, response) => {
      response.end(AUDIO);
    });
    const host = await startHost({
      strategy: { mode: 'fallback' },
      targets: [bad.target('bad', {}, everySurface), good.target('good', {}, everySurface)],
    });
    expect((await post(host.url, ask)).headers.get('x-gateway-target')).to.equal('good');
    const alone = await startHost({ strategy: { mode: 'single' }, targets: [bad.target('bad', {}, everySurface)] });
    const answer = await alone.post(PATH, ask);
    expect([answer.status, errorOf(answer).message]).to.deep.equal([502, 'the provider failed']);
  });

  for (const [body, message] of [
    [{}, 'model is required'],
    [{ model: 'm' }, 'input is required'],
    [{ model: 'm', input: 'x' }, 'voice is required'],
    [{ ...ask, input: 'é'.repeat(4097) }, 'input exceeds 4096 characters'],
    [{ ...ask, speed: 'fast' }, 'speed must be a number'],
  ] as const) {
    it(`refuses ${JSON.stringify(body).slice(0, 60)}`, async () => {
      const { host, upstream } = await answering();
      const answer = await host.post(PATH, body);
      expect([answer.status, errorOf(answer).code]).to.deep.equal([400, 'invalid_request']);
      expect(errorOf(answer).message).to.contain(message);
      expect(upstream.seen).to.have.length(0);
    });
  }

  it('counts characters, not code units', async () => {
    const { host } = await answering();
    expect((await post(host.url, { ...ask, input: '🎧'.repeat(4096) })).status).to.equal(200);
  });

  it('has its input read by guardrails, and what they withhold is never sent', async () => {
    const { host } = await answering(blocked('forbidden'));
    expect(errorOf(await host.post(PATH, { ...ask, input: 'forbidden' })).code).to.equal('request_rejected');
  });
});
