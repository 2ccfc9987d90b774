import { createHash, createHmac } from 'node:crypto';
import { expect } from 'chai';
import type { OutgoingRequest } from '../../host/contract/index.ts';
import bedrock from '../../providers/bedrock/index.ts';
import { RequestSigner } from '../../providers/bedrock/signing.ts';
import { ask, connected, replyJson, type SeenRequest, startHost, stubUpstream } from '../kit/index.ts';
import { BEARER, fixture, KEYS, LLAMA, PROFILE } from './bedrock-support.ts';

const SECRET = KEYS.AWS_SECRET_ACCESS_KEY;

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest();
const escaped = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

interface Signable {
  readonly method: string;
  /** As it stands in the request line. */
  readonly path: string;
  readonly query?: readonly (readonly [string, string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly signed: readonly string[];
  readonly body: string;
}

/** Signature Version 4 written from its description. Source: AWS, "Create a signed AWS API request", 2026-11-21. */
function signatureOf(
  { method, path, query = [], headers, signed, body }: Signable,
  scope: string,
  date: string,
  secret: string,
): string {
  const canonicalQuery = query
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .toSorted()
    .join('&');
  const canonicalHeaders = signed
    .map((name) => `${name}:${(headers[name] ?? '').trim().replace(/ +/g, ' ')}\n`)
    .join('');
  const canonical = [
    method,
    path.split('/').map(escaped).join('/'),
    canonicalQuery,
    canonicalHeaders,
    signed.join(';'),
    sha256(body),
  ].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n');
  const key = scope.split('/').reduce<string | Buffer>((made, part) => hmac(made, part), `AWS4${secret}`);
  return hmac(key, toSign).toString('hex');
}

/** What a request that arrived should have been signed with. */
function expectSigned(
  { method, url, headers, text }: SeenRequest,
  secret = SECRET,
): { readonly scope: string; readonly signed: readonly string[] } {
  const [, credential = '', list = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    ) ?? [];
  const scope = credential.slice(credential.indexOf('/') + 1);
  const date = String(headers['x-amz-date']);
  const signed = list.split(';');
  expect(signed).to.include.members(['host', 'x-amz-date', 'content-type', 'x-amz-content-sha256']);
  expect(date.slice(0, 8)).to.equal(scope.slice(0, 8));
  expect(headers['x-amz-content-sha256']).to.equal(sha256(text));
  expect(signature, 'the signature of what arrived').to.equal(
    signatureOf(
      { method, path: url, headers: headers as Record<string, string>, signed, body: text },
      scope,
      date,
      secret,
    ),
  );
  return { scope, signed };
}

const NOW = Date.UTC(2015, 7, 30, 12, 36, 0);

/** The suite's keys, date, region and service. Source: AWS Signature Version 4 test suite (aws-sig-v4-test-suite), read 2026-11-21. */
const SUITE: readonly { readonly name: string; readonly request: Signable; readonly signature: string }[] = [
  {
    name: 'get-vanilla',
    signature: '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
    request: { method: 'GET', path: '/', headers: {}, signed: [], body: '' },
  },
  {
    name: 'post-vanilla',
    signature: '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
    request: { method: 'POST', path: '/', headers: {}, signed: [], body: '' },
  },
  {
    name: 'get-vanilla-query-order-key-case',
    signature: 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    request: {
      method: 'GET',
      path: '/',
      query: [
        ['Param2', 'value2'],
        ['Param1', 'value1'],
      ],
      headers: {},
      signed: [],
      body: '',
    },
  },
  {
    name: 'post-x-www-form-urlencoded',
    signature: 'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
    request: {
      method: 'POST',
      path: '/',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      signed: ['content-type'],
      body: 'Param1=value1',
    },
  },
];

describe('bedrock, signature version 4', () => {
  const date = '20150830T123600Z';

  for (const { name, request, signature } of SUITE) {
    it(`the test's own signing gives the published signature of ${name}`, () => {
      const headers = { ...request.headers, host: 'example.amazonaws.com', 'x-amz-date': date };
      const signed = [...request.signed, 'host', 'x-amz-date'];
      expect(
        signatureOf({ ...request, headers, signed }, '20150830/us-east-1/service/aws4_request', date, SECRET),
      ).to.equal(signature);
    });
  }

  it("the test's own signing gives the published signature of the user guide's example", () => {
    const headers = {
      'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
      host: 'iam.amazonaws.com',
      'x-amz-date': date,
    };
    const query = [
      ['Action', 'ListUsers'],
      ['Version', '2010-05-08'],
    ] as const;
    const request = { method: 'GET', path: '/', query, headers, signed: Object.keys(headers), body: '' };
    expect(signatureOf(request, '20150830/us-east-1/iam/aws4_request', date, SECRET)).to.equal(
      '5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
    );
  });

  it('signs as the test does: paths escaped twice, texts beyond ASCII, with and without a session', async () => {
    for (const sessionToken of [undefined, 'a session/token+=']) {
      const signer = new RequestSigner(
        'eu-west-1',
        async () => ({ accessKeyId: 'AKIDEXAMPLE', secretAccessKey: SECRET, ...(sessionToken && { sessionToken }) }),
        () => NOW,
      );
      for (const path of [
        '/model/a.b-v1%3A0/invoke',
        '/model/arn%3Aaws%3Abedrock%3A%3A%2Fx/converse',
        '/model/%C3%A9!()*/invoke',
        '/probe/model/m/converse-stream',
      ]) {
        const request: OutgoingRequest = {
          method: 'POST',
          url: `https://h.example:8443${path}`,
          headers: { 'content-type': 'application/json', traceparent: '00-1' },
          body: '{"text":"水🌊"}',
        };
        const made = await signer.sign(request);
        const headers = { ...made, host: 'h.example:8443', 'content-type': 'application/json' };
        const signed = [
          'content-type',
          'host',
          'x-amz-content-sha256',
          'x-amz-date',
          ...(sessionToken ? ['x-amz-security-token'] : []),
        ];
        const signature = signatureOf(
          { method: 'POST', path, headers, signed, body: '{"text":"水🌊"}' },
          '20150830/eu-west-1/bedrock/aws4_request',
          date,
          SECRET,
        );
        expect(made['authorization']).to.equal(
          `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/eu-west-1/bedrock/aws4_request, SignedHeaders=${signed.join(';')}, Signature=${signature}`,
        );
        expect(made['x-amz-security-token']).to.equal(sessionToken);
      }
    }
  });

  it('signs bytes and nothing, and refuses what can only be read once', async () => {
    const signer = new RequestSigner(
      'us-east-1',
      async () => ({ accessKeyId: 'A', secretAccessKey: 'S' }),
      () => NOW,
    );
    const request = { method: 'POST', url: 'https://h/x', headers: {} };
    expect((await signer.sign({ ...request, body: Buffer.from('{}') }))['x-amz-content-sha256']).to.equal(sha256('{}'));
    expect((await signer.sign({ ...request, body: undefined }))['x-amz-content-sha256']).to.equal(sha256(''));
    async function* once(): AsyncGenerator<Uint8Array> {}
    expect(await signer.sign({ ...request, body: once() }).catch((error: unknown) => String(error))).to.include(
      'cannot be signed',
    );
  });
});

describe('bedrock, requests as they arrive', () => {
  const MODELS = [LLAMA, PROFILE, 'us.meta.llama3-2-1b-instruct-v1:0'];

  async function seenWith(variables: Record<string, string>, model: string, path = ''): Promise<SeenRequest> {
    const upstream = await stubUpstream((request, response) => {
      replyJson(
        response,
        200,
        fixture(request.url.endsWith('/converse') ? 'chat/converse-reply.json' : 'chat/llama-reply.json'),
      );
    });
    const host = await startHost(
      { targets: [{ virtual_key: 'bedrock', models: [model] }] },
      { variables: { AWS_ENDPOINT_URL_BEDROCK_RUNTIME: `${upstream.url}${path}`, ...variables } },
    );
    const answer = await host.post('/v1/chat/completions', ask('grüße <&> 水', { model }), {
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    });
    expect(answer.status, answer.text).to.equal(200);
    const [seen] = upstream.seen;
    if (!seen) throw new Error('nothing arrived');
    return seen;
  }

  for (const model of MODELS) {
    it(`carry the signature of exactly their bytes: ${model}`, async () => {
      const seen = await seenWith(KEYS, model, '/probe');
      expect(expectSigned(seen).scope).to.match(/^\d{8}\/us-east-1\/bedrock\/aws4_request$/);
      expect(seen.url).to.match(/^\/probe\/model\/[^/]+\/(invoke|converse)$/);
      expect(decodeURIComponent(seen.url)).to.include(model);
      expect(seen.text).to.include('grüße <&> 水');
    });
  }

  it('carry the session of temporary keys, signed, and the configured region', async () => {
    const seen = await seenWith(
      { ...KEYS, AWS_SESSION_TOKEN: ' session-token-0123456789 ', AWS_REGION: ' eu-central-1 ' },
      LLAMA,
    );
    const { scope, signed } = expectSigned(seen);
    expect(scope).to.include('/eu-central-1/bedrock/');
    expect(signed).to.include('x-amz-security-token');
    expect(seen.headers['x-amz-security-token']).to.equal('session-token-0123456789');
  });

  it('carry the bearer token instead, where there is one', async () => {
    const seen = await seenWith({ ...KEYS, AWS_BEARER_TOKEN_BEDROCK: ' bedrock-token-0123456789 ' }, LLAMA);
    expect(seen.headers.authorization).to.equal('Bearer bedrock-token-0123456789');
    expect(seen.headers).to.not.have.any.keys('x-amz-date', 'x-amz-security-token', 'x-amz-content-sha256');
  });

  it('are not sent when no credential is found', async () => {
    const signer = new RequestSigner(
      'us-east-1',
      async () => {
        throw new Error('no keys');
      },
      () => NOW,
    );
    expect(
      await signer
        .sign({ method: 'POST', url: 'https://h/x', headers: {}, body: '{}' })
        .catch((error: unknown) => String(error)),
    ).to.include('no keys');
  });

  it('to rerank are signed even beside a bearer token', async () => {
    const variables = {
      ...BEARER,
      AWS_ACCESS_KEY_ID: KEYS.AWS_ACCESS_KEY_ID,
      AWS_SECRET_ACCESS_KEY: SECRET,
      AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME: 'http://agent:1/',
    };
    const { provider } = await connected(bedrock, variables);
    const authorization = async (url: string): Promise<string | undefined> =>
      (await provider.authorize({ method: 'POST', url, headers: {}, body: '{}' }, provider.credentials))[
        'authorization'
      ];
    expect(await authorization('http://agent:1/rerank')).to.match(/^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\//);
    expect(await authorization('http://h/model/m/converse')).to.equal('Bearer bedrock-token-0123456789');
  });
});
