import type { Problem } from '../problems.ts';

/** An admin key can be revoked; an issuer that it added would not be, and would let its people in. See docs/decisions/0093-identity-belongs-to-the-file.md. */
export const identityWritten = (): Problem => ({
  path: 'identity',
  rule: 'BV32',
  message: 'identity can only be changed in the configuration file',
  fix: 'leave it out',
});
