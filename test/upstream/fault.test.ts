import { expect } from 'chai';
import { commonFault, replyError, transportError } from '../../host/upstream/fault.ts';
import type { ProviderModule } from '../../host/contract/index.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const messageOf = (body: unknown): string | undefined =>
  commonFault(bytes(typeof body === 'string' ? body : JSON.stringify(body))).message;
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
    { success: false, errors: [{ message: 'x' }] },
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

  it('recognises the two reasons that failover may name, and only by their code', () => {
    expect(errorOf(400, { error: { message: 'm', code: 'context_length_exceeded' } }).fault?.reason).to.equal(
      'context_length',
    );
    expect(errorOf(400, { error: { message: 'm', code: 'content_policy_violation' } }).fault?.reason).to.equal(
      'content_policy',
    );
    expect(errorOf(400, { error: { message: 'm', code: 'content_filter' } }).fault?.reason).to.equal('content_policy');
    expect(errorOf(400, { message: 'm', code: 'context_length_exceeded' }).fault?.reason).to.equal('context_length');
    expect(errorOf(400, { error: { message: 'context_length_exceeded' } }).fault?.reason).to.equal(undefined);
    expect(errorOf(400, { error: { message: 'm', code: 'constructor' } }).fault?.reason).to.equal(undefined);
  });

  it('takes a content-policy fault for one at status 400 only', () => {
    expect(errorOf(403, { error: { message: 'm', code: 'content_filter' } }).fault?.reason).to.equal(undefined);
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
