import { expect } from 'chai';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import { type RawAnswer, sendRaw } from '../../host/http/raw-reply.ts';
import { rawClient, startHost, type TestHost } from '../kit/index.ts';

const bytes = (text: string): Buffer => Buffer.from(text);

async function serving(answer: () => RawAnswer): Promise<TestHost> {
  const route = defineBuiltin({
    name: 'raw',
    apply: ({ hooks }) =>
      hooks.mount.tap({ name: 'raw', stage: ORDER.listings }, (router, { services }) => {
        router.get('/raw', (_request, response) => {
          sendRaw(response, answer(), services).catch(() => {});
        });
      }),
  });
  return startHost({ strategy: { mode: 'single' }, targets: [{ virtual_key: 'echo' }] }, { builtins: [route] });
}

describe('an answer of bytes', () => {
  it('has the status and headers it is given, whole or piece by piece, and those of every answer', async () => {
    const headers = ['Content-Type', 'text/x', 'X-Twice', 'a', 'X-Twice', 'b'];
    const pieces = async function* pieces() {
      yield* [bytes('in '), bytes('pieces')];
    };
    const bodies = [bytes('in pieces'), pieces()];
    const host = await serving(() => ({ status: 418, headers, body: bodies.shift()! }));
    for (const length of ['9', null]) {
      const answer = await host.get('/raw');
      expect([answer.status, answer.text]).to.deep.equal([418, 'in pieces']);
      expect([
        answer.headers.get('content-type'),
        answer.headers.get('x-twice'),
        answer.headers.get('content-length'),
        answer.headers.get('x-frame-options'),
      ]).to.deep.equal(['text/x', 'a, b', length, 'DENY']);
    }
  });

  it('may send its head before the first byte of its body is there', async () => {
    const gate = Promise.withResolvers<void>();
    const late = async function* late() {
      await gate.promise;
      yield bytes('late');
    };
    const host = await serving(() => ({ status: 206, headers: [], body: late(), isHeadFirst: true }));
    const client = await rawClient(host.url);
    client.send('GET /raw HTTP/1.1\r\nHost: h\r\n\r\n');
    expect(await client.until(/\r\n\r\n$/)).to.match(/^HTTP\/1\.1 206 /);
    gate.resolve();
    await client.until(/4\r\nlate\r\n0\r\n\r\n$/);
  });
});
