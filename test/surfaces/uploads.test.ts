import { readdirSync, readlinkSync } from 'node:fs';
import { expect } from 'chai';
import { SpilledFile } from '../../builtins/surfaces/spilled-file.ts';
import { MASTER_KEY, rawClient, startGateway, temporaryFolder } from '../kit/index.ts';
import { errorOf, type SurfaceSet, withUpstream } from './kit.ts';

const PATH = '/v1/audio/transcriptions';
const MIB = 1024 * 1024;

type Part = readonly [name: string, value: string];

/** A form with a file and a model, and these fields, with their names as they are. */
function form(fields: readonly Part[]): string {
  const parts = [['model', 'm'], ...fields].map(
    ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  return `--b\r\nContent-Disposition: form-data; name="file"; filename="talk.wav"\r\n\r\nRIFF\r\n${parts.join('')}--b--\r\n`;
}

const headers = { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'multipart/form-data; boundary=b' };
const listening = (): Promise<SurfaceSet> =>
  withUpstream((_request, response) => {
    response.end('{"text":"hello"}');
  });

async function upload(url: string, body: string): Promise<{ status: number; json(): any }> {
  const response = await fetch(url + PATH, { method: 'POST', headers, body });
  const text = await response.text();
  return { status: response.status, json: () => JSON.parse(text) };
}

/** Names that multer would read as paths into lists and objects. */
const LAST = 2 ** 32 - 2;
const PATHS: readonly (readonly Part[])[] = [
  [[`timestamp_granularities[${LAST}]`, 'word']],
  [
    [`a[${LAST}]`, 'x'],
    ['a[b]', 'y'],
  ],
  [
    ['a[b]', 'y'],
    [`a[${LAST}]`, 'x'],
  ],
  [
    [`model[${LAST}]`, 'x'],
    ['model[b]', 'y'],
  ],
  [
    ['__proto__[polluted]', 'x'],
    ['constructor[prototype][polluted]', 'x'],
  ],
  [
    ['__proto__', 'x'],
    ['toString', 'x'],
    ['[]', 'x'],
    ['[', 'x'],
    [']', 'x'],
  ],
  [[`a${'[b]'.repeat(5000)}`, 'x']],
  [[`a${'[0]'.repeat(5000)}`, 'x']],
  Array.from({ length: 60 }, (_, at): Part => [`a[${LAST - at}][${LAST}]`, 'x']),
];

describe('names of form fields', () => {
  it('do not hold the process up, whatever they look like', async function hostileNames() {
    this.timeout(60_000);
    const gateway = await startGateway({ cwd: await temporaryFolder() });
    for (const fields of PATHS) {
      const answer = await upload(gateway.url, form(fields));
      expect(answer.status, fields[0]?.[0].slice(0, 60)).to.equal(404); // no model m: the form was read
    }
    expect((await fetch(`${gateway.url}/livez`)).status).to.equal(200);
  });

  it('mean what they say', async () => {
    const { host, upstream } = await listening();
    const answer = await upload(
      host.url,
      form([
        ['timestamp_granularities[]', 'word'],
        ['timestamp_granularities[0]', 'no'],
        ['timestamp_granularities[]', 'segment'],
        ['timestamp_granularities[a]', 'no'],
        ['language[]', 'no'],
        ['prompt[0]', 'no'],
        ['language', 'en'],
        ['__proto__', 'no'],
      ]),
    );
    expect(answer.status).to.equal(200);
    const sent = upstream.seen[0]?.text ?? '';
    expect([...sent.matchAll(/; name="([^"]+)"/g)].map(([, name]) => name)).to.deep.equal([
      'file',
      'model',
      'language',
      'timestamp_granularities[]',
      'timestamp_granularities[]',
    ]);
    expect(sent).not.to.include('no\r\n');
  });

  it('may leave the brackets of the one list out', async () => {
    const { host, upstream } = await listening();
    expect((await upload(host.url, form([['timestamp_granularities', 'word']]))).status).to.equal(200);
    expect(upstream.seen[0]?.text).to.match(/name="timestamp_granularities\[\]"\r\n\r\nword\r\n/);
  });

  it('stand in messages in part only', async () => {
    const { host } = await listening();
    const long = 'x'.repeat(10_000);
    for (const body of [form([[long, 'y'.repeat(MIB + 1)]]), form([]).replace('name="file"', `name="${long}"`)]) {
      const answer = await upload(host.url, body);
      expect(answer.status).to.equal(400);
      expect(errorOf(answer).message)
        .to.match(/^invalid multipart: /)
        .and.to.have.length.below(200);
    }
  });

  it('are needed', async () => {
    const { host } = await listening();
    const answer = await upload(host.url, form([]).replace('; name="model"', ''));
    expect([answer.status, errorOf(answer).message]).to.deep.equal([400, 'invalid multipart: a field has no name']);
  });
});

describe('too many parts', () => {
  it('are refused', async () => {
    const { host } = await listening();
    expect((await upload(host.url, form(Array.from({ length: 62 }, () => ['x', ''] as const)))).status).to.equal(200);
    const answer = await upload(host.url, form(Array.from({ length: 63 }, () => ['x', ''] as const)));
    expect([answer.status, errorOf(answer).code]).to.deep.equal([400, 'invalid_request']);
  });
});

/** Temporary files that this process holds open. */
const held = (): string[] =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).includes('gw-upload-') ? [fd] : [];
    } catch {
      return []; // closed meanwhile
    }
  });

async function untilReleased(): Promise<void> {
  while (held().length > 0)
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
}

describe('a large file that is given back', function spilledFiles() {
  before(function linuxOnly() {
    if (process.platform !== 'linux') this.skip(); // others do not list what is open
  });

  async function* pieces(count: number): AsyncGenerator<Buffer> {
    for (let at = 0; at < count; at += 1) yield Buffer.alloc(MIB);
  }

  it('while its temporary file is being opened leaves none open', async () => {
    const file = new SpilledFile('talk.wav');
    const received = file.receive(pieces(40)).catch(() => {});
    while (file.bytes <= 10 * MIB)
      await new Promise((resolve) => {
        queueMicrotask(() => resolve(undefined));
      });
    file.dispose();
    await received;
    await untilReleased();
    expect(file.bytes).to.be.below(13 * MIB);
  });

  it('at any moment leaves none open', async () => {
    for (let turns = 0; turns < 30; turns += 1) {
      const file = new SpilledFile('talk.wav');
      const received = file.receive(pieces(14)).catch(() => {});
      for (let turn = 0; turn < turns; turn += 1)
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
      file.dispose();
      await received;
    }
    await untilReleased();
  });

  it('because its client left leaves none open', async () => {
    const { host } = await listening();
    for (let round = 0; round < 5; round += 1) {
      const client = await rawClient(host.url);
      const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n';
      client.send(
        `POST ${PATH} HTTP/1.1\r\nHost: h\r\nAuthorization: ${headers.authorization}\r\nContent-Type: ${headers['content-type']}\r\nContent-Length: ${20 * MIB}\r\n\r\n${head}`,
      );
      client.socket.write(Buffer.alloc(12 * MIB));
      while (held().length === 0)
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
      client.socket.resetAndDestroy();
      await untilReleased();
    }
  });
});
