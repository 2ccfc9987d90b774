import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { isFields, tryParseJson } from '../../host/contract/index.ts';

const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const INFO = 'gw sign-in 1';

/** What a sign-in must remember from its beginning to its end. */
export interface Transaction {
  readonly id: string;
  readonly issuer: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/** Boxes that only holders of one secret open: AES-256-GCM, its key by HKDF-SHA-256. */
export class Seal {
  readonly #key: Buffer;

  constructor(secret: string) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', INFO, KEY_BYTES));
  }

  close(transaction: Transaction): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv);
    const sealed = [iv, cipher.update(JSON.stringify(transaction), 'utf8'), cipher.final(), cipher.getAuthTag()];
    return Buffer.concat(sealed).toString('base64url');
  }

  /** `undefined` for everything that this secret has not closed. */
  open(box: string): Transaction | undefined {
    const bytes = Buffer.from(box, 'base64url');
    if (bytes.length <= IV_BYTES + TAG_BYTES || bytes.toString('base64url') !== box) return undefined;
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, IV_BYTES));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const text = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
      const value = tryParseJson(text);
      return isFields(value) ? (value as unknown as Transaction) : undefined; // nothing but `close` makes one
    } catch {
      return undefined;
    }
  }
}
