import { GatewayError, quoted } from '../../../host/contract/index.ts';
import { isTagName } from '../../../host/common/accounts/account-path.ts';
import { matchesPattern } from '../../../host/common/accounts/name-rules.ts';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import { HOUR_MS } from '../../../host/common/once-per.ts';
import type { Host } from '../../../host/host.ts';
import type { JsonAnswer, JsonCall, JsonRoute } from '../../../host/http/json-route.ts';
import type { SpendEntry } from '../../../host/stores/spend/spend-entry.ts';
import { SPEND_COUNTS, type SpendRow } from '../../../host/stores/spend/spend-row.ts';
import { mostBytes } from '../asked.ts';
import type { Auditor } from '../auditor.ts';
import { firstObject } from '../first-object.ts';
import { budgetsOf, type DollarBudget, dollarBudgets } from '../lists/dollar-budgets.ts';
import { changing, reading } from '../store-calls.ts';
import { timestamp } from '../../../host/common/timestamps.ts';
import { readEntry, sameText, type WrittenEntry } from './entry-body.ts';
import { keptSpend } from './spend-route.ts';

/** Who pays, and from which budgets. */
interface Payer {
  readonly account: string;
  readonly keyId: string;
  readonly tags: readonly string[];
  readonly budgets: readonly DollarBudget[];
}

/** Books what was measured elsewhere, and corrections. See docs/admin.md#spend. */
export function enterSpendRoute(host: Host, auditor: Auditor): JsonRoute {
  const answer = async (call: JsonCall): Promise<JsonAnswer> => {
    const ledger = keptSpend(host.stores.spend.value);
    const now = host.services.clock.now();
    const written = readEntry(firstObject(call.bytes), now);
    const at = written.at ?? now;
    const payer = await payerOf(host, written, at);
    const { usd, note } = { usd: written.micro / 1e6, note: written.note };
    const about = { account: payer.account, key: payer.keyId, usd, note };
    const event = { action: 'spend.enter', target: payer.keyId || payer.account } as const;
    try {
      const entered = await changing(ledger.enter(entryOf(written, payer, at)));
      if (entered.outcome === 'conflict')
        throw new GatewayError('idempotency_conflict', 'this idempotency_key was used before, with another body');
      if (entered.outcome === 'below zero')
        throw invalidRequest(
          'usd gives back more than was spent: neither a budget nor the sum of all spend may be below 0',
        );
      const isNew = entered.outcome === 'entered';
      if (isNew) auditor.record(call, { ...event, outcome: 'ok', detail: about });
      return { status: isNew ? 201 : 200, body: shown(written, payer, entered.at) };
    } catch (error) {
      auditor.failed(call, { ...event, about, error });
      throw error;
    }
  };
  return { method: 'POST', path: '/admin/spend', scope: 'admin', maxBytes: mostBytes(host), answer };
}

async function payerOf(host: Host, written: WrittenEntry, at: number): Promise<Payer> {
  const { account, keyId, tags } = written;
  if (keyId === undefined) {
    const path = account ?? '';
    const budgets = budgetsOfLevels(host, path, written, tags, at);
    if (!budgets) throw invalidRequest(`the account ${quoted(path)} does not exist`);
    return { account: path, keyId: '', tags, budgets };
  }
  const record = await reading(host.stores.keys.get(keyId), host.log);
  if (!record) throw invalidRequest(`the key ${quoted(keyId)} does not exist`);
  const all = [...(record.limits.tags ?? []).filter(isTagName), ...tags];
  const levels = budgetsOfLevels(host, record.limits.account, written, all, at) ?? [];
  return {
    account: record.limits.account ?? '',
    keyId,
    tags: all,
    budgets: [...dollarBudgets(record, at).filter(counting(written.model)), ...levels],
  };
}

/** Those of an account, of the accounts above it, and of tags, that count the model; `undefined` where the account does not exist. */
function budgetsOfLevels(
  { current }: Pick<Host, 'current'>,
  account: string | undefined,
  { model }: WrittenEntry,
  tags: readonly string[],
  at: number,
): readonly DollarBudget[] | undefined {
  const tree = current?.accounts.tree();
  const chain = tree?.chain(account);
  if (!tree || !chain) return undefined;
  return [...chain, ...tree.tags(tags)].flatMap(({ budgetId, budgets }) =>
    budgetsOf(budgetId, budgets, at).filter(counting(model)),
  );
}

/** A budget may be for some models only. */
const counting =
  (model: string) =>
  ({ models }: DollarBudget): boolean =>
    models === undefined || models.some((pattern) => matchesPattern(pattern, model));

function entryOf(written: WrittenEntry, { account, keyId, tags, budgets }: Payer, at: number): SpendEntry {
  const { idempotencyKey, micro, model, provider } = written;
  const counts = Object.fromEntries(SPEND_COUNTS.map((name) => [name, 0])) as Record<
    (typeof SPEND_COUNTS)[number],
    number
  >;
  const row: SpendRow = {
    ...counts,
    hour: Math.floor(at / HOUR_MS),
    span: 1,
    account,
    key_id: keyId,
    tags: [...new Set(tags)].toSorted().join(','),
    model,
    provider,
    target: '',
    credential: '',
    surface: '',
    line: '',
    catalog: '',
    source: micro < 0 ? 'correction' : 'entered',
    micro_usd: micro,
  };
  return {
    idempotencyKey,
    body: sameText(written),
    at,
    row,
    bookings: budgets.map((budget) => ({ ...budget, amount: micro })),
  };
}

function shown({ idempotencyKey, keyId, micro }: WrittenEntry, { account }: Payer, at: number): object {
  return {
    idempotency_key: idempotencyKey,
    account,
    key_id: keyId,
    usd: micro / 1e6,
    micro_usd: micro,
    at: timestamp(at),
  };
}
