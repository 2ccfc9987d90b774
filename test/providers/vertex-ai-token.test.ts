import { generateKeyPairSync, verify } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { HttpReply, HttpRequest, HttpSend } from '../../host/contract/index.ts';
import vertex from '../../providers/vertex-ai/index.ts';
import { readServiceAccount } from '../../providers/vertex-ai/token.ts';
import { connectProvider } from '../../host/upstream/connect.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' });
const ACCOUNT = {
  type: 'service_account',
  client_email: 'gw@proj-1.iam.example',
  private_key: PEM,
  private_key_id: 'kid-1',
  token_uri: 'https://token.example/v1/token?x=1',
};
const BASE = { VERTEX_AI_PROJECT_ID: 'proj-1', VERTEX_AI_REGION: 'us-central1' };
const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

interface Opened {
  readonly seen: HttpRequest[];
  readonly authorize: () => Promise<Readonly<Record<string, string>>>;
}

interface OpenOptions {
  readonly variables?: Record<string, string>;
  readonly answer?: (request: HttpRequest) => Partial<HttpReply> | Promise<Partial<HttpReply>>;
  readonly now?: () => number;
}

const json = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
const token = (access_token: string, expires_in: unknown = 3600): Partial<HttpReply> => ({
  body: json({ access_token, expires_in, token_type: 'Bearer' }),
});

async function opened({
  variables = { VERTEX_AI_SERVICE_ACCOUNT_JSON: JSON.stringify(ACCOUNT) },
  answer = () => token('ya29.one'),
  now = () => 1_000_000,
}: OpenOptions = {}): Promise<Opened> {
  const seen: HttpRequest[] = [];
  const send: HttpSend = async (request) => {
    seen.push(request);
    return {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: new Uint8Array(),
      ...(await answer(request)),
    };
  };
  const provider = await connectProvider(vertex, { ...BASE, ...variables }, { log: quiet, now, send });
  return {
    seen,
    authorize: async () =>
      provider.authorize({ method: 'POST', url: provider.root, headers: {}, body: undefined }, provider.credentials),
  };
}

const failureOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'none',
    (error: Error) => error.message,
  );

describe('vertex-ai, service accounts', () => {
  it('exchange a signed assertion at the token_uri of their file', async () => {
    const { seen, authorize } = await opened({ now: () => 1_700_000_000_999 });
    expect(await authorize()).to.deep.equal({ authorization: 'Bearer ya29.one' });
    const [request] = seen;
    expect(request).to.deep.include({
      method: 'POST',
      url: ACCOUNT.token_uri,
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    });
    const form = new URLSearchParams(String(request?.body));
    expect(form.get('grant_type')).to.equal('urn:ietf:params:oauth:grant-type:jwt-bearer');
    const [header = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
    const decoded = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());
    expect(decoded(header)).to.deep.equal({ alg: 'RS256', typ: 'JWT', kid: 'kid-1' });
    expect(decoded(claims)).to.deep.equal({
      iss: ACCOUNT.client_email,
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      aud: ACCOUNT.token_uri,
      iat: 1_700_000_000,
      exp: 1_700_003_600,
    });
    expect(
      verify('RSA-SHA256', Buffer.from(`${header}.${claims}`), publicKey, Buffer.from(signature, 'base64url')),
    ).to.equal(true);
  });

  it('fetch nothing before the first call, and one token for calls at the same time', async () => {
    const { seen, authorize } = await opened();
    expect(seen).to.have.length(0);
    expect(await Promise.all([authorize(), authorize(), authorize()])).to.deep.equal(
      Array.from({ length: 3 }, () => ({ authorization: 'Bearer ya29.one' })),
    );
    await authorize();
    expect(seen).to.have.length(1);
  });

  it('fetch the next one shortly before the last expires', async () => {
    let now = 0;
    let count = 0;
    const { seen, authorize } = await opened({ now: () => now, answer: () => token(`t${(count += 1)}`, 600) });
    const at = async (seconds: number): Promise<string | undefined> => {
      now = seconds * 1000;
      return (await authorize())['authorization'];
    };
    expect([await at(0), await at(539), await at(540), await at(541)]).to.deep.equal([
      'Bearer t1',
      'Bearer t1',
      'Bearer t2',
      'Bearer t2',
    ]);
    expect(seen).to.have.length(2);
  });

  it('try again after a failure, and follow no redirect', async () => {
    const answers: Partial<HttpReply>[] = [
      { status: 302, headers: { location: 'https://evil.example' } },
      { status: 400, body: json({ error: 'invalid_grant' }) },
      { body: json({}) },
      { body: new TextEncoder().encode('<html>') },
      { body: json({ access_token: 'two\r\nlines' }) },
      token('ok'),
    ];
    const { seen, authorize } = await opened({ answer: () => answers.shift() ?? {} });
    const failures = [];
    for (let turn = 0; turn < 5; turn += 1) failures.push(await failureOf(authorize()));
    expect(failures).to.deep.equal([
      'the token endpoint answered 302',
      'the token endpoint answered 400',
      'the token endpoint sent no token',
      'the token endpoint sent no token',
      'the token endpoint sent no token',
    ]);
    expect(await authorize()).to.deep.equal({ authorization: 'Bearer ok' });
    expect(seen.map(({ url }) => url)).to.deep.equal(Array.from({ length: 6 }, () => ACCOUNT.token_uri));
  });

  it('do not keep a token without a stated lifetime for long', async () => {
    let now = 0;
    const { seen, authorize } = await opened({ now: () => now, answer: () => token('t', 'soon') });
    for (const seconds of [0, 239, 240]) {
      now = seconds * 1000;
      await authorize();
    }
    expect(seen).to.have.length(2);
  });

  it("cannot be read from anything but a key file's text, which is never quoted", async () => {
    const cases: readonly [string, RegExp][] = [
      ['/secret/key.json', /text of a key file/],
      ['[]', /text of a key file/],
      ['{"client_email":"a"}', /client_email and private_key/],
      [JSON.stringify({ ...ACCOUNT, client_email: '' }), /client_email/],
      [JSON.stringify({ ...ACCOUNT, private_key: 'hush-hush' }), /private_key .* cannot be read/],
      [JSON.stringify({ ...ACCOUNT, token_uri: 'file:///etc/passwd' }), /token_uri/],
      [JSON.stringify({ ...ACCOUNT, token_uri: 7 }), /token_uri/],
    ];
    for (const [text, reason] of cases) {
      const message = await failureOf(opened({ variables: { VERTEX_AI_SERVICE_ACCOUNT_JSON: text } }));
      expect(message, text).to.match(reason).and.not.include('secret').and.not.include('hush');
    }
    const { token_uri: _uri, ...without } = ACCOUNT;
    expect(readServiceAccount(JSON.stringify(without)).tokenUri).to.equal('https://oauth2.googleapis.com/token');
  });
});

describe('vertex-ai, application default credentials', () => {
  const NAMES = [
    'GOOGLE_APPLICATION_CREDENTIALS',
    'METADATA_SERVER_DETECTION',
    'CLOUDSDK_CONFIG',
    'HOME',
    'GOOGLE_CLOUD_QUOTA_PROJECT',
  ];
  const before: Record<string, string | undefined> = {};
  let folder = '';

  beforeEach(() => {
    for (const name of NAMES) before[name] = process.env[name];
    folder = mkdtempSync(join(tmpdir(), 'gw-adc-'));
    Object.assign(process.env, { METADATA_SERVER_DETECTION: 'none', CLOUDSDK_CONFIG: folder, HOME: folder });
    delete process.env['GOOGLE_APPLICATION_CREDENTIALS'];
    delete process.env['GOOGLE_CLOUD_QUOTA_PROJECT'];
  });

  afterEach(() => {
    for (const name of NAMES) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
    rmSync(folder, { recursive: true });
  });

  function useFile(content: object): void {
    process.env['GOOGLE_APPLICATION_CREDENTIALS'] = join(folder, 'adc.json');
    writeFileSync(join(folder, 'adc.json'), JSON.stringify(content));
  }

  const USER = {
    type: 'authorized_user',
    client_id: 'id',
    client_secret: 'hush',
    refresh_token: 'refresh',
    quota_project_id: 'billed',
  };

  it('are found by the library, whose requests take our way', async () => {
    useFile(USER);
    const { seen, authorize } = await opened({ variables: {}, answer: () => token('ya29.user') });
    expect(seen).to.have.length(0);
    expect(await authorize()).to.deep.equal({ authorization: 'Bearer ya29.user', 'x-goog-user-project': 'billed' });
    await authorize();
    expect(seen).to.have.length(1);
    expect(seen[0]).to.deep.include({ method: 'POST', url: 'https://oauth2.googleapis.com/token' });
    expect(String(seen[0]?.body)).to.include('refresh_token=refresh');
  });

  it('fail without a token when they are refused or redirected', async () => {
    useFile(USER);
    for (const status of [302, 400]) {
      const { seen, authorize } = await opened({
        variables: {},
        answer: () => ({
          status,
          headers: { location: 'https://evil.example' },
          body: json({ error: 'invalid_grant' }),
        }),
      });
      expect(await failureOf(authorize()), String(status)).to.not.equal('none');
      expect(seen.map(({ url }) => new URL(url).host)).to.not.include('evil.example');
    }
  });

  it('that do not exist are a failure to connect', async () => {
    expect(await failureOf(opened({ variables: {} }))).to.include('Could not load the default credentials');
  });
});
