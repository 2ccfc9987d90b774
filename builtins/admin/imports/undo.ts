import { budgetIdOf } from '../../../host/common/accounts/account.ts';
import { isWithin, kindOfPath } from '../../../host/common/accounts/account-path.ts';
import { WINDOWS } from '../../../host/common/budgets/counted-sum.ts';
import type { Host } from '../../../host/host.ts';
import type { StoredKey } from '../../../host/stores/keys/key-record.ts';
import type { OriginSlice } from '../../../host/stores/keys/key-repository.ts';
import type { StoredAccount } from '../../../host/stores/accounts/account-repository.ts';
import { accountId } from '../../../host/common/accounts/account-id.ts';
import { changing, reading } from '../store-calls.ts';
import { isChanged } from './adoption.ts';

/** Keys of one transaction. */
const SLICE = 500;

export interface Undone {
  readonly removed: { readonly keys: number; readonly accounts: number };
  readonly kept: readonly { readonly id: string; readonly reason: string }[];
}

type UndoHost = Pick<Host, 'stores' | 'log'>;

/** Removes keys and accounts that an import brought, with what is counted of them. What was used or changed here stays, unless it is forced. */
export async function undoImport(
  host: UndoHost,
  { id, source, isForced }: { readonly id: string; readonly source: string; readonly isForced: boolean },
): Promise<Undone> {
  await host.stores.keys.flush();
  const keys = await undoKeys(host, `${source}:${id}`, isForced);
  const accounts = await undoAccounts(host, id, isForced);
  const owners = new Set([
    ...keys.removed.map((key) => `k:${key}`),
    ...accounts.removed.map((path) => budgetIdOf(path)),
  ]);
  host.stores.ledgers.value.forget?.(WINDOWS, (name) => owners.has(name.slice(0, name.indexOf('|'))));
  return {
    removed: { keys: keys.removed.length, accounts: accounts.removed.length },
    kept: [...keys.kept, ...accounts.kept],
  };
}

interface Part {
  readonly removed: readonly string[];
  readonly kept: Undone['kept'];
}

async function undoKeys(host: UndoHost, origin: string, isForced: boolean): Promise<Part> {
  const parts: Part[] = [];
  for (let after: string | undefined = ''; after !== undefined;) {
    const part: Slice = await undoSlice(host, { origin, after, most: SLICE }, isForced);
    parts.push(part);
    after = part.next;
  }
  return { removed: parts.flatMap(({ removed }) => removed), kept: parts.flatMap(({ kept }) => kept) };
}

interface Slice extends Part {
  /** The last key of it, where there may be more. */
  readonly next: string | undefined;
}

async function undoSlice({ stores: { keys } }: UndoHost, slice: OriginSlice, isForced: boolean): Promise<Slice> {
  let seen: readonly StoredKey[] = [];
  const reason = (key: StoredKey): string | undefined => reasonOf(key, isForced);
  const { removed } = await changing(
    keys.changeMany({
      slice,
      apply: (found) => {
        seen = found;
        const gone = found.filter((key) => reason(key) === undefined).map(({ id }) => id);
        return { made: [], changed: [], removed: gone, openings: [] };
      },
    }),
  );
  return {
    removed,
    kept: seen.flatMap((key) => {
      const why = reason(key);
      return why === undefined ? [] : [{ id: key.id, reason: why }];
    }),
    next: seen.length === slice.most ? seen.at(-1)?.id : undefined,
  };
}

/** Why a key stays. One that administers was made so here: the lockout guard is for its end. */
function reasonOf(key: StoredKey, isForced: boolean): string | undefined {
  if (key.scopes.length > 0) return 'it administers';
  if (isForced) return undefined;
  if (key.usageCount > 0 || key.lastUsedAt !== undefined) return 'it was used';
  return isChanged(key) ? 'it was changed' : undefined;
}

/** Those below come before those above. An account that others need stays in any case: without it their keys are refused, and without a tag they are wider. */
async function undoAccounts({ stores, log }: UndoHost, id: string, isForced: boolean): Promise<Part> {
  const counts = await reading(stores.keys.accountCounts(), log);
  const brought = stores.accounts.importedBy(id).toSorted((a, b) => (a.account.path < b.account.path ? 1 : -1));
  const removed: string[] = [];
  const kept: Undone['kept'][number][] = [];
  for (const stored of brought) {
    const { path } = stored.account;
    const reason = await whyKept(path, stored);
    if (reason === undefined && (await isRemoved(path, stored.version))) removed.push(path);
    else kept.push({ id: accountId(path), reason: reason ?? 'it was changed' });
  }
  return { removed, kept };

  async function isRemoved(path: string, version: number): Promise<boolean> {
    const after = await changing(
      stores.accounts.change(path, (before) => (before && before.version !== version ? { stored: before } : undefined)),
    );
    return after === undefined;
  }

  async function whyKept(path: string, { version, importedVersion }: StoredAccount): Promise<string | undefined> {
    if (!isForced && version !== importedVersion) return 'it was changed';
    if (kindOfPath(path) === 'tag')
      return (await reading(stores.keys.count({ tag: path.slice(1) }), log)) > 0 ? 'keys carry it' : undefined;
    if ([...counts.keys()].some((account) => isWithin(account, path))) return 'keys belong to it';
    const isAbove = stores.accounts.accounts().some((each) => each.path !== path && isWithin(each.path, path));
    return isAbove ? 'accounts stand below it' : undefined;
  }
}
