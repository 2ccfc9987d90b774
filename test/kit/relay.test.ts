import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { Client } from 'pg';
import { atEnd, eventually, forSuite, type Relay, startPostgres, startRelay } from './index.ts';

/** A message of Postgres. */
function message(type: string, body: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(4 + Buffer.byteLength(body));
  return Buffer.concat([Buffer.from(type), length, Buffer.from(body)]);
}

/** The first message of a client has no type. */
const START = message('', '\0\x03\0\0user\0x\0\0');

interface Ends {
  readonly relay: Relay;
  readonly client: Socket;
  /** All that arrived at either end. */
  readonly seen: { client: string; server: string };
  /** The server's end of the connection. */
  readonly server: () => Socket;
}

/** A client that has begun to speak through a relay, and the server's end. */
async function ends(protocol = 'postgres'): Promise<Ends> {
  const seen = { client: '', server: '' };
  const taken: Socket[] = [];
  const listener = createServer((socket) => {
    taken.push(socket);
    socket.on('error', () => {}).on('data', (bytes) => (seen.server += bytes.toString('latin1')));
  });
  await once(listener.listen(0, '127.0.0.1'), 'listening');
  atEnd(() => {
    for (const socket of taken) socket.destroy();
    listener.close();
  });
  const relay = await startRelay(`${protocol}://u:p@127.0.0.1:${(listener.address() as AddressInfo).port}/db`);
  const client = await dial(relay);
  client.on('data', (bytes) => (seen.client += bytes.toString('latin1')));
  client.write(START);
  await arrives(() => seen.server.length === START.length);
  return { relay, client, seen, server: () => taken[0]! };
}

async function dial(relay: Relay): Promise<Socket> {
  const socket = connect(Number(new URL(relay.url).port), '127.0.0.1').on('error', () => {});
  atEnd(() => {
    socket.destroy();
  });
  await once(socket, 'connect');
  return socket;
}

async function arrives(says: () => boolean): Promise<void> {
  await eventually(says);
  expect(says()).to.equal(true);
}
/** Whether by an end or by a reset. */
const ended = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    socket.once('close', () => resolve());
  });
/** Longer than anything takes on its way through this machine. */
const aWhile = (): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, 50);
  });

describe('a relay', () => {
  it('keeps all of an address but host and port', async () => {
    const { relay } = await ends();
    expect(relay.url).to.match(/^postgres:\/\/u:p@127\.0\.0\.1:\d+\/db$/);
  });

  it('passes what comes in pieces, both ways, to the end of either side', async () => {
    const { relay, client, server, seen } = await ends();
    const asked = message('Q', 'SELECT 1\0');
    for (const byte of asked) client.write(Buffer.of(byte));
    await arrives(() => seen.server.endsWith(asked.toString('latin1')));
    server().write(message('C', 'SELECT 1\0'));
    await arrives(() => seen.client.includes('SELECT 1'));
    client.end(message('X', ''));
    await once(server(), 'end');
    server().end();
    await ended(client);
    await arrives(() => relay.open === 0);
    expect(relay.taken).to.equal(1);
  });

  it('cuts what is open, and what comes', async () => {
    const { relay, client } = await ends();
    const closed = ended(client);
    relay.mode = 'cut';
    await closed;
    await ended(connect(Number(new URL(relay.url).port), '127.0.0.1').on('error', () => {}));
    relay.mode = 'pass';
    const later = await dial(relay);
    later.write(START);
    await arrives(() => relay.taken === 3);
    expect(later.destroyed).to.equal(false);
  });

  it('is silent on what was open, also afterwards, and passes what is new', async () => {
    const { relay, client, server, seen } = await ends();
    relay.mode = 'silent';
    client.write(message('Q', 'first\0'));
    const second = await dial(relay);
    second.write(START);
    second.write(message('Q', 'second\0'));
    await arrives(() => seen.server.includes('second'));
    relay.mode = 'pass';
    server().write(message('C', 'answer\0'));
    client.end(message('Q', 'third\0'));
    await aWhile();
    expect(seen.server).not.to.match(/first|third/);
    expect(seen.client).to.equal('');
    expect(server().readableEnded).to.equal(false);
  });

  it('answers nothing in the dark', async () => {
    const { relay, seen } = await ends();
    relay.mode = 'dark';
    const second = await dial(relay);
    second.write(START);
    await aWhile();
    expect(seen.server.length).to.equal(START.length);
    expect(second.destroyed).to.equal(false);
  });

  it('holds what comes, and lets it go late', async () => {
    const { relay, client, seen } = await ends();
    relay.mode = 'held';
    client.write(message('Q', 'held\0'));
    await aWhile();
    expect(seen.server).not.to.include('held');
    relay.mode = 'pass';
    await arrives(() => seen.server.includes('held'));
  });

  it('takes notifications out of what a server of Postgres says', async () => {
    const { relay, server, seen } = await ends();
    relay.mode = 'deaf';
    server().write(Buffer.concat([message('Z', 'I'), message('A', 'a change\0'), message('Z', 'T')]));
    await arrives(() => seen.client.length === 12);
    expect(seen.client).not.to.include('change');
    relay.mode = 'pass';
    server().write(message('A', 'another\0'));
    await arrives(() => seen.client.includes('another'));
  });

  it('takes its time, in order', async () => {
    const { relay, client, seen } = await ends();
    relay.delayMs = 60;
    const begun = performance.now();
    client.write(message('Q', 'one\0'));
    client.write(message('Q', 'two\0'));
    await arrives(() => seen.server.includes('one'));
    expect(performance.now() - begun).to.be.greaterThan(50);
    relay.delayMs = 0;
    client.write(message('Q', 'three\0'));
    await arrives(() => /one.*two.*three/s.test(seen.server));
  });

  it('is silent after a text of the client, with all that belongs to it', async () => {
    const { relay, client, server, seen } = await ends();
    const happened = relay.after('COMMIT');
    client.write(message('P', '\0COMMIT\0\0\0'));
    client.write(message('B', '\0\0\0\0\0\0\0\0'));
    client.write(Buffer.concat([message('S', ''), message('Q', 'more\0')]));
    await happened;
    await arrives(() => seen.server.includes('S\0\0\0\x04'));
    server().write(message('C', 'COMMIT\0'));
    await aWhile();
    expect(seen.client + seen.server).not.to.include('more');
    expect(seen.client).to.equal('');
    expect([client.destroyed, server().readableEnded]).to.deep.equal([false, false]);
  });

  it('ends a connection after a text of the server, which does not arrive where it may not', async () => {
    const { relay, client, server, seen } = await ends();
    const happened = relay.after('COMMIT', { by: 'server', then: 'cut', arrives: false });
    const bothEnded = [ended(client), ended(server())];
    server().write(message('C', 'COMMIT\0'));
    await Promise.all([happened, ...bothEnded]);
    expect(seen.client).to.equal('');
  });

  it('lets what it cuts after arrive', async () => {
    const { relay, client, server, seen } = await ends();
    const happened = relay.after('COMMIT', { then: 'cut' });
    client.write(message('Q', 'COMMIT\0'));
    await happened;
    await Promise.all([ended(client), ended(server())]);
    expect(seen.server).to.include('COMMIT');
  });

  it('does it once, to every connection where a machine is lost', async () => {
    const { relay, client, seen } = await ends();
    const second = await dial(relay);
    second.write(START);
    await arrives(() => seen.server.length === 2 * START.length);
    const happened = relay.after('gone', { all: true });
    client.write(message('Q', 'gone\0'));
    await happened;
    second.write(message('Q', 'unheard\0'));
    const third = await dial(relay);
    third.write(START);
    third.write(message('Q', 'gone, and heard\0'));
    await arrives(() => seen.server.includes('gone, and heard'));
    expect(seen.server).not.to.include('unheard');
  });

  it('counts messages that hold a text', async () => {
    const { relay, client, seen } = await ends();
    const asked = relay.counts('SELECT');
    for (const text of ['SELECT 1\0', 'INSERT\0', 'SELECT 2\0']) client.write(message('Q', text));
    await arrives(() => seen.server.includes('SELECT 2'));
    expect(asked.count).to.equal(2);
  });

  it('takes bytes of another protocol as they come', async () => {
    const { relay, client, seen } = await ends('redis');
    const happened = relay.after('DEL', { arrives: false });
    client.write('*1\r\n$4\r\nPING\r\n');
    await arrives(() => seen.server.includes('PING'));
    client.write('*2\r\n$3\r\nDEL\r\n');
    await happened;
    expect(seen.server).not.to.include('DEL');
  });
});

describe('a relay in front of Postgres', function onPostgres() {
  this.timeout(60_000);
  const dsn = forSuite(async () => (await startPostgres()).createDatabase());

  it('passes and silences real clients', async () => {
    const relay = await startRelay(dsn());
    const client = new Client({ connectionString: relay.url, query_timeout: 300 });
    client.on('error', () => {});
    await client.connect();
    atEnd(() => client.end());
    expect((await client.query('SELECT $1::int AS one', [1])).rows).to.deep.equal([{ one: 1 }]);
    const happened = relay.after('unanswered');
    const asked = client.query("SELECT 'unanswered'").catch((error: Error) => error.message);
    await happened;
    expect(await asked).to.equal('Query read timeout');
  });
});
