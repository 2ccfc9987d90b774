import { createHash } from 'node:crypto';

const DIGITS = 20;

/** The id of an account or a tag: it follows from the path, so that it is known before the account is. */
export const accountId = (path: string): string =>
  `acc_${createHash('sha256').update(path).digest('hex').slice(0, DIGITS)}`;
