import { budgetCount } from '../../../host/common/accounts/level.ts';
import type { IncomingMessage } from 'node:http';
import type { KeyLimits } from '../../../host/common/host-principal.ts';
import type { Host } from '../../../host/host.ts';
import type { Generation } from '../../../host/generation/generation.ts';
import type { LiveExchange } from '../../../host/pipeline/live-exchange.ts';
import { shownModel } from '../../../host/pipeline/shown.ts';
import { isPriced, refuseUnpriced, sentBody } from '../../../host/pipeline/billing/unpriced.ts';
import type { Destination } from '../destination.ts';
import { type Family, STORED_RESPONSES } from '../family.ts';

interface Asked {
  readonly family: Family;
  readonly request: IncomingMessage;
  /** As upstreams may read it. */
  readonly paths: readonly string[];
  /** The connection of a request for another protocol. */
  readonly taken?: unknown;
  /** The model that the request names, wherever it does. */
  readonly model?: string | undefined;
}

/** Whether usage is read of an answer to bill it, to correct what was booked for it before, or not at all. */
export type Metering = 'billed' | 'stored' | 'none';

const CALLS: ReadonlySet<unknown> = new Set(['POST', 'PUT', 'PATCH']);
/** What costs nothing: cancelling, uploading, counting. */
const FREE = /\/(?:cancel|input_tokens|count_tokens)\/?$|^\/v1\/(?:files|uploads)(?:\/|$)/i;

/**
 * What the answer used is billed: always of a response, of other requests where it is paid for or counted: by a budget or a
 * rate of tokens of the key, its accounts and tags, or by a plugin that says so. Reading and deleting what a provider keeps is free.
 */
export function meteringOf(
  asked: Asked,
  { limits }: LiveExchange,
  { plugins }: Generation,
  { stores }: Host,
): Metering {
  const { family, taken } = asked;
  if (taken !== undefined || family.asks === 'count') return 'none';
  if (family === STORED_RESPONSES) return stores.running.value.mayHold ? 'stored' : 'none';
  if (isFree(asked)) return 'none';
  const isCounted = family.asks !== undefined || (limits !== undefined && countsUsage(limits)) || plugins.readsUsage;
  return isCounted ? 'billed' : 'none';
}

/** Whether a key, or an account or a tag that binds it, counts what answers used. */
const countsUsage = ({ budget_usd, budgets, tpm, levels }: KeyLimits): boolean =>
  budget_usd !== undefined ||
  budgets !== undefined ||
  tpm !== undefined ||
  levels?.some((level) => budgetCount(level) > 0 || level.tpm !== undefined) === true;

/** Whether a request is known to cost nothing. */
export const isFree = ({ request: { method }, paths, family }: Asked): boolean =>
  family.asks === 'count' || !CALLS.has(method) || paths.some((path) => FREE.test(path));

/** What a vendor charges for by its model and the usage that it reports. */
const PRICED = /^\/v1\/(?:responses(?:\/compact)?|images\/(?:edits|variations)|ocr)\/?$/;

/** Whether a request goes where its model decides the price. */
export const isPricedPath = (paths: readonly string[]): boolean => paths.some((path) => PRICED.test(path));

/** Throws where the request is paid for in dollars, has no price, and is to be refused then. */
export function requirePrice(
  asked: Asked,
  exchange: LiveExchange,
  { target }: Destination,
  { services }: Generation,
): void {
  const {
    request: { method },
    paths: [path = ''],
    taken,
  } = asked;
  if (exchange.routing.unpriced?.rule !== 'refuse' || (taken === undefined && isFree(asked))) return;
  const model = exchange.model || asked.model;
  if (taken !== undefined || !PRICED.test(path) || model === undefined)
    throw refuseUnpriced(exchange, `${method} ${shownModel(path, services.redactor)}`);
  if (!isPriced(target, model, services, sentBody(exchange)))
    throw refuseUnpriced(exchange, `the model "${shownModel(model, services.redactor)}"`);
}
