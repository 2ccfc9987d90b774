import { isFields, parseJson } from '../../host/contract/index.ts';
import type { Claims } from './claims.ts';

/** A token by its text alone: nothing of it is proved. */
export interface TokenText {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Claims;
}

const LONGEST = 16_384;
const PART = /^[A-Za-z0-9_-]+$/;

/** What JSON objects begin with in base64url. */
const BEGIN = 'eyJ';

/** Whether a credential has the form of a token that issuers sign (RFC 7515, compact). */
export const looksLikeToken = (credential: string): boolean =>
  credential.startsWith(BEGIN) && credential.split('.', 4).length === 3;

/** `undefined` for what cannot be read as one: each part must be the only way to write what it stands for. */
export function readToken(token: string): TokenText | undefined {
  if (token.length > LONGEST) return undefined;
  const parts = token.split('.');
  const [header, claims] = parts.slice(0, 2).map(objectIn);
  return header && claims && parts.length === 3 && bytesOf(parts[2] ?? '') ? { header, claims } : undefined;
}

function bytesOf(part: string): Buffer | undefined {
  if (!PART.test(part)) return undefined;
  const bytes = Buffer.from(part, 'base64url');
  return bytes.toString('base64url') === part ? bytes : undefined;
}

function objectIn(part: string): Record<string, unknown> | undefined {
  const bytes = bytesOf(part);
  try {
    const value = bytes && parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
