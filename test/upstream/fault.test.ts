import { expect } from 'chai';
import { readFaultBytes } from '../../host/upstream/fault-body.ts';
import { replyError, transportError } from '../../host/upstream/fault.ts';
import type { ProviderModule } from '../../host/contract/index.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const messageOf = (body: unknown): string | undefined =>
  readFaultBytes(bytes(typeof body === 'string' ? body : JSON.stringify(body))).message;
const plain = { name: 'acme' } as ProviderModule;
const errorOf = (status: number, body: unknown, module = plain): ReturnType<typeof replyError> =>
  replyError(module, { status, headers: {}, body: bytes(typeof body === 'string' ? body : JSON.stringify(body)) }, 0);

describe('messages of upstream error bodies', () => {
  for (const [body, message] of [
    [{ error: 'plain' }, 'plain'],
    [{ error: { message: 'in an object', type: 't' } }, 'in an object'],
    [{ error: { error: 'nested' } }, 'nested'],
    [{ error: { message: '', error: 'second' } }, 'second'],
    [{ error: { message: 'first', error: 'second' } }, 'first'],
    [{ detail: 'a detail' }, 'a detail'],
    [{ detail: [{ msg: 'one', input: 'the prompt' }, { msg: 'two' }, { loc: [] }] }, 'one; two'],
    [
      {
        object: 'error',
        message: {
          detail: [{ type: 'extra_forbidden', loc: ['body', 'seed'], msg: 'one', input: 'the prompt' }, { msg: 'two' }],
        },
      },
      'one; two',
    ],
    [{ detail: { message: 'm' } }, 'm'],
    [{ detail: { error: 'e' } }, 'e'],
    [{ message: 'flat' }, 'flat'],
    [{ type: 'error', error: { type: 'x', message: 'typed' } }, 'typed'],
    [{ error: 'first', detail: 'second', message: 'third' }, 'first'],
    [{ error: { code: 7 }, detail: 'second', message: 'third' }, 'second'],
    [{ error: '  ', message: '  trimmed ' }, 'trimmed'],
    [{ success: false, errors: [{ message: 'first of errors' }, { message: 'y' }] }, 'first of errors'],
    [{ error: [{ message: 'first of error' }] }, 'first of error'],
    [{ title: 'a title', status: 400 }, 'a title'],
    [{ base_resp: { status_code: 1008, status_msg: 'of a base' } }, 'of a base'],
    [{ error: '{"error":{"message":"in a text"}}' }, 'in a text'],
    [{ error: { message: '{"message":"in a message"}' } }, 'in a message'],
    [{ detail: '[{"error":{"message":"in a list"}}]' }, 'in a list'],
    [{ error: '{"no":"message"}' }, '{"no":"message"}'],
  ] as const) {
    it(`reads ${JSON.stringify(body)}`, () => {
      expect(messageOf(body)).to.equal(message);
    });
  }

  for (const body of [
    '',
    '<html>secret page</html>',
    'null',
    '[]',
    '["x"]',
    '"text"',
    '5',
    '{',
    '{}',
    { error: null },
    { error: {} },
    { error: 5 },
    { detail: [] },
    { detail: [{ input: 'the prompt' }] },
    { message: { text: 'x' } },
  ]) {
    it(`quotes nothing of ${JSON.stringify(body)}`, () => {
      expect(messageOf(body)).to.equal(undefined);
    });
  }

  it('puts the standard phrase of the status where there is no message', () => {
    expect(errorOf(400, '<html>secret page</html>').message).to.equal('Bad Request');
    expect(errorOf(422, '{}').message).to.equal('Unprocessable Entity');
    expect(errorOf(499, '{}').fault?.message).to.be.a('string').and.not.equal('');
  });

  it('keeps a message whole: who shows it redacts it first, and then cuts', () => {
    expect(errorOf(400, { error: 'x'.repeat(100_000) }).message).to.have.length(100_000);
  });

  it('takes a content-policy fault for one where content is refused only', () => {
    const body = { error: { message: 'm', code: 'content_filter' } };
    for (const status of [400, 403, 422, 451])
      expect(errorOf(status, body).fault?.reason, String(status)).to.equal('content_policy');
    for (const status of [401, 404, 409, 429, 500])
      expect(errorOf(status, body).fault?.reason, String(status)).to.not.equal('content_policy');
    const own = { name: 'acme', toFault: () => ({ reason: 'content_policy' }) } as unknown as ProviderModule;
    expect(errorOf(500, {}, own).fault?.reason).to.equal(undefined);
    expect(errorOf(403, {}, own).fault?.reason).to.equal('content_policy');
  });

  it('knows no code that every object has', () => {
    expect(errorOf(400, { error: { message: 'm', code: 'constructor' } }).fault?.reason).to.equal(undefined);
  });

  it('reads how long to wait, a header first', () => {
    const waitOf = (body: unknown, headers: Record<string, string> = {}, status = 429): number | undefined =>
      replyError(plain, { status, headers, body: bytes(JSON.stringify(body)) }, 0).retryAfterMs;
    const said = (message: string): object => ({ error: { message } });
    expect(waitOf(said('Please try again in 6.2s.'))).to.equal(6200);
    expect(waitOf(said('Please try again in 20ms.'))).to.equal(20);
    expect(waitOf(said('Please try again in 1m2s.'))).to.equal(62_000);
    expect(waitOf(said('Please try again in 3h7m12s.'))).to.equal(600_000);
    expect(waitOf(said('Please try again in a moment.'))).to.equal(undefined);
    expect(waitOf(said('Please try again in 6.2s.'), {}, 400)).to.equal(undefined);
    expect(waitOf(said('Please try again in 6.2s.'), { 'retry-after': '3' })).to.equal(3000);
    expect(waitOf({ retry_after: 2.5 })).to.equal(2500);
    expect(waitOf({ error: { message: 'm', metadata: { retry_after: '7' } } })).to.equal(7000);
    expect(waitOf({ error: { message: 'm', details: [{ retryDelay: '34.5s' }] } })).to.equal(34_500);
    for (const retry_after of [0, -1, 'soon', null, 1e9]) expect(waitOf({ retry_after })).to.equal(undefined);
  });

  it('lets the provider read its own body, and reads the usual shapes where that says nothing', () => {
    const own = {
      name: 'acme',
      toFault: ({ status }: { status: number }) => (status === 400 ? { message: 'its own', status: 429 } : undefined),
    } as unknown as ProviderModule;
    expect(errorOf(400, { error: 'usual' }, own)).to.include({ code: 'rate_limit_exceeded', status: 429 });
    expect(errorOf(422, { error: 'usual' }, own).message).to.equal('usual');
  });
});

describe('calls that got no response', () => {
  for (const code of ['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT']) {
    it(`are a timeout of the upstream: ${code}`, () => {
      const error = transportError(Object.assign(new Error('10.0.0.1:443 timed out'), { code }));
      expect(error).to.include({
        code: 'upstream_timeout',
        status: 504,
        message: 'the provider did not answer in time',
      });
      expect(error.fault).to.deep.equal({ kind: 'timeout' });
    });
  }

  for (const code of ['ECONNREFUSED', 'ENOTFOUND', 'ECONNRESET', 'UND_ERR_SOCKET', 'CERT_HAS_EXPIRED']) {
    it(`are a failure of the upstream: ${code}`, () => {
      const error = transportError(Object.assign(new Error('connect 10.0.0.1:443'), { code }));
      expect(error).to.include({ code: 'upstream_error', status: 502 });
      expect(error.message).to.not.include('10.0.0.1');
    });
  }
});
