import { expect } from 'chai';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { connect } from 'node:net';
import { forSuite, MASTER_KEY, replyJson, startHost, stubUpstream, temporaryFolder } from '../kit/index.ts';
import { atEnd } from '../kit/cleanup.ts';
import { blocked, errorOf, everySurface, type SurfaceSet, withUpstream } from './kit.ts';

const PATH = '/v1/audio/transcriptions';
const MIB = 1024 * 1024;

function form(
  fields: Readonly<Record<string, string | readonly string[]>>,
  file: Uint8Array | undefined = Buffer.from('RIFF-audio'),
  name = 'talk.wav',
): FormData {
  const body = new FormData();
  if (file) body.append('file', new Blob([file as Uint8Array<ArrayBuffer>]), name);
  for (const [field, value] of Object.entries(fields)) for (const one of [value].flat()) body.append(field, one);
  return body;
}

async function upload(
  url: string,
  body: FormData | string,
  path = PATH,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; text: string; json(): any }> {
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${MASTER_KEY}`, ...headers },
    body,
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, json: () => JSON.parse(text) };
}

const answering = (body: string, config: object = {}): Promise<SurfaceSet> =>
  withUpstream((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' }).end(body);
  }, config);
const spilled = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('gw-upload-'));

/** Other programs, and tests that run beside these, have uploads of their own. */
async function ownTemporaryFiles(): Promise<void> {
  const { TMPDIR: before } = process.env;
  process.env['TMPDIR'] = await temporaryFolder();
  atEnd(() => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  });
}

describe('transcriptions', () => {
  forSuite(ownTemporaryFiles);

  it('sends the parts in order and answers the text', async () => {
    const { host, upstream } = await answering('{"text":"hello","usage":{"type":"duration","seconds":3},"extra":1}');
    const answer = await upload(
      host.url,
      form({
        model: 'm',
        language: 'en',
        prompt: 'a "talk"',
        response_format: 'json',
        temperature: '0.2',
        'timestamp_granularities[]': ['word', 'segment'],
      }),
    );
    expect([answer.status, answer.json()]).to.deep.equal([
      200,
      { text: 'hello', usage: { type: 'duration', seconds: 3 } },
    ]);
    expect(answer.headers.get('content-type')).to.equal('application/json');
    expect(answer.headers.get('x-gateway-target')).to.equal('a');
    const { headers, text, url } = upstream.seen[0] ?? expect.fail('nothing arrived');
    expect(url).to.equal('/audio/transcriptions');
    expect(headers['content-length']).to.equal(String(Buffer.byteLength(text)));
    const names = [...text.matchAll(/name="([^"]+)"(?:; filename="([^"]+)")?/g)].map(([, name, file]) =>
      file ? `${name} ${file}` : name,
    );
    expect(names).to.deep.equal([
      'file talk.wav',
      'model',
      'language',
      'prompt',
      'response_format',
      'temperature',
      'timestamp_granularities[]',
      'timestamp_granularities[]',
    ]);
    expect(text)
      .to.contain('RIFF-audio')
      .and.to.contain('Content-Type: application/octet-stream')
      .and.to.contain('a "talk"');
    expect(headers.authorization).to.equal('Bearer stub-key');
  });

  for (const [format, type] of [
    ['text', 'text/plain; charset=utf-8'],
    ['srt', 'text/plain; charset=utf-8'],
    ['vtt', 'text/plain; charset=utf-8'],
    ['verbose_json', 'application/json'],
  ] as const) {
    it(`answers ${format} as the provider wrote it`, async () => {
      const body = '{"text":"hello",  "segments":[1]}';
      const { host } = await answering(body);
      const answer = await upload(host.url, form({ model: 'm', response_format: format }));
      expect([answer.status, answer.headers.get('content-type'), answer.text]).to.deep.equal([200, type, body]);
    });
  }

  for (const format of ['text', 'srt', 'vtt']) {
    it(`takes words of ${format} that look like an error for words`, async () => {
      const body = '{"error":{"message":"said the captain"}}';
      const { host } = await answering(body);
      const answer = await upload(host.url, form({ model: 'm', response_format: format }));
      expect([answer.status, answer.text]).to.deep.equal([200, body]);
    });
  }

  it('takes an error for one, where JSON was asked for or the answer says that it is JSON', async () => {
    const error = { error: { message: 'overloaded' } };
    const plain = await answering(JSON.stringify(error));
    for (const format of ['json', 'verbose_json'])
      expect((await upload(plain.host.url, form({ model: 'm', response_format: format }))).status, format).to.equal(
        502,
      );
    const json = await withUpstream((_request, response) => replyJson(response, 200, error));
    for (const format of ['json', 'verbose_json', 'text'])
      expect((await upload(json.host.url, form({ model: 'm', response_format: format }))).status, format).to.equal(502);
  });

  it('sends no language to translations', async () => {
    const { host, upstream } = await answering('{"text":"hello"}');
    expect((await upload(host.url, form({ model: 'm', language: 'de' }), '/v1/audio/translations')).status).to.equal(
      200,
    );
    expect(upstream.seen[0]?.url).to.equal('/audio/translations');
    expect(upstream.seen[0]?.text).to.not.contain('language');
  });

  it('sends a large file whole, again on a retry, and leaves no temporary file', async () => {
    const lengths: number[] = [];
    const upstream = createServer((request, response) => {
      let bytes = 0;
      request.on('data', (piece: Buffer) => {
        bytes += piece.length;
      });
      request.on('end', () => {
        lengths.push(bytes);
        replyJson(response, lengths.length === 1 ? 500 : 200, { text: 'long' });
      });
    });
    await new Promise<void>((resolve) => {
      upstream.listen(0, '127.0.0.1', resolve);
    });
    atEnd(() => {
      upstream.close();
    });
    const stub = await stubUpstream(() => {});
    const host = await startHost({
      strategy: { mode: 'single' },
      targets: [
        stub.target(
          'a',
          { retry: { attempts: 2, initial_backoff_ms: 1 } },
          {
            ...everySurface,
            connection: {
              env: ['STUB_API_KEY'],
              baseUrl: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
            },
          },
        ),
      ],
    });
    const before = spilled();
    const answer = await upload(host.url, form({ model: 'm' }, Buffer.alloc(12 * MIB, 7)));
    expect([answer.status, answer.headers.get('x-gateway-attempts')]).to.deep.equal([200, '2']);
    expect(lengths).to.have.length(2);
    expect(lengths[0])
      .to.equal(lengths[1])
      .and.to.be.greaterThan(12 * MIB);
    expect(spilled()).to.deep.equal(before);
  });

  it('refuses more than 25 MiB, with a declared length or without', async () => {
    const { host, upstream } = await answering('{}');
    const answer = await upload(host.url, form({ model: 'm' }, Buffer.alloc(25 * MIB + 1)));
    expect([answer.status, errorOf(answer).code]).to.deep.equal([413, 'request_too_large']);
    expect(await chunkedUpload(host.url, 26)).to.match(/^HTTP\/1\.1 413 /);
    expect(upstream.seen).to.have.length(0);
    expect(spilled()).to.deep.equal([]);
  });

  for (const [why, body, message] of [
    ['no file', formWithout({ model: 'm' }), 'file is required'],
    ['neither', formWithout({ other: 'x' }), 'file is required'],
    ['no model', form({}), 'model is required'],
    ['two models', form({ model: ['m', 'n'] }), 'model must be given once'],
    ['an odd temperature', form({ model: 'm', temperature: 'warm' }), 'temperature must be a finite number'],
    ['an infinite temperature', form({ model: 'm', temperature: 'Infinity' }), 'temperature must be a finite number'],
  ] as const) {
    it(`refuses ${why}`, async () => {
      const { host, upstream } = await answering('{}');
      const answer = await upload(host.url, body);
      expect([answer.status, errorOf(answer).code]).to.deep.equal([400, 'invalid_request']);
      expect(errorOf(answer).message).to.contain(message);
      expect(upstream.seen).to.have.length(0);
    });
  }

  for (const [why, type, body] of [
    ['JSON', 'application/json', '{}'],
    ['no boundary', 'multipart/form-data', 'x'],
    [
      'a cut form',
      'multipart/form-data; boundary=b',
      '--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nabc',
    ],
  ] as const) {
    it(`calls ${why} an invalid multipart`, async () => {
      const { host } = await answering('{}');
      const answer = await upload(host.url, body, PATH, { 'content-type': type });
      expect([answer.status, errorOf(answer).code]).to.deep.equal([400, 'invalid_request']);
      expect(errorOf(answer).message).to.contain('invalid multipart');
    });
  }

  it('is refused while a content guardrail stands before the request', async () => {
    const { host, upstream } = await answering('{"text":"x"}', blocked('forbidden'));
    const answer = await upload(host.url, form({ model: 'm' }));
    expect([answer.status, errorOf(answer).code]).to.deep.equal([400, 'request_rejected']);
    expect(upstream.seen).to.have.length(0);
  });

  it('is not for other methods', async () => {
    const { host } = await answering('{}');
    const answer = await host.get(PATH);
    expect([answer.status, answer.headers.get('allow')]).to.deep.equal([405, 'POST']);
  });
});

function formWithout(fields: Readonly<Record<string, string>>): FormData {
  const body = new FormData();
  for (const [field, value] of Object.entries(fields)) body.append(field, value);
  return body;
}

/** An upload that does not say how long it is: the status line that answers it. */
function chunkedUpload(url: string, mebibytes: number): Promise<string> {
  const { port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.once('data', (reply) => {
      resolve(reply.toString().split('\r\n')[0] ?? '');
      socket.destroy();
    });
    socket.once('error', reject);
    socket.write(
      `POST ${PATH} HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${MASTER_KEY}\r\nContent-Type: multipart/form-data; boundary=b\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n';
    socket.write(`${head.length.toString(16)}\r\n${head}\r\n`);
    const piece = Buffer.alloc(MIB);
    for (let sent = 0; sent < mebibytes; sent += 1) {
      socket.write(`${MIB.toString(16)}\r\n`);
      socket.write(piece);
      socket.write('\r\n');
    }
  });
}
