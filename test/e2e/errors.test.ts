import { expect } from 'chai';
import type { ClientOptions } from './support/clients.ts';
import { CLIENTS, type Failure } from './support/failures.ts';
import { type Setup, UPSTREAM_KEY, withGateway } from './support/gateway.ts';
import { answering, refusing } from './support/upstream.ts';

interface Wanted {
  /** How each client types the failure, in the order openai, AI SDK, LangChain. */
  readonly kinds: readonly [string, string, string];
  readonly status: number;
  readonly code: string;
}

/** Every client makes a call and a streamed call; all must fail in the same way, each with its own type of error. */
async function expectFailures(
  setup: Setup,
  { kinds, ...wanted }: Wanted,
  options?: ClientOptions,
): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  for (const [at, client] of CLIENTS.entries()) {
    for (const streaming of [false, true]) {
      const failure = await client.fail(setup, streaming, options);
      const { kind, status, code } = failure;
      expect({ client: client.name, streaming, kind, status, code }).to.deep.equal({
        client: client.name,
        streaming,
        kind: kinds[at],
        ...wanted,
      });
      expect(failure.headers['content-type']).to.equal('application/json');
      failures.push(failure);
    }
  }
  return failures;
}

describe('errors that clients see', () => {
  const gatewayBefore = withGateway();

  it("are bad requests with the upstream's own message when it answers 400", async () => {
    const setup = gatewayBefore(refusing(400, 'error-400.json'));
    const failures = await expectFailures(setup, {
      kinds: ['BadRequestError', 'final', 'BadRequestError'],
      status: 400,
      code: 'invalid_request',
    });
    for (const { message, headers } of failures) {
      expect(message).to.equal("Unsupported value: 'verbosity' does not support 'shout' with this model.");
      expect(headers).to.include({ 'x-gateway-target': 'openai', 'x-gateway-attempts': '1' });
      expect(headers).to.not.have.property('retry-after');
    }
  });

  it('are authentication errors for a wrong gateway key, and nothing reaches the upstream', async () => {
    const setup = gatewayBefore(answering('reply'));
    const wanted: Wanted = {
      kinds: ['AuthenticationError', 'final', 'MODEL_AUTHENTICATION'],
      status: 401,
      code: 'invalid_api_key',
    };
    const failures = await expectFailures(setup, wanted, { key: `gw_${'f'.repeat(32)}` });
    for (const { headers } of failures) expect(headers).to.not.have.property('x-gateway-target');
    expect(setup.upstream.seen).to.deep.equal([]);
  });

  it('are not-found errors for a model that no target serves, and nothing reaches the upstream', async () => {
    const setup = gatewayBefore(answering('reply'));
    const wanted: Wanted = {
      kinds: ['NotFoundError', 'final', 'MODEL_NOT_FOUND'],
      status: 404,
      code: 'model_not_found',
    };
    const failures = await expectFailures(setup, wanted, { model: 'gpt-unheard-of' });
    for (const { message, headers } of failures) {
      expect(message).to.include('gpt-unheard-of');
      expect(headers).to.not.have.property('x-gateway-target');
    }
    expect(setup.upstream.seen).to.deep.equal([]);
  });

  it("are rate limit errors with the upstream's Retry-After when it answers 429", async () => {
    const setup = gatewayBefore(refusing(429, 'error-429.json', { 'retry-after': '7' }));
    const failures = await expectFailures(setup, {
      kinds: ['RateLimitError', 'retryable', 'MODEL_RATE_LIMIT'],
      status: 429,
      code: 'rate_limit_exceeded',
    });
    for (const { message, headers } of failures) {
      expect(headers['retry-after']).to.equal('7');
      expect(message).to.not.include('limit 500');
    }
    expect(setup.upstream.seen).to.have.length(2 * CLIENTS.length);
  });

  it("are server errors without the upstream's message when it answers 500", async () => {
    const setup = gatewayBefore(refusing(500, 'error-500.json'));
    const failures = await expectFailures(setup, {
      kinds: ['InternalServerError', 'retryable', 'InternalServerError'],
      status: 502,
      code: 'upstream_error',
    });
    for (const { message, headers } of failures) {
      expect(message).to.be.a('string').and.not.include('had an error while processing');
      expect(headers).to.include({ 'x-gateway-target': 'openai', 'x-gateway-attempts': '1' });
      expect(headers).to.not.have.property('retry-after');
    }
  });

  it("never blame the client when the upstream refuses the gateway's credential", async () => {
    const setup = gatewayBefore((request, response) => {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          error: {
            message: `Incorrect API key provided: ${request.headers.authorization}`,
            type: 'invalid_request_error',
            param: null,
            code: 'invalid_api_key',
          },
        }),
      );
    });
    const failures = await expectFailures(setup, {
      kinds: ['InternalServerError', 'retryable', 'InternalServerError'],
      status: 502,
      code: 'upstream_auth_error',
    });
    expect(JSON.stringify(failures)).to.not.include(UPSTREAM_KEY);
    expect(JSON.stringify(setup.gateway.lines) + setup.gateway.stderr()).to.not.include(UPSTREAM_KEY);
  });
});
