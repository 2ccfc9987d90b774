import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import type { SignatureV4 } from '@smithy/signature-v4';
import type { OutgoingRequest } from 'gw/contract';

type SignerOptions = ConstructorParameters<typeof SignatureV4>[0];
/** Fixed keys, or a source that is asked for each request and keeps what it finds. */
export type KeySource = SignerOptions['credentials'];

/** Headers that are signed, beside those that signing adds; others may change on their way. */
const SIGNED = /^(content-type|x-amz.*)$/i;
const ADDED = ['authorization', 'x-amz-date', 'x-amz-content-sha256', 'x-amz-security-token'];

/** SHA-256, and its HMAC when there is a key, as the signing library wants it. */
class Sha256 {
  readonly #key: ConstructorParameters<SignerOptions['sha256']>[0];
  #hash: Hash | Hmac;

  constructor(key?: ConstructorParameters<SignerOptions['sha256']>[0]) {
    this.#key = key;
    this.#hash = this.#open();
  }

  update(bytes: Uint8Array): void {
    this.#hash.update(bytes);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    this.#hash = this.#open();
  }

  #open(): Hash | Hmac {
    if (this.#key === undefined) return createHash('sha256');
    return createHmac(
      'sha256',
      ArrayBuffer.isView(this.#key)
        ? new Uint8Array(this.#key.buffer, this.#key.byteOffset, this.#key.byteLength)
        : Buffer.from(this.#key as string),
    );
  }
}

/** Signs requests with Signature Version 4. The libraries load with the first request. */
export class RequestSigner {
  readonly #region: string;
  readonly #findKeys: () => Promise<KeySource>;
  readonly #now: () => number;
  #signer: Promise<SignatureV4> | undefined;

  constructor(region: string, findKeys: () => Promise<KeySource>, now: () => number) {
    this.#region = region;
    this.#findKeys = findKeys;
    this.#now = now;
  }

  /** The headers that carry the signature. Rejects when no keys are found. */
  async sign({ method, url, headers, body }: OutgoingRequest): Promise<Readonly<Record<string, string>>> {
    if (body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array))
      throw new Error('a streamed body cannot be signed');
    this.#signer ??= this.#load();
    const signer = await this.#signer;
    const { protocol, hostname, host, pathname, searchParams } = new URL(url);
    const kept = Object.entries(headers).filter(([name]) => SIGNED.test(name));
    const signed = await signer.sign(
      {
        method,
        protocol,
        hostname,
        path: pathname,
        query: Object.fromEntries(searchParams),
        headers: { ...Object.fromEntries(kept), host },
        body,
      },
      { signingDate: new Date(this.#now()) },
    );
    return Object.fromEntries(
      ADDED.flatMap((name) => (signed.headers[name] === undefined ? [] : [[name, signed.headers[name]]])),
    );
  }

  async #load(): Promise<SignatureV4> {
    const [{ SignatureV4 }, credentials] = await Promise.all([import('@smithy/signature-v4'), this.#findKeys()]);
    return new SignatureV4({ service: 'bedrock', region: this.#region, credentials, sha256: Sha256 });
  }
}
