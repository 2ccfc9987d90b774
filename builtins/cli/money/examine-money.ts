import type { GatewayConfig } from '../../../host/config/document.ts';
import { buildOffline, openedOffline } from '../../../host/generation/offline.ts';
import type { Generation } from '../../../host/generation/generation.ts';
import type { Finding } from '../../../host/host-hooks.ts';
import type { Host } from '../../../host/host.ts';
import { isPriced } from '../../../host/pipeline/billing/unpriced.ts';
import type { PipelineServices } from '../../../host/pipeline/pipeline-services.ts';
import { declaredTree } from './account-table.ts';

const MOST_NAMED = 10;
const OF_MONEY = /^WN4[0-5]$/;

/** The section Money of `gw doctor`: accounts, the zones of their budgets, models without a price, and what a start would warn of. */
export async function moneyFindings(host: Host, config: GatewayConfig): Promise<readonly Finding[]> {
  const generation = await buildOffline(host, config);
  try {
    const services = await openedOffline(host);
    return [...accountFindings(config), ...priceFindings(generation, services), ...warningFindings(generation)];
  } finally {
    await generation.dispose();
  }
}

/** Whether anything is said of who pays, and how much. */
export const hasMoney = ({ accounts = [], money }: GatewayConfig): boolean =>
  accounts.length > 0 || Object.values(money).some((value) => value !== undefined);

function accountFindings(config: GatewayConfig): readonly Finding[] {
  const accounts = [...declaredTree(config).known()];
  if (accounts.length === 0) return [{ level: 'absent', text: 'no account is declared' }];
  const tags = accounts.filter(({ kind }) => kind === 'tag').length;
  const zones = new Set(
    accounts.flatMap(({ budgets, sessionBudgets }) =>
      [...budgets, ...sessionBudgets].flatMap(({ rule }) => ('zone' in rule ? [rule.zone] : [])),
    ),
  );
  return [
    { level: 'good', text: `accounts: ${accounts.length - tags}, tags: ${tags}` },
    ...(zones.size > 0
      ? [{ level: 'good', text: `time zones of budgets: ${[...zones].toSorted().join(', ')}` } as const]
      : []),
  ];
}

function priceFindings({ targetList, models }: Generation, services: PipelineServices): readonly Finding[] {
  const unpriced = targetList.flatMap((target) =>
    target.provider
      ? models
          .advertised(target.virtualKey)
          .filter((model) => !isPriced(target, model, services))
          .map((model) => `${target.virtualKey}/${model}`)
      : [],
  );
  if (unpriced.length === 0) return [];
  const named = unpriced.slice(0, MOST_NAMED).join(', ');
  const others = unpriced.length > MOST_NAMED ? ` and ${unpriced.length - MOST_NAMED} others` : '';
  return [{ level: 'warning', text: `no price is known of ${named}${others}` }];
}

const warningFindings = ({ warnings }: Generation): readonly Finding[] =>
  warnings
    .filter(({ rule }) => OF_MONEY.test(rule))
    .map(({ path, rule, message, fix }) => ({ level: 'warning', text: `${path}: ${rule}: ${message}; fix: ${fix}` }));
