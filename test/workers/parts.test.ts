import { expect } from 'chai';
import { GatewayError } from '../../host/contract/index.ts';
import { readWorkers, workersOn } from '../../host/environment/worker-settings.ts';
import type { SettingNote } from '../../host/environment/setting-note.ts';
import { ConnectionAges } from '../../host/http/connections/connection-ages.ts';
import { Channel, type Frame, type Port } from '../../host/workers/channel.ts';
import { FlightBook } from '../../host/workers/flights.ts';
import { forwardedText, readForwarded } from '../../host/workers/forwarded-header.ts';
import { WholeLines } from '../../host/workers/life/whole-lines.ts';
import { PlaceBook } from '../../host/workers/place-book.ts';
import { RemoteError } from '../../host/workers/wire-errors.ts';
import { WorkerConfigurations } from '../../host/workers/worker-configurations.ts';
import { failureOf, fakeTeam } from './fake-team.ts';

/** Two ends of a way, which copy what travels as processes do. */
function ends(): [Port, Port] {
  const hear: ((frames: readonly Frame[]) => void)[] = [];
  const port = (own: number): Port => ({
    send: (frames) => {
      const copy = structuredClone(frames);
      queueMicrotask(() => hear[1 - own]?.(copy));
      return true;
    },
    listen: (listener) => {
      hear[own] = listener;
    },
  });
  return [port(0), port(1)];
}

describe('the channel between processes', () => {
  it('answers questions, each its own, in whatever order the answers come', async () => {
    const [one, other] = ends();
    const asking = new Channel(one);
    const waits = new Map<number, () => void>();
    new Channel(other).on('double', (value) => {
      const { promise, resolve } = Promise.withResolvers<number>();
      waits.set(Number(value), () => resolve(2 * Number(value)));
      return promise;
    });
    const answers = Promise.all([1, 2, 3].map((value) => asking.ask<number>('double', value)));
    while (waits.size < 3) await new Promise(setImmediate);
    for (const value of [3, 1, 2]) waits.get(value)?.();
    expect(await answers).to.deep.equal([2, 4, 6]);
  });

  it('sends what one turn says as one message, in its order', async () => {
    const sent: (readonly Frame[])[] = [];
    const channel = new Channel({ send: (frames) => sent.push(frames) > 0, listen: () => {} });
    for (let at = 0; at < 5; at += 1) channel.tell('number', at);
    await new Promise(setImmediate);
    expect(sent.map((frames) => frames.map((frame) => frame.kind === 'tell' && frame.value))).to.deep.equal([
      [0, 1, 2, 3, 4],
    ]);
  });

  it('passes on the errors of the gateway as they are, and of others the message', async () => {
    const [one, other] = ends();
    const asking = new Channel(one);
    const answering = new Channel(other);
    answering.on('refuse', () => {
      throw new GatewayError('rate_limit_exceeded', 'too soon', { retryAfterMs: 7, reason: 'key_rpm' });
    });
    answering.on('fail', async () => Promise.reject(Object.assign(new Error('lost'), { trouble: 'timeout' })));
    const refusal = await failureOf(asking.ask('refuse'));
    expect(refusal).to.be.instanceOf(GatewayError).and.include({
      code: 'rate_limit_exceeded',
      message: 'too soon',
      status: 429,
      retryAfterMs: 7,
      reason: 'key_rpm',
    });
    expect(await failureOf(asking.ask('fail')))
      .to.be.instanceOf(RemoteError)
      .and.include({ message: 'lost', word: 'timeout' });
    expect((await failureOf(asking.ask('nothing'))).message).to.include('does not answer "nothing"');
  });

  it('tells who waits when the other process has gone, and asks no more', async () => {
    const [one] = ends();
    const channel = new Channel(one);
    const waiting = channel.ask('anything');
    channel.close(new Error('gone'));
    expect((await failureOf(waiting)).message).to.equal('gone');
    expect((await failureOf(channel.ask('more'))).message).to.equal('gone');
  });
});

describe('places that processes hold together', () => {
  const resource = (most: number, key = 'a') => ({ group: 'g', key, most });
  const one = {};
  const other = {};
  let now = 0;
  let freed: object[] = [];
  const book = (): PlaceBook => {
    now = 0;
    freed = [];
    return new PlaceBook({ monotonic: () => now, freed: (holder) => freed.push(holder) });
  };

  it('are never more than there are, and free again with the process that held them', () => {
    const places = book();
    const taken = places.take(one, { of: [resource(3)], wanted: 2, isQueued: false });
    expect(taken.held).to.have.lengthOf(2);
    const more = places.take(other, { of: [resource(3)], wanted: 2, isQueued: false });
    expect([more.held.length, more.refusedAt]).to.deep.equal([1, 0]);
    places.gone(one);
    expect(places.held).to.equal(1);
    expect(places.take(other, { of: [resource(3)], wanted: 5, isQueued: false }).held).to.have.lengthOf(2);
  });

  it('are taken of all resources or of none, and given back once', () => {
    const places = book();
    places.take(one, { of: [resource(1, 'b')], wanted: 1, isQueued: false });
    const refused = places.take(one, { of: [resource(5), resource(1, 'b')], wanted: 1, isQueued: false });
    expect([refused.held.length, refused.refusedAt]).to.deep.equal([0, 1]);
    expect(places.held).to.equal(1);
    const [place] = places.take(one, { of: [resource(5)], wanted: 1, isQueued: false }).held;
    places.giveBack(other, place!);
    expect(places.held).to.equal(2);
    places.giveBack(one, place!);
    places.giveBack(one, place!);
    expect(places.held).to.equal(1);
  });

  it('go to the process that has waited longest, which hears of it, unless it asks no more', () => {
    const places = book();
    const [place] = places.take(one, { of: [resource(1)], wanted: 1, isQueued: true }).held;
    expect(places.take(other, { of: [resource(1)], wanted: 1, isQueued: true }).held).to.deep.equal([]);
    now = 10;
    expect(places.take(one, { of: [resource(1)], wanted: 1, isQueued: true }).held).to.deep.equal([]);
    places.giveBack(one, place!);
    expect(freed).to.deep.equal([other]);
    expect(places.take(one, { of: [resource(1)], wanted: 1, isQueued: true }).held).to.deep.equal([]);
    expect(places.take(other, { of: [resource(1)], wanted: 1, isQueued: true }).held).to.have.lengthOf(1);
    places.gone(other);
    now = 300;
    expect(places.take(one, { of: [resource(1)], wanted: 1, isQueued: true }).held).to.have.lengthOf(1);
  });
});

describe('work that one process does for all', () => {
  it('is given to the first, and to another one where the first has gone or left', async () => {
    const book = new FlightBook(() => 0);
    const [first, second] = [{}, {}];
    expect([book.begin(first, 'k'), book.begin(second, 'k')]).to.deep.equal([true, false]);
    const waiting = book.wait('k');
    book.land(second, 'k', false); // not its own
    book.gone(first);
    expect(await waiting).to.equal(true);
    expect(book.begin(second, 'k')).to.equal(true);
    const again = book.wait('k');
    book.land(second, 'k', false);
    expect(await again).to.equal(false);
    expect(await book.wait('k')).to.equal(false);
  });

  it('is begun anew where its process says nothing for too long', async () => {
    let now = 0;
    const book = new FlightBook(() => now);
    book.begin({}, 'k');
    const waiting = book.wait('k');
    now = 600_000;
    expect(book.begin({}, 'k')).to.equal(true);
    expect(await waiting).to.equal(true);
  });
});

describe('a configuration for all workers', () => {
  const document = { targets: [] };
  const inForce = { document, version: 7, isWritten: true };

  const setup = () => {
    const team = fakeTeam(3);
    const errors: string[] = [];
    const log = {
      debug: () => {},
      info: () => {},
      warn: () => {},
      error: (message: string) => void errors.push(message),
    };
    const configurations = new WorkerConfigurations({
      team,
      log,
      start: () => ({ document: {}, version: 0, isWritten: false, isDefault: true }),
    });
    return { team, errors, configurations };
  };

  it('is built by those that have joined, and by none where one cannot use it', async () => {
    const { team, errors, configurations } = setup();
    const [one, two, three] = team.seats;
    expect(await team.hear(one!, 'config.join', 0)).to.equal(undefined);
    expect(await team.hear(two!, 'config.join', 0)).to.equal(undefined);
    team.answer('config.prepare', (seat) => {
      if (seat === two) throw new Error('no such module');
    });
    const refusal = await failureOf(configurations.prepare(document));
    expect(refusal).to.include({ code: 'internal_error', message: 'a worker cannot use this configuration' });
    expect(errors).to.deep.equal(['a worker cannot use a configuration']);
    expect(team.said.filter(({ topic }) => topic === 'config.abort').map(({ seat }) => seat)).to.deep.equal([one, two]);
    expect(team.said.some(({ seat }) => seat === three)).to.equal(false);
  });

  it('is taken by a worker that came while it was built, and given to one that comes later', async () => {
    const { team, configurations } = setup();
    const [one, two, three] = team.seats;
    await team.hear(one!, 'config.join', 0);
    const prepared = await configurations.prepare(document);
    await team.hear(two!, 'config.join', 0);
    await prepared.commit(inForce);
    expect(team.said.map(({ seat, topic }) => [team.seats.indexOf(seat), topic])).to.deep.equal([
      [0, 'config.prepare'],
      [0, 'config.commit'],
      [1, 'config.take'],
    ]);
    expect(await team.hear(three!, 'config.join', 0)).to.include({ version: 7, serial: 1, isDefault: false });
    expect(await team.hear(three!, 'config.join', 1)).to.equal(undefined);
  });

  it('goes on without a worker that does not answer, which is ended', async () => {
    const { team, configurations } = setup();
    for (const seat of team.seats) await team.hear(seat, 'config.join', 0);
    team.silent.add(team.seats[1]!);
    await (await configurations.prepare(document)).commit(inForce);
    expect(team.replaced).to.deep.equal([team.seats[1], team.seats[1]]);
  });
});

describe('what workers are made of', () => {
  it('is a number of processes that can be read, or the start is refused', () => {
    const read = (text: string | undefined): [unknown, readonly string[]] => {
      const notes: SettingNote[] = [];
      return [readWorkers({ GW_WORKERS: text }, notes), notes.map(({ level }) => level)];
    };
    for (const [text, count] of [
      [undefined, 1],
      ['', 1],
      ['  ', 1],
      ['1', 1],
      [' 03 ', 3],
      ['64', 64],
      ['AUTO', 'auto'],
    ] as const)
      expect(read(text), String(text)).to.deep.equal([count, []]);
    for (const text of ['0', '65', '-1', '1.5', '2e1', 'many', 'auto 2', '0x2'])
      expect(read(text), text).to.deep.equal([1, ['fatal']]);
  });

  it('is what the machine has room for', () => {
    expect(workersOn({ os: 'linux', parallelism: 6 }, 'auto')).to.equal(6);
    expect(workersOn({ os: 'linux', parallelism: 96 }, 'auto')).to.equal(16);
    expect(workersOn({ os: 'linux', parallelism: 1 }, 'auto')).to.equal(1);
    expect(workersOn({ os: 'linux', parallelism: 2 }, 64)).to.equal(64);
    expect(workersOn({ os: 'win32', parallelism: 8 }, 4)).to.equal(1);
  });

  it('says of a request what the primary must know, and believes nothing else', () => {
    const said = { id: 'a'.repeat(32), address: '::1', listener: 'data' } as const;
    const read = (text: string | undefined) =>
      readForwarded({ headers: { ...(text !== undefined && { 'x-gateway-worker': text }) } });
    expect(read(forwardedText(said))).to.deep.equal(said);
    expect(read(forwardedText({ ...said, listener: undefined }))).to.deep.equal({ ...said, listener: undefined });
    for (const text of [
      undefined,
      '',
      'x',
      forwardedText({ ...said, id: 'short' }),
      Buffer.from('[1]').toString('base64url'),
    ])
      expect(read(text), String(text)).to.equal(undefined);
  });

  it('copies whole lines, however they arrive', () => {
    const lines: string[] = [];
    const whole = new WholeLines((line) => lines.push(line));
    for (const piece of ['on', 'e\ntw', 'o\n\nthr', 'ee']) whole.take(piece);
    whole.end();
    expect(lines).to.deep.equal(['one\n', 'two\n', '\n', 'three\n']);
  });

  it('ends a connection after so many requests, or so long', () => {
    let now = 0;
    const ages = new ConnectionAges({ monotonic: () => now, random: () => 0.5 });
    const socket = {} as never;
    const answers = Array.from({ length: 1001 }, () => ages.isOver(socket));
    expect(answers.indexOf(true)).to.equal(999);
    const later = { other: true } as never;
    expect(ages.isOver(later)).to.equal(false);
    now = 300_000;
    expect(ages.isOver(later)).to.equal(true);
  });
});
