import { readdirSync, readlinkSync } from 'node:fs';
import { expect } from 'chai';
import { SpilledFile } from '../../builtins/surfaces/spilled-file.ts';
import { Dice, MASTER_KEY, rawClient, startGateway, startHost, stubUpstream, temporaryFolder } from '../kit/index.ts';
import { errorOf, everySurface, type SurfaceSet, withUpstream } from './kit.ts';

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
      const isRead = fields.every(([name]) => name.length <= 100);
      expect(answer.status, fields[0]?.[0].slice(0, 60)).to.equal(isRead ? 404 : 400); // no model m: the form was read
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
      'timestamp_granularities[]',
      'timestamp_granularities[0]',
      'timestamp_granularities[]',
      'timestamp_granularities[a]',
      'language[]',
      'prompt[0]',
      'language',
      '__proto__',
    ]);
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

/** A form whose only part beside the model is a file with these parameters, as bytes. */
const named = (...parameters: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat([
    Buffer.from('--b\r\nContent-Disposition: form-data; name="file"'),
    ...parameters.map((each) => Buffer.from(each as string)),
    Buffer.from('\r\n\r\nRIFF\r\n--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nm\r\n--b--\r\n'),
  ]);

describe('names of files', () => {
  const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

  for (const [what, parameters, sent] of [
    ['as UTF-8', ['; filename="Grüße 😀.wav"'], 'Grüße 😀.wav'],
    ['as Latin-1', [latin1('; filename="Gr\xfc\xdfe.wav"')], 'Grüße.wav'],
    ['in the form of RFC 5987', [`; filename="x.wav"; filename*=UTF-8''Gr%C3%BC%C3%9Fe.wav`], 'Grüße.wav'],
    ['the same, in Latin-1', [`; filename="x.wav"; filename*=iso-8859-1''Gr%FC%DFe.wav`], 'Grüße.wav'],
    ['with quotes', ['; filename="a\\"b.wav"'], 'a%22b.wav'],
    ['with quotes, as browsers write them', ['; filename="a%22b.wav"'], 'a%22b.wav'],
    ['with a line end', [`; filename*=UTF-8''a%0D%0Ab.wav`], 'a%0D%0Ab.wav'],
    ['with other control characters', [`; filename*=UTF-8''a%00%7Fb.wav`], 'a%00%7Fb.wav'],
    ['with a path', ['; filename="/etc/talk.wav"'], 'talk.wav'],
    ['with a path of Windows', ['; filename="C:\\\\temp\\\\talk.wav"'], 'talk.wav'],
    ['that are nothing but a path', ['; filename="../.."'], 'file'],
    ['without letters', ['; filename="12345"'], 'file'],
  ] as const) {
    it(`are sent as UTF-8: ${what}`, async () => {
      const { host, upstream } = await listening();
      const answer = await host.post(PATH, named(...parameters), headers);
      expect(answer.status, answer.text).to.equal(200);
      const [, filename] = /; filename="([^"]*)"/.exec(upstream.seen[0]?.text ?? '') ?? [];
      expect(filename).to.equal(sent);
    });
  }

  it('count as no file where they are empty, as forms without a chosen file have them', async () => {
    const { host } = await listening();
    const answer = await host.post(PATH, named('; filename=""'), headers);
    expect([answer.status, errorOf(answer).message]).to.deep.equal([400, 'file is required']);
  });
});

describe('fields of any name', () => {
  const NAMES = [
    'include[]',
    'chunking_strategy',
    'known_speaker_names[]',
    'Grüße',
    'a b',
    'keep',
    '__proto__',
    'form',
  ];

  it('arrive in their order, whatever that is, with the model rewritten', async () => {
    const upstream = await stubUpstream((_request, response) => {
      response.end('{"text":"hello"}');
    });
    const host = await startHost({ targets: [upstream.target('a', { model_map: { m: 'real' } }, everySurface)] });
    const dice = new Dice(5);
    for (let round = 0; round < 20; round += 1) {
      const fields = Array.from({ length: dice.below(12) }, (): Part => [
        dice.pick(NAMES),
        dice.pick(['', 'x', 'a\r\n--c', '{"a":1}', 'ü']),
      ]);
      const model = dice.below(fields.length + 1);
      const all: Part[] = [...fields.slice(0, model), ['model', 'm'], ...fields.slice(model)];
      const place = dice.below(all.length + 1);
      const parts = all.map(
        ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
      );
      const file = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\nRIFF\r\n';
      const body = [...parts.slice(0, place), file, ...parts.slice(place), '--b--\r\n'].join('');
      const answer = await host.post(PATH, Buffer.from(body), headers);
      expect(answer.status, answer.text).to.equal(200);
      const sent = upstream.seen.at(-1)?.text ?? '';
      const received = [...sent.matchAll(/; name="([^"]*)"(?:; filename="[^"]*"\r\n[^\r]*)?\r\n\r\n(.*?)\r\n--gw-/gs)];
      const expected: Part[] = all.map(([name, value]) => (name === 'model' ? [name, 'real'] : [name, value]));
      expect(received.map(([, name, value]) => [name, value])).to.deep.equal([
        ...expected.slice(0, place),
        ['file', 'RIFF'],
        ...expected.slice(place),
      ]);
    }
  });

  it('are refused where parsers may read them differently', async () => {
    const { host, upstream } = await listening();
    for (const name of ['a\\"b', 'a%22b', 'a%0d%0ab', 'a\tb', 'n'.repeat(101), 'ü'.repeat(51)]) {
      const answer = await host.post(PATH, Buffer.from(form([[name, 'x']])), headers);
      expect([answer.status, errorOf(answer).code], name).to.deep.equal([400, 'invalid_request']);
    }
    expect((await host.post(PATH, Buffer.from(form([['n'.repeat(100), 'x']])), headers)).status).to.equal(200);
    expect(upstream.seen).to.have.length(1);
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
