import { STATUS_CODES } from 'node:http';
import { expect } from 'chai';
import { commonTranslators } from 'gw/common-wire';
import {
  type Answer,
  ask,
  chatReply,
  openSse,
  replyJson,
  sseEvent,
  startHost,
  type StubHandler,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';

const PATH = '/v1/chat/completions';
const OWN_WORDS = 'max_tokens is too large';

interface Row {
  readonly status: number;
  readonly type: string;
  readonly code: string;
  /** What the message must be; absent where the test only checks that it quotes nothing. */
  readonly message?: string;
}

const UPSTREAM_ERROR: Row = { status: 502, type: 'upstream_error', code: 'upstream_error' };

/** What a client gets for an upstream's status (docs/reference/data-plane.md#upstream-statuses). */
function rowOf(status: number): Row {
  switch (status) {
    case 400:
    case 422:
      return { status, type: 'invalid_request_error', code: 'invalid_request', message: OWN_WORDS };
    case 451:
      return { status: 400, type: 'invalid_request_error', code: 'invalid_request', message: OWN_WORDS };
    case 413:
      return { status, type: 'invalid_request_error', code: 'request_too_large' };
    case 401:
    case 402:
    case 403:
      return { status: 502, type: 'upstream_error', code: 'upstream_auth_error' };
    case 404:
      return { status: 404, type: 'invalid_request_error', code: 'model_not_found' };
    case 408:
    case 504:
      return { status: 504, type: 'upstream_error', code: 'upstream_timeout' };
    case 429:
      return { status: 429, type: 'rate_limit_error', code: 'rate_limit_exceeded' };
    default:
      return UPSTREAM_ERROR;
  }
}

function expectRow(answer: Answer, { status, type, code, message }: Row): void {
  expect(answer.status).to.equal(status);
  expect(answer.headers.get('content-type')).to.equal('application/json');
  const { error } = answer.json();
  expect(error).to.include({ type, code });
  expect(Object.keys(answer.json())).to.deep.equal(['error']);
  expect(Object.keys(error)).to.have.members(['message', 'type', 'code']);
  if (message === undefined) expect(error.message).to.be.a('string').and.not.equal('').and.not.include(OWN_WORDS);
  else expect(error.message).to.equal(message);
  for (const name of ['target', 'provider', 'attempts'])
    expect(answer.headers.get(`x-gateway-${name}`), name).to.not.equal(null);
}

async function hostOf(handler: StubHandler): Promise<TestHost> {
  const upstream = await stubUpstream(handler);
  return startHost({ targets: [upstream.target('a')] });
}

describe('upstream statuses', () => {
  const statuses = [
    201,
    202,
    204,
    206,
    301,
    302,
    304,
    307,
    308,
    ...Object.keys(STATUS_CODES)
      .map(Number)
      .filter((status) => status >= 400),
    418,
    499,
    529,
    599,
  ];

  it('become the answers of the table, unary and at the start of a stream', async () => {
    const host = await hostOf((request, response) => {
      const status = Number(request.json()['user']);
      if (status === 204 || status === 304) response.writeHead(status).end();
      else replyJson(response, status, { error: { message: OWN_WORDS } }, { location: 'http://elsewhere.example/' });
    });
    for (const status of statuses) {
      for (const stream of [false, true])
        expectRow(await host.post(PATH, ask('hi', { user: String(status), stream })), rowOf(status));
    }
  });

  it('become fixed messages that differ: unknown model here, withdrawn model there', async () => {
    const host = await hostOf((_request, response) => replyJson(response, 404, { error: { message: OWN_WORDS } }));
    const withdrawn = (await host.post(PATH, ask())).json().error.message;
    const unknown = (await host.post(PATH, ask('hi', { model: 'other' }))).json().error.message;
    expect(withdrawn).to.not.equal(unknown);
  });

  it('never let a page of HTML through', async () => {
    for (const status of [400, 401, 422, 500, 503]) {
      const host = await hostOf((_request, response) => {
        response.writeHead(status, { 'content-type': 'text/html' }).end('<html>internal host db7.corp</html>');
      });
      for (const stream of [false, true])
        expect((await host.post(PATH, ask('hi', { stream }))).text).to.not.include('db7');
    }
  });

  it('speak for themselves although their body breaks off', async () => {
    const host = await hostOf((_request, response) => {
      response.writeHead(429, { 'content-length': '1000', 'retry-after': '9' }).write('{"error":');
      setTimeout(() => response.destroy(), 20);
    });
    for (const stream of [false, true]) {
      const answer = await host.post(PATH, ask('hi', { stream }));
      expectRow(answer, rowOf(429));
      expect(answer.headers.get('retry-after')).to.equal('9');
    }
  });

  it('are read behind a byte order mark', async () => {
    const host = await hostOf((_request, response) => {
      response.writeHead(400, { 'content-type': 'application/json' }).end('\uFEFF{"error":{"message":"too long"}}');
    });
    for (const stream of [false, true])
      expect((await host.post(PATH, ask('hi', { stream }))).json().error.message).to.equal('too long');
  });

  it('redact what the upstream echoes', async () => {
    const host = await hostOf((_request, response) =>
      replyJson(response, 400, { error: { message: 'bad key sk-abcdefghijklmnopqrstuvwx of jane@example.com' } }),
    );
    expect((await host.post(PATH, ask())).json().error.message).to.equal(
      'bad key [REDACTED_OPENAI_KEY] of [REDACTED_EMAIL]',
    );
  });
});

describe('an answer of no use', () => {
  for (const [what, body] of [
    ['no JSON', '<html>fine</html>'],
    ['half of JSON', '{"choices":['],
    ['nothing', ''],
    ['null', 'null'],
    ['a list', '[]'],
    ['no choices', '{"id":"x"}'],
    ['choices that are not a list', '{"choices":{}}'],
    ['an error in disguise', '{"error":{"message":"overloaded"}}'],
    ['an error text in disguise', '{"error":"overloaded"}'],
    ['an error beside choices', '{"error":{"message":"overloaded"},"choices":[]}'],
    [
      'an error in a choice',
      '{"choices":[{"index":0,"message":{"role":"assistant","content":"half"},"finish_reason":"error","error":{"code":502,"message":"lost"}}]}',
    ],
  ] as const) {
    it(`is a failed call: ${what}`, async () => {
      const host = await hostOf((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(body);
      });
      for (const stream of [false, true]) expectRow(await host.post(PATH, ask('hi', { stream })), UPSTREAM_ERROR);
    });
  }

  it('is a body over 50 MiB', async () => {
    const host = await hostOf((_request, response) => {
      const piece = Buffer.alloc(4 * 1024 * 1024, 'x');
      for (let count = 0; count < 14; count += 1) response.write(piece);
      response.end();
    });
    expectRow(await host.post(PATH, ask()), UPSTREAM_ERROR);
  });

  it('is not one with `error: null`', async () => {
    const host = await hostOf((_request, response) => replyJson(response, 200, chatReply('hello', { error: null })));
    expect((await host.post(PATH, ask())).status).to.equal(200);
  });

  for (const [what, body] of [
    ['an error frame', sseEvent({ error: { message: 'overloaded' } })],
    ['nothing', ''],
    ['the end marker alone', 'data: [DONE]\n\n'],
    ['comments', ': hello\n\n'],
    ['frames that cannot be decoded', 'data: {\n\ndata: 5\n\n'],
  ] as const) {
    it(`is a stream that starts with ${what}`, async () => {
      const host = await hostOf((_request, response) => {
        openSse(response);
        response.end(body);
      });
      expectRow(await host.post(PATH, ask('hi', { stream: true })), UPSTREAM_ERROR);
    });
  }
});

describe('no answer', () => {
  it('is 502 for a connection that is refused or reset', async () => {
    const refused = await stubUpstream(() => {});
    const reset = await stubUpstream((_request, response) => {
      response.destroy();
    });
    const host = await startHost({
      targets: [refused.target('a', { models: ['refused'] }), reset.target('b', { models: ['reset'] })],
      strategy: { mode: 'fallback' },
    });
    await refused.close();
    for (const model of ['refused', 'reset']) {
      for (const stream of [false, true]) {
        const answer = await host.post(PATH, ask('hi', { model, stream }));
        expectRow(answer, UPSTREAM_ERROR);
        expect(answer.text).to.not.match(/127\.0\.0\.1|ECONN|socket/i);
      }
    }
  });

  it('is 502 for a name that does not resolve', async () => {
    const upstream = await stubUpstream(() => {});
    const host = await startHost({
      targets: [upstream.target('a', {}, { connection: { env: [], baseUrl: 'http://no-such-host.invalid' } })],
    });
    const answer = await host.post(PATH, ask());
    expectRow(answer, UPSTREAM_ERROR);
    expect(answer.text).to.not.include('no-such-host');
  });

  it('is 504 for headers that do not come in time', async () => {
    const upstream = await stubUpstream(() => {});
    const host = await startHost({
      targets: [upstream.target('a', {}, { connection: { env: [], baseUrl: upstream.url, headersTimeoutMs: 50 } })],
    });
    expectRow(await host.post(PATH, ask()), { status: 504, type: 'upstream_error', code: 'upstream_timeout' });
  });

  it('is 502 for a credential that cannot be had, and the next target is tried', async () => {
    const upstream = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
    const down = new Error('token endpoint https://tokens.corp is down');
    for (const authorize of [
      () => Promise.reject(down),
      () => {
        throw down;
      },
    ]) {
      const targets = [
        upstream.target('a', {}, { connection: { env: [], baseUrl: upstream.url, authorize } }),
        upstream.target('b'),
      ];
      const alone = await startHost({ targets: targets.slice(0, 1) });
      const answer = await alone.post(PATH, ask());
      expect(answer.text).to.not.include('tokens.corp');
      expectRow(answer, UPSTREAM_ERROR);
      const both = await startHost({ targets, strategy: { mode: 'fallback' } });
      expect((await both.post(PATH, ask())).headers.get('x-gateway-target')).to.equal('b');
    }
  });

  it('is a fault of the gateway when the adapter breaks: 500', async () => {
    const upstream = await stubUpstream(() => {});
    const chat = {
      ...commonTranslators(['chat'], {}).chat,
      toUpstream: ({ user }: { user?: unknown }) => {
        if (user === 'real') throw new TypeError('x is undefined');
        return { path: '/x' };
      },
    };
    const host = await startHost({ targets: [upstream.target('a', {}, { translators: { chat } as never })] });
    const answer = await host.post(PATH, ask('hi', { user: 'real' }));
    expectRow(answer, { status: 500, type: 'server_error', code: 'routing_error' });
    expect(answer.text).to.not.include('undefined');
  });
});

describe('Retry-After', () => {
  const header = async (status: number, headers: Record<string, string> = {}): Promise<string | null> => {
    const host = await hostOf((_request, response) => replyJson(response, status, {}, headers));
    return (await host.post(PATH, ask())).headers.get('retry-after');
  };

  it("is the upstream's hint, rounded up, without a cap, whatever the status becomes", async () => {
    for (const status of [400, 401, 404, 408, 429, 500, 503, 504])
      expect(await header(status, { 'retry-after-ms': '1200' }), String(status)).to.equal('2');
    expect(await header(503, { 'retry-after': '100000' })).to.equal('100000');
    expect(await header(500, { 'x-ratelimit-reset': '7' })).to.equal('7');
  });

  it('is 1 for a 429 without a hint, and absent otherwise', async () => {
    expect(await header(429)).to.equal('1');
    expect(await header(429, { 'retry-after': 'soon' })).to.equal('1');
    for (const status of [400, 402, 404, 500, 503]) expect(await header(status), String(status)).to.equal(null);
  });
});
