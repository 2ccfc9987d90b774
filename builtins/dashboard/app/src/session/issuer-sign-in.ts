import { returnPath } from '../lib/destination.ts';
import { isFields, textAt } from '../lib/fields.ts';
import { readJson } from '../lib/json.ts';
import type { Kept } from '../lib/storage.ts';
import type { Services } from '../services.ts';

/** An issuer that people sign in with. */
export interface Issuer {
  readonly name: string;
  readonly label: string;
}

/** What the tab keeps between going to the provider and coming back. */
interface Begun {
  readonly name: string;
  /** Sealed by the gateway. */
  readonly transaction: string;
  readonly from: string;
}

export const SIGN_IN_KEY = 'gw.signin.v1';
/** Set by signing out: the next sign-in of this tab asks which account. */
export const ASKS_KEY = 'gw.signin.asks';

/** The sign-in was not begun in this tab: the address was made elsewhere, and nothing is done with it. */
export class NotBegunHere extends Error {}

export async function issuersOf({ api }: Services, signal?: AbortSignal): Promise<readonly Issuer[]> {
  const answer = await api.json<unknown>('/identity', signal ? { signal } : {});
  const listed = isFields(answer) && Array.isArray(answer['issuers']) ? answer['issuers'] : [];
  return listed.flatMap((each: unknown) => {
    const name = isFields(each) ? textAt(each, 'name') : undefined;
    return isFields(each) && name !== undefined ? [{ name, label: textAt(each, 'label') ?? name }] : [];
  });
}

/** Leaves for the provider. */
export async function beginWith({ api }: Services, tab: Kept, name: string, from: string | null): Promise<void> {
  const body = tab.read(ASKS_KEY) === null ? {} : { prompt: 'select_account' };
  const answer = await api.json<unknown>(`/identity/${encodeURIComponent(name)}/start`, { method: 'POST', body });
  const address = isFields(answer) ? textAt(answer, 'authorization_url') : undefined;
  const transaction = isFields(answer) ? textAt(answer, 'transaction') : undefined;
  if (address === undefined || transaction === undefined || !/^https?:\/\//.test(address))
    throw new Error('The gateway answered without an address to sign in at.');
  tab.write(SIGN_IN_KEY, JSON.stringify({ name, transaction, from: returnPath(from) } satisfies Begun));
  window.location.assign(address);
}

/** Takes what was begun, once. */
function takeBegun(tab: Kept): Begun | undefined {
  const value = readJson(tab.read(SIGN_IN_KEY) ?? '');
  tab.write(SIGN_IN_KEY, null);
  if (!isFields(value)) return undefined;
  const [name, transaction] = [textAt(value, 'name'), textAt(value, 'transaction')];
  if (name === undefined || transaction === undefined) return undefined;
  return { name, transaction, from: returnPath(textAt(value, 'from') ?? null) };
}

/** Makes a session of what the provider sent the browser back with, and says where to go. The query leaves the address before anything else. */
export async function completeWith({ api, session }: Services, tab: Kept, name: string): Promise<string> {
  const response = window.location.search.slice(1);
  window.history.replaceState(null, '', window.location.pathname);
  const begun = takeBegun(tab);
  if (begun?.name !== name) throw new NotBegunHere();
  const path = `/identity/${encodeURIComponent(name)}/finish`;
  const body = { transaction: begun.transaction, response };
  session.begin(await api.json(path, { method: 'POST', body }));
  tab.write(ASKS_KEY, null);
  return begun.from;
}
