import { quoted } from '../../../host/contract/index.ts';
import { ACCOUNT_MEMBERS, type WrittenAccount } from '../../../host/common/accounts/account-members.ts';
import { readAccount } from '../../../host/common/accounts/read-account.ts';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import type { JsonObject } from '../../../host/http/body/json-body.ts';

/** Members of a body beside those of an account. */
const OTHERS: ReadonlySet<string> = new Set(['import_id']);

/** The body of `POST /admin/accounts`. */
export function readNewAccount(body: JsonObject, timezone: string): WrittenAccount {
  refuseUnknown(body);
  return checked(withoutNull(body), timezone);
}

/** What a change makes of the own members of an account: what is named is replaced, `null` takes it away. */
export function readChangedAccount(body: JsonObject, before: WrittenAccount, timezone: string): WrittenAccount {
  refuseUnknown(body);
  const { path = before.path } = body;
  if (path !== before.path) throw invalidRequest('the path of an account cannot change');
  return checked(withoutNull({ ...before, ...body }), timezone);
}

function refuseUnknown(body: JsonObject): void {
  const unknown = Object.keys(body).filter((name) => !Object.hasOwn(ACCOUNT_MEMBERS, name) && !OTHERS.has(name));
  if (unknown.length > 0)
    throw invalidRequest(`an account has no member ${unknown.map((name) => quoted(name)).join(', ')}`);
}

/** All that is wrong is named at once. */
function checked(written: object, timezone: string): WrittenAccount {
  const { account, problems } = readAccount(written, '', { timezone, hasOpening: true });
  if (!account) throw invalidRequest(problems.map(({ message }) => message).join('; '));
  return account;
}

const withoutNull = (written: object): object =>
  Object.fromEntries(
    Object.entries(written).filter(([name, value]) => !OTHERS.has(name) && value !== null && value !== undefined),
  );
