import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, type CryptoKey, type JWK, SignJWT } from 'jose';
import { localServer } from '../kit/local-server.ts';

/** A key pair with an id. */
export interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

/** What the issuer answers on a path, in the place of what it would. */
type Answering = (
  path: string,
) => { readonly status?: number; readonly body?: string; readonly location?: string } | undefined;

/** An issuer of this machine: metadata, keys, and tokens. What it answers can be changed while it runs. */
export interface StubIssuer {
  readonly url: string;
  /** Keys that it publishes, which need not be those that it signs with. */
  keys: JWK[];
  /** Members of its metadata beside, or in the place of, its own. */
  metadata: object;
  /** Answers in the place of all others. */
  answering: Answering;
  /** Paths that were asked, in their order. */
  readonly asked: string[];
  /** Resolved when it may answer. */
  ready: Promise<void>;
  readonly key: SigningKey;
  /** The ID token that a code is exchanged for. */
  idToken: () => Promise<string>;
  /** A token that counts, unless its claims say otherwise. */
  token(claims?: object, more?: { readonly header?: object; readonly key?: SigningKey }): Promise<string>;
}

const METADATA = '/.well-known/openid-configuration';

export async function makeKey(alg = 'ES256', kid = `${alg}-1`): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** `now` in Unix milliseconds. */
export async function stubIssuer(now: () => number = Date.now, algorithm = 'ES256'): Promise<StubIssuer> {
  const key = await makeKey(algorithm);
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    stub.asked.push(path);
    request.resume();
    void stub.ready.then(async () => {
      const { status = 200, body, location } = stub.answering(path) ?? {};
      const own = {
        issuer: url,
        jwks_uri: `${url}/keys`,
        authorization_endpoint: `${url}/authorize`,
        token_endpoint: `${url}/token`,
        ...stub.metadata,
      };
      const exchanged = async (): Promise<object> => ({
        access_token: 'an-access-token',
        token_type: 'bearer',
        id_token: await stub.idToken(),
      });
      const document = path === METADATA ? own : path === '/token' ? await exchanged() : { keys: stub.keys };
      response.writeHead(status, { 'content-type': 'application/json', ...(location && { location }) });
      response.end(body ?? JSON.stringify(document));
    });
  });
  const url = await localServer(server);
  const stub: StubIssuer = {
    url,
    keys: [key.jwk],
    metadata: {},
    answering: () => undefined,
    asked: [],
    ready: Promise.resolve(),
    key,
    idToken: () => stub.token({ aud: 'client' }),
    token: (claims = {}, { header = {}, key: by = key } = {}) => {
      const at = Math.floor(now() / 1000);
      const own = { iss: url, aud: 'gw', sub: 'ada', iat: at, exp: at + 600, groups: ['team-search'] };
      return new SignJWT({ ...own, ...claims })
        .setProtectedHeader({ alg: by.alg, kid: by.kid, ...header })
        .sign(by.privateKey);
    },
  };
  return stub;
}

/** An entry of `identity.issuers` for it. */
export const issuerConfig = ({ url }: Pick<StubIssuer, 'url'>, more: object = {}): object => ({
  name: 'corp',
  issuer: url,
  bearer: { audiences: ['gw'] },
  access: [
    { when: { groups: 'admins' }, scopes: ['admin'] },
    { when: { groups: 'viewers' }, scopes: ['read_only'] },
    { when: { groups: 'team-*' }, access: 'inference', account: '/acme/$1' },
  ],
  ...more,
});

export const withIssuers = (...issuers: object[]): object => ({
  targets: [{ virtual_key: 'echo' }],
  accounts: [{ path: '/acme' }, { path: '/acme/search' }],
  identity: { issuers },
});
