import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { Buffer } from 'node:buffer';
import { type HttpSend, tryParseJson } from 'gw/contract';
import { isFields } from 'gw/common-wire';

/** What tokens are asked for. */
export const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** Longest life of an assertion. Source: developers.google.com, "Using OAuth 2.0 for Server to Server Applications", 2026-11-21. */
const ASSERTION_S = 3600;
/** How long before its end a token is no longer used. */
const MARGIN_MS = 60_000;
/** Life of a token whose answer states none. */
const UNSTATED_S = 300;

/** A service account, read from the text of its key file. */
export interface ServiceAccount {
  readonly email: string;
  readonly keyId: string | undefined;
  readonly key: KeyObject;
  readonly tokenUri: string;
}

/** Reads the text of a key file. Throws when it is not one, with a message that does not hold the text. */
export function readServiceAccount(text: string): ServiceAccount {
  const file = tryParseJson(text);
  if (!isFields(file))
    throw new Error(
      'VERTEX_AI_SERVICE_ACCOUNT_JSON must hold the text of a key file; name a file in GOOGLE_APPLICATION_CREDENTIALS',
    );
  const {
    client_email: email,
    private_key: pem,
    private_key_id: keyId,
    token_uri: tokenUri = 'https://oauth2.googleapis.com/token',
  } = file;
  if (typeof email !== 'string' || email === '' || typeof pem !== 'string')
    throw new Error('VERTEX_AI_SERVICE_ACCOUNT_JSON names no client_email and private_key');
  if (typeof tokenUri !== 'string' || !/^https?:\/\//i.test(tokenUri) || !URL.canParse(tokenUri))
    throw new Error('the token_uri of VERTEX_AI_SERVICE_ACCOUNT_JSON is not an http or https address');
  return { email, keyId: typeof keyId === 'string' ? keyId : undefined, key: privateKey(pem), tokenUri };
}

function privateKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new Error('the private_key of VERTEX_AI_SERVICE_ACCOUNT_JSON cannot be read');
  }
}

/** A signed assertion (RS256). `nowMs` in Unix milliseconds. */
export function assertion({ email, keyId, key, tokenUri }: ServiceAccount, nowMs: number): string {
  const issuedAt = Math.floor(nowMs / 1000);
  const header = { alg: 'RS256', typ: 'JWT', ...(keyId !== undefined && { kid: keyId }) };
  const claims = { iss: email, scope: SCOPE, aud: tokenUri, iat: issuedAt, exp: issuedAt + ASSERTION_S };
  const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), key).toString('base64url')}`;
}

/** Access tokens of a service account: kept until shortly before they expire, fetched one at a time. */
export class TokenSource {
  readonly #account: ServiceAccount;
  readonly #send: HttpSend;
  readonly #now: () => number;
  #token: string | undefined;
  /** Unix milliseconds. */
  #usableUntil = 0;
  #fetching: Promise<string> | undefined;

  constructor(account: ServiceAccount, send: HttpSend, now: () => number) {
    this.#account = account;
    this.#send = send;
    this.#now = now;
  }

  /** A token at once where one is at hand. Rejects when none can be fetched; the next call tries again. */
  get(): string | Promise<string> {
    if (this.#token !== undefined && this.#now() < this.#usableUntil) return this.#token;
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #fetch(): Promise<string> {
    const startedAt = this.#now();
    const { status, body } = await this.#send({
      method: 'POST',
      url: this.#account.tokenUri,
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: new URLSearchParams({ grant_type: GRANT, assertion: assertion(this.#account, startedAt) }).toString(),
    });
    if (status !== 200) throw tokenError(status);
    const answer = tryParseJson(Buffer.from(body).toString('utf8'));
    const { access_token: token, expires_in: lifeS } = isFields(answer) ? answer : {};
    if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) throw new Error('the token endpoint sent no token');
    const life = typeof lifeS === 'number' && lifeS > 0 ? lifeS : UNSTATED_S;
    this.#token = token;
    this.#usableUntil = startedAt + life * 1000 - MARGIN_MS;
    return token;
  }
}

/** Statuses by which the account's key is refused. Source: RFC 6749, 5.2; cloud.google.com, "Troubleshoot service account credentials", 2026-11-27. */
const REFUSED: ReadonlySet<number> = new Set([400, 401, 403]);

/** A refusal says so by its fault, as an answer of the service would: the credential rests, and another one follows. */
function tokenError(status: number): Error {
  const error = new Error(`the token endpoint answered ${status}`);
  return REFUSED.has(status) ? Object.assign(error, { fault: { kind: 'status', status, reason: 'key' } }) : error;
}
