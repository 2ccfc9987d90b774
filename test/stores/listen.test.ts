import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import { Listener, type ListeningClient, STALE_MS } from '../../builtins/stores/database/listen.ts';
import { BEAT_MS } from '../../builtins/stores/replicas/beat.ts';
import { BEAT_CHANNEL } from '../../builtins/stores/replicas/sql-beat.ts';
import { Replica } from '../../host/stores/replicas/replica.ts';
import { fakeClock } from '../kit/index.ts';

const DEAF = 'changes by other processes cannot be heard of; keys are looked up again every 5 s';
const AGAIN = 'changes by other processes are heard of at once again';

/** A connection of the driver that does what the test says. */
class Client extends EventEmitter {
  isDestroyed = false;
  readonly statements: string[] = [];
  readonly connection = {
    stream: {
      destroy: (): void => {
        this.isDestroyed = true;
      },
    },
  };

  async connect(): Promise<this> {
    return this;
  }

  async query(text: string): Promise<void> {
    this.statements.push(text);
  }

  notify(channel: string, payload: string): void {
    this.emit('notification', { channel, payload });
  }
}

async function scene() {
  const clock = fakeClock();
  const clients: Client[] = [];
  const lines: string[] = [];
  const told: string[] = [];
  let ids = 0;
  const replica = new Replica((size) => Buffer.alloc(size, (ids += 1)));
  const line = (message: string, attributes?: object): void => {
    const { rule, reason } = (attributes ?? {}) as { readonly rule?: string; readonly reason?: string };
    lines.push([message, rule ?? reason].filter(Boolean).join(': '));
  };
  const listener = new Listener({
    clock,
    log: { debug: line, info: line, warn: line, error: line },
    client: async () => {
      clients.push(new Client());
      return clients.at(-1) as unknown as ListeningClient;
    },
    replica,
    channels: ['gw_key_changes'],
    advice: 'ask',
  });
  listener.on('gw_key_changes', (word) => told.push(word));
  await listener.open();
  let beats = 0;
  /** One beat every two seconds; its echo comes so many milliseconds later, or never. */
  const beat = async (echoMs?: number, error?: unknown): Promise<void> => {
    const nonce = String((beats += 1));
    listener.sending(nonce, clock.monotonic());
    listener.answered(error);
    if (echoMs !== undefined) {
      clock.advance(echoMs);
      clients.at(-1)?.notify(BEAT_CHANNEL + replica.id, nonce);
    }
    clock.advance(BEAT_MS - (echoMs ?? 0));
    await new Promise(setImmediate);
  };
  return { clock, clients, lines, told, replica, listener, beat };
}

describe('the connection that listens', () => {
  it('hears once a beat has come back, and not because it is there', async () => {
    const { clock, clients, told, listener, beat } = await scene();
    expect([listener.hears, listener.freshSince()]).to.deep.equal([false, -STALE_MS]);
    await beat(10);
    expect([listener.hears, listener.freshSince()]).to.deep.equal([true, 0]);
    clients[0]?.notify('gw_key_changes', 'word');
    clients[0]?.notify('another', 'word');
    expect(told).to.deep.equal(['word']);
    clock.advance(2999); // the beat was sent at 0
    expect(listener.hears).to.equal(true);
    clock.advance(1);
    expect([listener.hears, listener.freshSince()]).to.deep.equal([false, 0]);
  });

  it('counts an echo within two seconds, from the moment its beat was sent', async () => {
    const { clock, lines, listener, beat } = await scene();
    for (let at = 0; at < 5; at += 1) await beat(1900);
    expect([listener.hears, lines]).to.deep.equal([true, []]);
    clock.advance(100);
    for (let at = 0; at < 3; at += 1) {
      listener.sending(`late ${at}`, clock.monotonic() - 2100);
      listener.answered();
      await beat();
    }
    expect([listener.hears, lines]).to.deep.equal([false, [`${DEAF}: no echo`]]);
  });

  it('is given up after five seconds without an echo, and made anew', async () => {
    const { clients, lines, listener, beat } = await scene();
    await beat(10);
    for (let at = 0; at < 3; at += 1) await beat();
    expect([clients.length, clients[0]?.isDestroyed]).to.deep.equal([2, true]);
    expect(clients[1]?.statements.at(-1)).to.match(/LISTEN gw_key_changes; LISTEN gw_beat_01/);
    clients[0]?.emit('end');
    clients[0]?.emit('error', new Error('of the one before'));
    await beat(10);
    expect([listener.hears, lines]).to.deep.equal([true, [`${DEAF}: no echo`, AGAIN]]);
  });

  it('is kept while the database does not answer the beats either', async () => {
    const { clients, lines, listener, beat } = await scene();
    await beat(10);
    for (let at = 0; at < 9; at += 1) await beat(undefined, new Error('no answer'));
    expect([clients.length, listener.hears]).to.deep.equal([1, false]);
    await beat(10);
    expect([clients.length, listener.hears, lines]).to.deep.equal([1, true, [`${DEAF}: no echo`, AGAIN]]);
  });

  it('is made anew with the next beat once it is closed, and memory counts for nothing at once', async () => {
    const { clients, lines, clock, listener, beat } = await scene();
    await beat(10);
    clients[0]?.emit('error', new Error('reset'));
    expect([listener.hears, listener.freshSince()]).to.deep.equal([false, clock.monotonic() - STALE_MS]);
    await beat();
    expect(clients).to.have.length(2);
    await beat(10);
    expect([listener.hears, lines]).to.deep.equal([true, [`${DEAF}: closed`, AGAIN]]);
    expect(listener.freshSince(), 'only what was read since then counts').to.be.greaterThan(0);
  });

  it('says once that the way does not pass notifications on, and tries every thirty seconds from then on', async () => {
    const { clients, lines, listener, beat } = await scene();
    for (let at = 0; at < 12; at += 1) await beat();
    const warned = [`${DEAF}: no echo`, 'the way to the database does not pass notifications on; ask: WN81'];
    expect(lines).to.deep.equal(warned);
    const made = clients.length;
    for (let at = 0; at < 60; at += 1) await beat();
    expect(clients.length - made, 'in two minutes').to.be.within(3, 4);
    expect(lines).to.deep.equal(warned);
    while (clients.at(-1)?.isDestroyed) await beat();
    await beat(10);
    expect([listener.hears, lines.at(-1)]).to.deep.equal([true, AGAIN]);
  });

  it('does not count what comes back of a beat that was sent before it listened', async () => {
    const { clients, clock, replica, listener, beat } = await scene();
    await beat(10);
    clients[0]?.emit('end');
    listener.sending('early', clock.monotonic()); // connects
    clients[1]?.notify(BEAT_CHANNEL + replica.id, 'early');
    clock.advance(1);
    await new Promise(setImmediate);
    clients[1]?.notify(BEAT_CHANNEL + replica.id, 'early');
    expect([clients.length, listener.hears]).to.deep.equal([2, false]);
    await beat(10);
    expect(listener.hears).to.equal(true);
  });

  it('is made anew, with its new channel, once the replica goes by another id', async () => {
    const { clients, replica, listener, beat } = await scene();
    await beat(10);
    replica.renew();
    listener.moved();
    await new Promise(setImmediate);
    expect([clients[0]?.isDestroyed, clients[1]?.statements.at(-1)]).to.deep.equal([
      true,
      `LISTEN gw_key_changes; LISTEN ${BEAT_CHANNEL}${replica.id}`,
    ]);
    await beat(10);
    expect([clients.length, listener.hears]).to.deep.equal([2, true]);
  });
});
