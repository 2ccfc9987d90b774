import { WriteFault, type WriteFaultKind } from '../../../host/stores/write-fault.ts';

/**
 * Classes of SQLSTATE (Postgres documentation, appendix A, 2026-11-23). 40: a deadlock, or a transaction that could not be put in order.
 * Refused rows are 22 (data), 23 (constraints), 21 (two rows of a statement that become the same one in the table), and 54 (a text that is
 * too long for an index).
 */
const CONFLICT = /^40[0-9A-Z]{3}$/;
const REFUSED = /^(?:21|22|23|54)[0-9A-Z]{3}$/;
/** Result codes of SQLite (sqlite.org/rescode.html, 2026-11-23). Of a busy file every statement has waited already. */
const REFUSED_BY_SQLITE: ReadonlySet<string> = new Set([
  'SQLITE_CONSTRAINT',
  'SQLITE_TOOBIG',
  'SQLITE_MISMATCH',
  'SQLITE_RANGE',
]);

/** A write: what the driver says of its rows becomes a `WriteFault`, and whatever else it throws stays. */
export async function withFaults<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const kind = kindOf(error);
    throw kind ? new WriteFault(kind, error) : error;
  }
}

/**
 * Whether a statement failed because the database said no to it: nothing of it was kept. Where the server went away (57P, 08) or does not know
 * what it does (58, XX), or where the driver says something else, that is not known. Codes of a socket begin with an E, as EPIPE does, and no class of SQLSTATE does.
 */
export function isAnswer(error: unknown): boolean {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' && /^(?!57P|08|58|XX|E)[0-9A-Z]{5}$/.test(code);
}

export function kindOf(error: unknown): WriteFaultKind | undefined {
  const code = (error as { readonly code?: unknown } | null)?.code;
  if (typeof code !== 'string') return undefined;
  if (CONFLICT.test(code)) return 'conflict';
  return REFUSED.test(code) || REFUSED_BY_SQLITE.has(code) ? 'refused' : undefined;
}
