import * as client from 'openid-client';
import { AskedTooMuch, boundedFetch } from './bounded-fetch.ts';

/** This gateway at one issuer. */
export interface Client {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly id: string;
  /** `undefined`: a public client. */
  readonly secret: string | undefined;
  readonly redirectUri: string;
}

export interface Request {
  readonly scopes: readonly string[];
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly prompt: string | undefined;
}

/** Why a code was not exchanged. */
export type CodeFault = {
  readonly fault: 'unavailable' | 'code' | 'token';
  readonly error?: string;
  readonly cause: unknown;
};

export interface Exchanged {
  readonly idToken: string;
  /** Claims of the userinfo endpoint. Throws nothing: without an answer there are none. */
  readonly userinfo: (subject: string) => Promise<Readonly<Record<string, unknown>> | undefined>;
}

/** Late: only gateways with sign-in need the library. */
export async function authorizationUrl(at: Client, request: Request): Promise<string> {
  const { state, nonce, verifier, scopes, prompt } = request;
  const url = client.buildAuthorizationUrl(configured(at), {
    redirect_uri: at.redirectUri,
    scope: scopes.join(' '),
    state,
    nonce,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(prompt !== undefined && { prompt }),
  });
  return url.href;
}

/** Exchanges the code that stands in the query which the provider sent the browser back with. */
export async function exchange(
  at: Client,
  query: string,
  { state, nonce, verifier }: Pick<Request, 'state' | 'nonce' | 'verifier'>,
): Promise<Exchanged | CodeFault> {
  const configuration = configured(at);
  try {
    const tokens = await client.authorizationCodeGrant(configuration, new URL(`${at.redirectUri}?${query}`), {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const { id_token: idToken = '', access_token: accessToken } = tokens;
    return {
      idToken,
      userinfo: (subject) => client.fetchUserInfo(configuration, accessToken, subject).catch(() => undefined),
    };
  } catch (cause) {
    return { ...faultOf(cause), cause };
  }
}

function faultOf(error: unknown): Omit<CodeFault, 'cause'> {
  if (error instanceof client.ResponseBodyError)
    return { fault: error.status >= 500 ? 'unavailable' : 'code', error: error.error };
  if (error instanceof client.AuthorizationResponseError) return { fault: 'code', error: error.error };
  const isAway = error instanceof AskedTooMuch || (error instanceof Error && error.cause instanceof AskedTooMuch);
  if (isAway || (error instanceof TypeError && error.message === 'fetch failed')) return { fault: 'unavailable' };
  const status = statusOf(error);
  return { fault: status !== undefined && status >= 500 ? 'unavailable' : 'token' };
}

/** The status of an answer that the protocol does not know. */
function statusOf(error: unknown): number | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Response ? cause.status : undefined;
}

function configured({ metadata, id, secret }: Client): client.Configuration {
  const server = metadata as unknown as client.ServerMetadata;
  const configuration = new client.Configuration(server, id, undefined, authentication(server, secret));
  configuration[client.customFetch] = boundedFetch;
  // Addresses of plain http were refused when the metadata were read, but for those on loopback.
  client.allowInsecureRequests(configuration);
  return configuration;
}

/** Basic is what every provider must know, unless it lists other ways alone. */
function authentication(server: client.ServerMetadata, secret: string | undefined): client.ClientAuth {
  if (secret === undefined) return client.None();
  const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = server;
  return methods.includes('client_secret_basic') ? client.ClientSecretBasic(secret) : client.ClientSecretPost(secret);
}
