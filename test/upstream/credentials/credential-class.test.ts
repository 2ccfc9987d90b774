import { expect } from 'chai';
import { GatewayError, type ProviderModule, type UpstreamFault } from '../../../host/contract/index.ts';
import { type CredentialClass, credentialFault } from '../../../host/upstream/credentials/credential-class.ts';
import { faultInAnswer, faultInFrame, replyError, statusError } from '../../../host/upstream/fault.ts';
import { PROVIDERS } from '../../contract/hostile/wires.ts';
import { bodyText, FAULT_VECTORS, type FaultVector, titleOf } from '../fault-vectors.ts';
import { failure } from './pool-world.ts';

const plain = { name: 'acme' } as ProviderModule;
const MANY = { count: 2, isProtected: false };

function errorOf({ module, ...vector }: FaultVector, headers = vector.headers ?? {}): GatewayError {
  const known = PROVIDERS.find(({ name }) => name === module) ?? plain;
  return replyError(known, { status: vector.status, headers, body: Buffer.from(bodyText({ module, ...vector })) }, 0);
}

/** The first row that holds, by what a failure is: written from the table of docs/reference/credentials.md. */
function promised(fault: UpstreamFault | undefined, hintMs = 0): CredentialClass | undefined {
  const { reason, status, code = '' } = fault ?? {};
  if (reason === 'billing') return 'billing';
  if (status === 429 && hintMs > 600_000 && reason !== 'overload' && reason !== 'over_rate') return 'billing';
  if (['context_length', 'content_policy', 'too_large', 'overload', 'over_rate'].includes(reason ?? ''))
    return undefined;
  if (status === 429) return 'rate';
  if (reason === 'model_access') return 'no_access';
  if (reason !== 'key') return undefined;
  return status === 403 && !/Exception$|^IncompleteSignature$|^API_KEY_INVALID$/.test(code)
    ? 'no_access'
    : 'invalid_key';
}

describe('what a failure means for its credential', () => {
  for (const vector of FAULT_VECTORS)
    it(titleOf(vector), () => {
      const error = errorOf(vector);
      const found = credentialFault(error, MANY);
      expect(found?.class).to.equal(promised(error.fault, error.retryAfterMs));
      if (found) expect(found.isOfRequest).to.equal(error.fault?.ofRequest === true);
      const hour = errorOf(vector, { ...vector.headers, 'retry-after': '3600' });
      expect(credentialFault(hour, MANY)?.class, 'with a hint of an hour').to.equal(promised(hour.fault, 3_600_000));
    });

  const BODIES: readonly (readonly [
    name: string,
    status: number,
    body: unknown,
    wanted: CredentialClass | undefined,
  ])[] = [
    ['insufficient_quota', 429, { error: { message: 'quota', code: 'insufficient_quota' } }, 'billing'],
    [
      'the balance of Anthropic',
      400,
      {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'Your credit balance is too low to access the Anthropic API.',
        },
      },
      'billing',
    ],
    ['402 of DeepSeek', 402, { error: { message: 'Insufficient Balance' } }, 'billing'],
    ['402 of OpenRouter', 402, { error: { code: 402, message: 'Insufficient credits' } }, 'billing'],
    ['an overload by 429', 429, { error: { message: 'The model is overloaded' } }, undefined],
    [
      'a request above the rate',
      429,
      {
        error: {
          code: 'rate_limit_exceeded',
          message:
            'Request too large for gpt-4o in organization x (TPM): Limit 30000, Requested 35000. The input or output tokens must be reduced',
        },
      },
      undefined,
    ],
    [
      '403 about content',
      403,
      {
        error: {
          code: 403,
          message: 'openai/x requires moderation and your input was flagged',
          metadata: { reasons: ['violence'] },
        },
      },
      undefined,
    ],
    ['a plain 429', 429, { error: { message: 'slow down' } }, 'rate'],
    ['a plain 401', 401, { error: { message: 'Incorrect API key provided' } }, 'invalid_key'],
    ['a plain 403', 403, 'Forbidden', 'no_access'],
    [
      'a signature that is refused',
      403,
      { __type: 'InvalidSignatureException', code: 'InvalidSignatureException', message: 'no' },
      'invalid_key',
    ],
    ['a plain 500', 500, {}, undefined],
    ['a plain 400', 400, { error: { message: 'no' } }, undefined],
  ];
  for (const [name, status, body, wanted] of BODIES)
    it(`is ${wanted ?? 'nothing'} for ${name}`, () => {
      const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
      expect(credentialFault(replyError(plain, { status, headers: {}, body: bytes }, 0), MANY)?.class).to.equal(wanted);
    });

  it('depends on what the credential did of late, and on how many there are', () => {
    const refused = failure({ status: 401, reason: 'key' });
    expect(credentialFault(refused, { count: 1, isProtected: true })?.class).to.equal('no_access');
    const unknown = failure({ status: 404, reason: 'model_access' });
    expect(credentialFault(unknown, { count: 1, isProtected: false })).to.equal(undefined);
    expect(credentialFault(unknown, MANY)?.class).to.equal('no_access');
    expect(credentialFault(failure({ status: 403, reason: 'model_access' }), { ...MANY, count: 1 })?.class).to.equal(
      'no_access',
    );
  });

  it('is read of an answer that says 200, and of a stream', () => {
    const body = { error: { message: 'slow down', type: 'rate_limit_error' } };
    for (const error of [faultInAnswer(body), faultInFrame(body)])
      expect(error && credentialFault(error, MANY)?.class).to.equal('rate');
    const spent = { error: { message: 'no', code: 'insufficient_quota' } };
    expect(credentialFault(faultInFrame(spent) as GatewayError, MANY)?.class).to.equal('billing');
  });

  it('is what the status says where the body is not read', () => {
    const of = (status: number, headers = {}): string | undefined => {
      const error = statusError({ status, headers }, 0);
      return credentialFault(error, MANY)?.class;
    };
    expect([401, 402, 403, 404, 413, 429, 451, 500, 503, 529].map((status) => of(status))).to.deep.equal([
      'invalid_key',
      'billing',
      'no_access',
      undefined,
      undefined,
      'rate',
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(of(429, { 'retry-after': '3600' })).to.equal('billing');
  });

  it('is a key that was refused where it is exchanged for a token, and nothing for any other throw', () => {
    const refused = new GatewayError('upstream_auth_error', 'no token', {
      fault: { kind: 'status', status: 400, reason: 'key' },
    });
    const thrown = new Error('the token endpoint answered 400', { cause: refused });
    const wrapped = (cause: unknown): GatewayError =>
      new GatewayError('upstream_error', 'no credential', { cause, fault: { kind: 'transport' } });
    expect(credentialFault(wrapped(refused), MANY)?.class).to.equal('invalid_key');
    expect(credentialFault(wrapped(new Error('authorize', { cause: thrown })), MANY)?.class).to.equal('invalid_key');
    expect(credentialFault(wrapped(new Error('offline')), MANY)).to.equal(undefined);
    expect(credentialFault(new GatewayError('client_canceled', 'gone'), MANY)).to.equal(undefined);
  });

  it('rests for a second where the vendor names no wait', () => {
    for (const wait of ['0', '-5', 'Wed, 21 Oct 2015 07:28:00 GMT'])
      expect(
        statusError({ status: 429, headers: { 'retry-after': wait } }, Date.now()).fault?.asksNoWait,
        wait,
      ).to.equal(true);
    const others: readonly Record<string, string>[] = [{}, { 'retry-after': '3' }, { 'retry-after': 'soon' }];
    for (const headers of others)
      expect(statusError({ status: 429, headers }, Date.now()).fault?.asksNoWait).to.equal(undefined);
  });
});
