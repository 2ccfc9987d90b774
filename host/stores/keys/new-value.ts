import { hash } from 'node:crypto';
import type { StoreDeps } from '../store-deps.ts';

type RandomBytes = StoreDeps['randomBytes'];

/** The value of a new key, what the store keeps of it, and what people are shown of it. */
export interface NewValue {
  readonly key: string;
  readonly digest: string;
  readonly display: string;
}

export function newValue(randomBytes: RandomBytes): NewValue {
  const key = `gw_${randomBytes(32).toString('hex')}`;
  return { key, digest: hash('sha256', key), display: `${key.slice(0, 8)}...` };
}

/** The id of a new key, in the form of a UUID. */
export function newId(randomBytes: RandomBytes): string {
  return randomBytes(16)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
