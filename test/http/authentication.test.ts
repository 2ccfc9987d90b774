import { request as httpRequest } from 'node:http';
import { expect } from 'chai';
import {
  ask,
  chatReply,
  MASTER_KEY,
  replyJson,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
  type TestHostOptions,
} from '../kit/index.ts';

const CHAT = '/v1/chat/completions';

async function chatHost(options: TestHostOptions = {}): Promise<{ t: TestHost; stub: StubUpstream }> {
  const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
  return { t: await startHost({ strategy: { mode: 'fallback' }, targets: [stub.target('a')] }, options), stub };
}

interface Reply {
  readonly status: number | undefined;
  readonly text: string;
}

/** Sends a request target and an Authorization header as they are written, which `fetch` would not. */
function post(t: TestHost, path: string, authorization?: string): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const headers = { 'content-type': 'application/json', ...(authorization !== undefined && { authorization }) };
  const call = httpRequest(t.url, { method: 'POST', path, headers, agent: false }, (response) => {
    let text = '';
    response
      .setEncoding('utf8')
      .on('data', (piece: string) => {
        text += piece;
      })
      .on('end', () => resolve({ status: response.statusCode, text }));
  });
  call.on('error', reject).flushHeaders(); // by themselves, so that they leave as Latin-1
  call.end(JSON.stringify(ask()));
  return promise;
}

const codeOf = ({ text }: Reply): unknown => (JSON.parse(text) as { error: { code: unknown } }).error.code;

describe('the bearer of /v1', () => {
  for (const header of [
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Basic Z3c6Z3c=',
    `Bearer\t${MASTER_KEY}`,
    MASTER_KEY,
    `Token ${MASTER_KEY}`,
    `Bearer${MASTER_KEY}`,
  ]) {
    it(`is missing in "${header?.replace(MASTER_KEY, '<key>') ?? 'no header'}"`, async () => {
      const { t, stub } = await chatHost();
      const answer = await post(t, CHAT, header);
      expect(answer.status).to.equal(401);
      expect(JSON.parse(answer.text).error).to.include({ type: 'authentication_error', code: 'missing_api_key' });
      expect(stub.seen).to.have.length(0);
    });
  }

  for (const token of [
    'x',
    MASTER_KEY.toUpperCase(),
    MASTER_KEY.slice(0, -1),
    `${MASTER_KEY}0`,
    `gws_${'0'.repeat(32)}`,
    'undefined',
  ]) {
    it(`is invalid as ${token.length} characters that are not the key`, async () => {
      const { t, stub } = await chatHost();
      const answer = await post(t, CHAT, `Bearer ${token}`);
      expect(answer.status).to.equal(401);
      expect(JSON.parse(answer.text).error).to.include({ type: 'authentication_error', code: 'invalid_api_key' });
      expect(stub.seen).to.have.length(0);
    });
  }

  it('is invalid, and no fault of the gateway, when it is as long as the key and not ASCII', async () => {
    const { t } = await chatHost();
    const answer = await post(t, CHAT, `Bearer ${MASTER_KEY.slice(0, -1)}\u00e9`);
    expect(answer.status).to.equal(401);
    expect(codeOf(answer)).to.equal('invalid_api_key');
    expect(t.lines.filter(({ level }) => level === 'ERROR')).to.deep.equal([]);
  });

  it('begins after exactly one blank, and is taken as it is', async () => {
    const { t, stub } = await chatHost();
    for (const header of [
      `Bearer  ${MASTER_KEY}`,
      `Bearer \t${MASTER_KEY}`,
      `Bearer ${MASTER_KEY} x`,
      `Bearer ${MASTER_KEY},Bearer ${MASTER_KEY}`,
    ]) {
      const answer = await post(t, CHAT, header);
      expect([answer.status, codeOf(answer)], header).to.deep.equal([401, 'invalid_api_key']);
    }
    expect(stub.seen).to.have.length(0);
  });

  it('matches nothing while no master key is set', async () => {
    const { t } = await chatHost({ variables: { MASTER_KEY: '' } });
    for (const header of ['Bearer undefined', 'Bearer null', `Bearer ${MASTER_KEY}`])
      expect((await post(t, CHAT, header)).status, header).to.equal(401);
  });

  it('may be named in any case of letters', async () => {
    const { t } = await chatHost();
    for (const scheme of ['bearer', 'BEARER', 'bEaReR']) {
      expect((await post(t, CHAT, `${scheme} ${MASTER_KEY}`)).status, scheme).to.equal(200);
      expect(codeOf(await post(t, CHAT, `${scheme} x`)), scheme).to.equal('invalid_api_key');
      const headers = { authorization: `${scheme} ${MASTER_KEY}` };
      expect((await t.get('/admin/keys', headers)).status, scheme).to.equal(200);
      expect((await t.post('/v1/messages', { ...ask(), max_tokens: 9 }, headers)).status, scheme).to.equal(200);
    }
  });

  it('never reaches the provider', async () => {
    const { t, stub } = await chatHost();
    expect((await post(t, CHAT, `Bearer ${MASTER_KEY}`)).status).to.equal(200);
    expect(stub.seen[0]?.headers['authorization']).to.equal('Bearer stub-key');
    expect(JSON.stringify(stub.seen[0]?.headers)).not.to.include(MASTER_KEY);
  });

  it('is checked before the path is known, the body is read or the model is looked up', async () => {
    const { t } = await chatHost();
    for (const path of ['/v1/', '/v1/unknown', '/v1/files', `${CHAT}/`])
      expect((await post(t, path)).status, path).to.equal(401);
    const large = await fetch(`${t.url}${CHAT}`, { method: 'POST', body: 'x'.repeat(11 * 1024 * 1024) }).catch(
      () => undefined,
    );
    expect(large?.status ?? 401).to.equal(401);
  });
});

describe('a request target that routes to /v1 however it is written', () => {
  // A target of another scheme, or a path with backslashes and a fragment, is resolved to the native route's path.
  const targets = [
    'http://x/v1/chat/completions',
    'HTTP://x/v1/chat/completions',
    'ftp://x/v1/chat/completions',
    'x://y/v1/chat/completions',
    'ws://x/v1/chat/completions',
    '/v1\\chat\\completions#',
    '/v1\\chat/completions#',
    '/v1\\chat\\completions#x?y',
    '/v1/chat/completions#',
    '/v1/chat\\completions#',
    '/v1\\chat\\completions\u00a0',
    '/v1\\chat/completions?x\u00a0',
    '/v1\u00a0/chat/completions',
    '/\\v1/chat/completions#',
    '//v1/chat/completions#',
    '/x/../v1/chat/completions',
    '/./v1/chat/completions',
  ];
  for (const target of targets) {
    it(`calls no provider without a credential: ${target}`, async () => {
      const { t, stub } = await chatHost();
      const answer = await post(t, target);
      expect(answer.status).to.be.oneOf([400, 401, 404]);
      expect(stub.seen).to.have.length(0);
    });
  }
});

describe('/v1 without authentication', () => {
  for (const value of ['true', ' TRUE ', 'True']) {
    it(`is open with ALLOW_UNAUTHENTICATED_PROXY="${value}"`, async () => {
      const { t } = await chatHost({ variables: { ALLOW_UNAUTHENTICATED_PROXY: value } });
      for (const header of [undefined, 'Basic x', 'Bearer wrong', `Bearer ${MASTER_KEY}`])
        expect((await post(t, CHAT, header)).status).to.equal(200);
    });
  }

  for (const value of ['1', 'yes', 'on', 'tru e', '']) {
    it(`stays closed with ALLOW_UNAUTHENTICATED_PROXY="${value}"`, async () => {
      const { t } = await chatHost({ variables: { ALLOW_UNAUTHENTICATED_PROXY: value } });
      expect((await post(t, CHAT)).status).to.equal(401);
    });
  }

  it('tells a wrong method to anybody', async () => {
    const { t } = await chatHost({ variables: { ALLOW_UNAUTHENTICATED_PROXY: 'true' } });
    const response = await fetch(`${t.url}${CHAT}`);
    expect(response.status).to.equal(405);
    expect(response.headers.get('allow')).to.equal('POST');
  });
});
