import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { contextOf } from '../../host/http/context.ts';
import { ask, chatReply, eventually, fakeClock, MASTER_KEY, rawClient } from '../kit/index.ts';
import {
  arrived,
  begin,
  CASES,
  ENDED,
  endedFigures,
  firstOfAnswer,
  isLeft,
  restOf,
  type Scene,
  scene,
  titleOf,
} from './ended-kit.ts';

const CHAT = '/v1/chat/completions';
const ANSWER = JSON.stringify(chatReply('hello'));

const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/** Nothing is charged to the target, and nothing of the request is left. */
async function expectEnded(s: Scene, kind: string): Promise<void> {
  await eventually(() => s.t.host.activity.count === 0);
  expect(s.witnessed).to.deep.equal({ outcomes: ['client_canceled'], errors: [ENDED] });
  expect(endedFigures(s)).to.deep.equal([kind]);
  expect(s.t.host.current?.hooks.circuit.call('a')).to.equal('closed');
  expect(s.t.host.current?.hooks.median.call('a')).to.equal(undefined);
  expect(s.t.host.running.size).to.equal(0);
  expect(s.t.lines.find(({ msg }) => msg === 'a request was ended with its credential')).to.include({
    level: 'DEBUG',
    api_key_id: s.id,
    reason: 'revoked',
  });
}

describe('a request whose key is revoked', () => {
  for (const asked of CASES) {
    it(`is a 401 while nothing was answered: ${titleOf(asked)}`, async () => {
      const s = await scene();
      const sent = s.send(asked);
      const call = await arrived(s);
      await s.t.host.stores.keys.revoke(s.id, 'other');
      const answer = await sent;
      const text = await answer.text();
      expect([answer.status, text.includes(ENDED)]).to.deep.equal([401, true]);
      expect(text).to.match(asked.refused);
      await eventually(() => isLeft(call));
      expect([isLeft(call), s.held.length]).to.deep.equal([true, 1]);
      await expectEnded(s, asked.streams ? 'stream' : 'unary');
    });
  }

  for (const asked of CASES.filter(({ begun }) => begun !== undefined)) {
    it(`breaks off an answer that has begun: ${titleOf(asked)}`, async () => {
      const s = await scene();
      const sent = s.send(asked);
      const call = await arrived(s);
      begin(call, asked);
      const reader = await firstOfAnswer(await sent);
      await s.t.host.stores.keys.revoke(s.id, 'other');
      const { text, isBroken } = await restOf(reader);
      expect(isBroken).to.equal(asked.last === undefined);
      if (asked.last) expect(text).to.match(asked.last).and.to.contain(ENDED).and.not.to.contain('[DONE]');
      await eventually(() => isLeft(call));
      expect(isLeft(call)).to.equal(true);
      await expectEnded(s, asked.streams ? 'stream' : 'unary');
    });
  }

  for (const asked of CASES.filter(({ streams, last, begun = '' }) => streams && last && begun.includes('words'))) {
    it(`ends with an error a stream of which guards have held back everything: ${titleOf(asked)}`, async () => {
      const s = await scene({ plugins: [{ name: 'holding', stage: 'after_request', enabled: true }] });
      const sent = s.send(asked);
      const call = await arrived(s);
      begin(call, asked);
      await eventually(() => s.t.lines.some(({ msg }) => msg === 'stream request started'));
      await s.t.host.stores.keys.revoke(s.id, 'other');
      const text = await (await sent).text();
      expect(text)
        .to.match(asked.last as RegExp)
        .and.to.contain(ENDED)
        .and.not.to.contain('words');
      await eventually(() => isLeft(call));
      await expectEnded(s, 'stream');
    });
  }

  for (const [path, asked, type] of [
    ['/v1/audio/speech', { model: 'm', input: 'hi', voice: 'alloy' }, 'audio/mpeg'],
    ['/v1/responses', { model: 'n', input: 'hi', stream: true }, 'text/event-stream'],
  ] as const) {
    it(`closes at once an answer that its client takes slowly: ${path}`, async () => {
      const s = await scene();
      let answering!: ServerResponse;
      s.t.server.on('request', (_request, response: ServerResponse) => (answering = response));
      const client = await rawClient(s.t.url);
      client.socket.pause();
      const body = JSON.stringify(asked);
      client.send(
        `POST ${path} HTTP/1.1\r\nHost: h\r\nAuthorization: ${s.headers['authorization']}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      const call = await arrived(s);
      call.response.writeHead(200, { 'content-type': type });
      call.response.write(Buffer.alloc(32 * 1024 * 1024, `:${'x'.repeat(60_000)}\n\n`));
      let written = -1;
      await eventually(async () => {
        await sleep(100);
        const before = written;
        written = contextOf(answering).bytes;
        return written === before && answering.writableNeedDrain;
      });
      expect(answering.writableNeedDrain).to.equal(true);
      await s.t.host.stores.keys.revoke(s.id, 'other');
      await eventually(() => s.t.host.activity.count === 0);
      expect(s.t.host.activity.count).to.equal(0);
      client.socket.destroy();
    });
  }

  for (const asked of CASES) {
    it(`is a 401 while its body is still read: ${titleOf(asked)}`, async () => {
      const s = await scene();
      const client = await rawClient(s.t.url);
      const request = new Request('http://h', {
        method: 'POST',
        body: asked.body instanceof FormData ? asked.body : JSON.stringify(asked.body),
      });
      const bytes = Buffer.from(await request.arrayBuffer());
      const type = asked.body instanceof FormData ? (request.headers.get('content-type') ?? '') : 'application/json';
      client.send(
        `POST ${asked.path} HTTP/1.1\r\nHost: h\r\nAuthorization: ${s.headers['authorization']}\r\nContent-Type: ${type}\r\nContent-Length: ${bytes.length}\r\n\r\n`,
      );
      client.send(bytes.subarray(0, 5).toString('latin1'));
      await eventually(() => s.t.host.running.size === 1);
      await turn();
      await s.t.host.stores.keys.revoke(s.id, 'other');
      expect(await client.until(/\r\n\r\n[^]*\}/))
        .to.match(/^HTTP\/1\.1 401 /)
        .and.to.match(asked.refused);
      client.socket.destroy();
      await eventually(() => s.t.host.activity.count === 0);
      expect(s.held).to.have.length(0);
      expect(endedFigures(s)).to.deep.equal(['unary']);
    });
  }

  it('is a 401 while it waits for a place at its target, and gives its place in line to others', async () => {
    const s = await scene({}, {}, { concurrency: { max_concurrency: 1, queue_size: 1 } });
    const first = s.t.post(CHAT, ask());
    const call = await arrived(s);
    const waiting = s.send({ path: CHAT, body: ask() });
    await eventually(() => s.t.host.running.size === 1);
    await s.t.host.stores.keys.revoke(s.id, 'other');
    expect((await waiting).status).to.equal(401);
    const next = s.t.post(CHAT, ask());
    call.response.end(ANSWER);
    await first;
    (await arrived(s, 2)).response.end(ANSWER);
    await next;
    expect(s.held).to.have.length(2);
  });

  it('is not tried again, and no other target is tried', async () => {
    const clock = fakeClock();
    const s = await scene({}, { clock });
    const sent = s.send({ path: CHAT, body: ask() });
    (await arrived(s)).response.writeHead(503, { 'retry-after': '20' }).end();
    await eventually(() => s.t.lines.some(({ msg }) => msg === 'retrying target'));
    await s.t.host.stores.keys.revoke(s.id, 'other');
    expect((await sent).status).to.equal(401);
    clock.advance(60_000);
    await eventually(() => s.t.host.activity.count === 0);
    expect(s.held).to.have.length(1);
  });

  for (const asked of CASES.filter(({ streams, last }) => streams && last)) {
    it(`ends with an error a stream that was opened before its first chunk: ${titleOf(asked)}`, async () => {
      const clock = fakeClock();
      const s = await scene({ streaming: { open_after: '10s', keepalive: '5s' } }, { clock });
      const sent = s.send(asked);
      const call = await arrived(s);
      clock.advance(10_000);
      const answer = await sent;
      const reader = answer.body?.getReader();
      if (!reader) throw new Error('no body');
      clock.advance(6000);
      await s.t.host.stores.keys.revoke(s.id, 'other');
      const { text, isBroken } = await restOf(reader);
      expect([answer.status, isBroken]).to.deep.equal([200, false]);
      expect(text)
        .to.match(asked.last as RegExp)
        .and.to.contain(ENDED);
      await eventually(() => isLeft(call));
      await expectEnded(s, 'stream');
    });
  }
});

describe('a credential that ends while a request runs', () => {
  const ends: readonly (readonly [what: string, end: (s: Scene) => Promise<unknown>, reason: string])[] = [
    ['is deleted', ({ t, id }) => t.host.stores.keys.delete(id, 'other'), 'gone'],
    ['is rotated without a grace', ({ t, id }) => t.host.stores.keys.rotate(id), 'replaced'],
    ['is revoked by the admin API', ({ t, id }) => t.request('POST', `/admin/keys/${id}/revoke`), 'revoked'],
  ];
  for (const [what, end, reason] of ends) {
    it(`ends it as well: ${what}`, async () => {
      const s = await scene();
      const sent = s.send({ path: CHAT, body: ask() });
      await arrived(s);
      await end(s);
      expect((await sent).status).to.equal(401);
      expect(s.t.lines.find(({ msg }) => msg === 'a request was ended with its credential')).to.include({ reason });
    });
  }

  const stays: readonly (readonly [what: string, change: (s: Scene) => Promise<unknown>])[] = [
    ['is rotated with a grace', ({ t, id }) => t.host.stores.keys.rotate(id, { graceMs: 60_000 })],
    [
      'gets another name, and lower limits',
      ({ t, id }) => t.host.stores.keys.update(id, { name: 'x', limits: { models: [], rpm: 1 } }, 'other'),
    ],
    ['expires', ({ t, id }) => t.host.stores.keys.update(id, { expiresAt: 1 }, 'other')],
    ['is another one', ({ t }) => t.host.stores.keys.delete('none', 'other')],
  ];
  for (const [what, change] of stays) {
    it(`ends nothing where it ${what}`, async () => {
      const s = await scene();
      const sent = s.send({ path: CHAT, body: ask() });
      const call = await arrived(s);
      await change(s);
      call.response.end(ANSWER);
      expect((await sent).status).to.equal(200);
      expect(endedFigures(s)).to.deep.equal([]);
    });
  }

  it('ends what its old value began as soon as the grace is over, by the next look', async () => {
    const clock = fakeClock();
    const s = await scene({}, { clock });
    const sent = s.send({ path: CHAT, body: ask() });
    await arrived(s);
    await s.t.host.stores.keys.rotate(s.id, { graceMs: 60_000 });
    clock.advance(60_000);
    await turn();
    expect(s.t.host.running.size).to.equal(1);
    clock.advance(5000);
    expect((await sent).status).to.equal(401);
  });

  it('leaves what the new value begins alone', async () => {
    const s = await scene();
    const old = s.send({ path: CHAT, body: ask() });
    await arrived(s);
    const made = await s.t.host.stores.keys.rotate(s.id, { graceMs: 1000 });
    const sent = s.t.post(CHAT, ask(), { authorization: `Bearer ${made?.key}` });
    const call = await arrived(s, 2);
    await s.t.host.stores.keys.update(s.id, { name: 'x' }, 'other');
    await s.t.host.stores.keys.rotate(s.id);
    expect([(await old).status, (await sent).status]).to.deep.equal([401, 401]);
    await eventually(() => isLeft(call));
  });

  it('ends what a session began, with the session or with its key', async () => {
    for (const by of ['session', 'key', 'all sessions', 'end_sessions'] as const) {
      const s = await scene();
      const { sessions, keys } = s.t.host.stores;
      const { token, session } = await sessions.create({ credentialId: s.id, subject: 'x', scopes: ['read_only'] });
      const sent = s.t.post(CHAT, ask(), { authorization: `Bearer ${token}` });
      await arrived(s);
      if (by === 'session') await sessions.delete(session.id);
      else if (by === 'all sessions') await sessions.deleteAll();
      else if (by === 'key') await keys.revoke(s.id, 'other');
      else await keys.rotate(s.id, { endsSessions: true });
      expect((await sent).status, by).to.equal(401);
    }
  });

  it('is never the master key, nor a request without a credential', async () => {
    const clock = fakeClock();
    const s = await scene({}, { clock, variables: { ALLOW_UNAUTHENTICATED_PROXY: 'true' } });
    const sent = [s.t.post(CHAT, ask()), s.t.post(CHAT, ask(), { authorization: `Bearer ${MASTER_KEY}x` })];
    await arrived(s, 2);
    expect(s.t.host.running.size).to.equal(0);
    expect(clock.waiting).to.be.below(10);
    for (const { response } of s.held) response.end(ANSWER);
    await Promise.all(sent);
  });

  it('is looked for by one timer while something runs, and by none while nothing does', async () => {
    const clock = fakeClock();
    const s = await scene({}, { clock });
    const before = clock.waiting;
    const answers = [s.send({ path: CHAT, body: ask() }), s.send({ path: CHAT, body: ask() })];
    await arrived(s, 2);
    for (const { response } of s.held) response.end(ANSWER);
    await Promise.all(answers);
    await eventually(() => s.t.host.running.size === 0);
    clock.advance(5000);
    await turn();
    await eventually(() => clock.waiting === before);
    expect(clock.waiting).to.equal(before);
  });
});
