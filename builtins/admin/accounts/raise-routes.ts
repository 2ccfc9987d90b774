import { randomBytes } from 'node:crypto';
import { GatewayError } from '../../../host/contract/index.ts';
import { isTagPattern } from '../../../host/common/accounts/account-path.ts';
import { factsOf, type KeyBudget } from '../../../host/common/budgets/key-budget.ts';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import type { Host } from '../../../host/host.ts';
import type { JsonAnswer, JsonCall, JsonRoute } from '../../../host/http/json-route.ts';
import { mostBytes, targetId } from '../asked.ts';
import { actorOf, type Auditor } from '../auditor.ts';
import { firstObject } from '../first-object.ts';
import { known } from '../key-actions.ts';
import { changing, reading } from '../store-calls.ts';
import type { AccountViews } from './account-views.ts';
import { shownAmount } from '../../../host/common/budgets/counted-sum.ts';
import { type RaisedBudget, readRaise } from './raise-body.ts';
import { raiseObject } from './raise-object.ts';

/** What is raised: an account, a tag, or a key. */
interface Subject {
  /** As the store has it: a path, or the id of a key. */
  readonly name: string;
  readonly budgets: readonly RaisedBudget[];
}

/** More room in budgets for a time. See docs/admin.md#raises. */
export function raiseRoutes(host: Host, auditor: Auditor, views: AccountViews): readonly JsonRoute[] {
  const ofAccount = async (id: string): Promise<Subject> => {
    const { path, effective, budgets } = await views.find(id);
    if (isTagPattern(path)) throw invalidRequest(`${path} stands for many tags; raise one of them`);
    return { name: path, budgets: budgets.map((facts, at) => ({ facts, written: effective.budgets?.[at] ?? {} })) };
  };
  const ofKey = async (id: string): Promise<Subject> => {
    const { limits } = await known(id, reading(host.stores.keys.get(id), host.log));
    const total: readonly KeyBudget[] = limits.budget_usd === undefined ? [] : [{ usd: 1 }];
    const budgets = [...total, ...(limits.budgets ?? [])];
    return {
      name: id,
      budgets: budgets.map((written, at) => ({ written, facts: factsOf(written, `budgets[${at}]`) })),
    };
  };
  return [
    ...routesOf(host, auditor, { path: '/admin/accounts/:id/raises', kind: 'account', subject: ofAccount }),
    ...routesOf(host, auditor, { path: '/admin/keys/:id/raises', kind: 'key', subject: ofKey }),
  ];
}

interface Raised {
  readonly path: string;
  readonly kind: 'account' | 'key';
  readonly subject: (id: string) => Promise<Subject>;
}

function routesOf(host: Host, auditor: Auditor, { path, kind, subject }: Raised): readonly JsonRoute[] {
  const { accounts } = host.stores;
  const about = kind === 'account' ? 'path' : 'key';
  const create = async (call: JsonCall): Promise<JsonAnswer> => {
    const id = targetId(call);
    const { name, budgets } = await subject(id);
    const now = host.services.clock.now();
    const written = readRaise(firstObject(call.bytes), budgets, now);
    const { unit, amount, until } = written;
    const raise = { ...written, id: newRaiseId(), subject: name, actor: actorOf(call.principal), createdAt: now };
    await auditor.during(call, {
      action: `${kind}.raise`,
      target: id,
      act: () => changing(accounts.addRaise(raise)),
      done: () => ({
        detail: { [about]: name, unit, amount: shownAmount(unit, amount), until: new Date(until).toISOString() },
      }),
    });
    return { status: 201, body: raiseObject(raise) };
  };
  const end = async (call: JsonCall): Promise<JsonAnswer> => {
    const id = targetId(call);
    const { name } = await subject(id);
    const asked = call.parameter('raise');
    const raise = accounts.raisesOf(name).find((each) => each.id === asked);
    await auditor.during(call, {
      action: `${kind}.raise_end`,
      target: id,
      act: async () => {
        if (!(await changing(accounts.removeRaise(name, asked))))
          throw new GatewayError('resource_not_found', `there is no raise ${JSON.stringify(asked)}`);
      },
      done: () => ({
        detail: { [about]: name, ...(raise && { unit: raise.unit, amount: shownAmount(raise.unit, raise.amount) }) },
      }),
    });
    return { status: 204 };
  };
  return [
    { method: 'POST', path, scope: 'admin', maxBytes: mostBytes(host), answer: create },
    { method: 'DELETE', path: `${path}/:raise`, scope: 'admin', answer: end },
  ];
}

const ID_BYTES = 10;

const newRaiseId = (): string => `raise_${randomBytes(ID_BYTES).toString('hex')}`;
