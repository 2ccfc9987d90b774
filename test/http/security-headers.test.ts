import { expect } from 'chai';
import type { Response as ExpressResponse } from 'express';
import { defineBuiltin } from '../../host/builtin.ts';
import { writeHead } from '../../host/http/reply.ts';
import {
  ask,
  chatReply,
  fakeClock,
  MASTER_KEY,
  NO_DASHBOARD,
  replyJson,
  replyStream,
  startHost,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';

const CHAT = '/v1/chat/completions';

/** Routes that fail: before a byte was sent, and after. */
const faulty = defineBuiltin({
  name: 'faulty',
  apply: ({ hooks }) =>
    hooks.mount.tap('faulty', (app) => {
      app.get('/fault', () => {
        throw new Error('a secret detail');
      });
      app.get('/late-fault', async (_request: unknown, response: ExpressResponse) => {
        writeHead(response, 200, ['Content-Type', 'text/plain']);
        response.write('half of ');
        await Promise.resolve();
        throw new Error('a secret detail');
      });
      app.get('/informed-fault', (_request: unknown, response: ExpressResponse) => {
        response.writeProcessing();
        throw new Error('a secret detail');
      });
    }),
});

async function chatHost(variables: Record<string, string> = {}): Promise<TestHost> {
  const stub = await stubUpstream((request, response) => {
    const { model, stream } = request.json();
    if (model === 'bad') replyJson(response, 500, {});
    else if (stream === true) replyStream(response, ['hi']);
    else replyJson(response, 200, chatReply('hello'));
  });
  const config = {
    strategy: { mode: 'fallback' },
    max_request_bytes: 1000,
    targets: [stub.target('a', { models: ['m', 'bad'] })],
  };
  return startHost(config, { variables, clock: fakeClock(), builtins: [faulty], installDirectory: NO_DASHBOARD });
}

const EXPECTED: Readonly<Record<string, string>> = {
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'strict-origin-when-cross-origin',
};

function expectSecured(headers: Headers): void {
  for (const [name, value] of Object.entries(EXPECTED)) expect(headers.get(name), name).to.equal(value);
  const policy = headers.get('content-security-policy') ?? '';
  for (const directive of [
    "default-src 'self'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "object-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
  ])
    expect(policy).to.include(directive);
  expect(policy).not.to.match(/unsafe-(inline|eval|hashes)/);
  expect(headers.get('strict-transport-security'), 'the server never terminates TLS').to.equal(null);
  expect(headers.get('x-powered-by')).to.equal(null);
  expect(headers.get('x-request-id')).to.match(/^(?!0{32})[0-9a-f]{32}$/);
}

describe('security headers', () => {
  it('stand on every answer of every layer', async () => {
    const t = await chatHost();
    const answers: [status: number, headers: Headers][] = [];
    const note = async (status: number, answer: Promise<{ status: number; headers: Headers }>): Promise<void> => {
      const { status: given, headers } = await answer;
      expect(given).to.equal(status);
      answers.push([status, headers]);
    };
    await note(200, t.get('/livez'));
    await note(200, t.post(CHAT, ask()));
    await note(200, t.post(CHAT, ask('hi', { stream: true })));
    await note(204, t.request('OPTIONS', CHAT, undefined, { origin: 'https://app.example' }));
    await note(400, t.post(CHAT, '{'));
    await note(401, fetch(t.url + CHAT, { method: 'POST' }));
    await note(404, t.get('/nowhere'));
    await note(404, t.post(CHAT, ask('hi', { model: 'unknown' })));
    await note(405, t.get(CHAT));
    await note(413, t.post(CHAT, 'x'.repeat(1001)));
    await note(500, t.get('/fault'));
    await note(501, t.request('PROPFIND', '/'));
    await note(502, t.post(CHAT, ask('hi', { model: 'bad' })));
    await note(503, t.get('/', { accept: 'text/html' }));
    expect(answers).to.have.length(14);
    for (const [, headers] of answers) expectSecured(headers);
  });

  it('stand on a refusal of the rate limit', async () => {
    const t = await chatHost({ RATE_LIMIT_RPS: '1', RATE_LIMIT_BURST: '1' });
    await t.get('/nowhere');
    const answer = await t.get('/nowhere');
    expect(answer.status).to.equal(429);
    expectSecured(answer.headers);
  });
});

describe('an unexpected error', () => {
  it('is a 500 that says nothing, and a log line that says everything', async () => {
    const t = await chatHost();
    const answer = await t.get('/fault');
    expect(answer.status).to.equal(500);
    expect(answer.json().error).to.include({ type: 'server_error', code: 'internal_error' });
    expect(answer.text).not.to.include('secret detail');
    const panic = t.lines.find(({ msg }) => msg === 'panic recovered');
    expect(panic).to.include({
      level: 'ERROR',
      panic: 'a secret detail',
      response_committed: false,
      trace_id: answer.headers.get('x-request-id'),
    });
    expect(panic?.['stack']).to.include('security-headers.test.ts');
    expect(t.lines.find(({ msg }) => msg === 'http request')).to.include({
      level: 'ERROR',
      status: 500,
      path: '/fault',
    });
  });

  it('is still a 500 after an informational answer', async () => {
    const t = await chatHost();
    const answer = await t.get('/informed-fault');
    expect(answer.status).to.equal(500);
    expect(answer.json().error.code).to.equal('internal_error');
  });

  it('cuts an answer that has begun, and adds nothing to it', async () => {
    const t = await chatHost();
    const response = await fetch(`${t.url}/late-fault`);
    expect(response.status).to.equal(200);
    let text = '';
    let isCut = false;
    try {
      for await (const piece of response.body!) text += Buffer.from(piece).toString();
    } catch {
      isCut = true;
    }
    expect(text).to.equal('half of ');
    expect(isCut).to.equal(true);
    expect(t.lines.find(({ msg }) => msg === 'panic recovered')).to.include({ response_committed: true });
    expect(
      t.lines.some(({ msg }) => msg === 'http request'),
      'a connection that broke off leaves no access line',
    ).to.equal(false);
    expect((await t.post(CHAT, ask(), { authorization: `Bearer ${MASTER_KEY}` })).status).to.equal(200);
  });
});
