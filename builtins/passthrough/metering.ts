import type { IncomingMessage } from 'node:http';
import type { Generation } from '../../host/generation/generation.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import { shownModel } from '../../host/pipeline/shown.ts';
import { isPriced, refuseUnpriced } from '../../host/pipeline/unpriced.ts';
import type { Destination } from './destination.ts';
import { type Family, RESPONSES } from './family.ts';

interface Asked {
  readonly family: Family;
  readonly request: IncomingMessage;
  /** As the upstream may read it. */
  readonly path: string;
  /** The connection of a request for another protocol. */
  readonly taken?: unknown;
  /** The model that the request names, wherever it does. */
  readonly model?: string | undefined;
}

const CALLS: ReadonlySet<unknown> = new Set(['POST', 'PUT', 'PATCH']);
/** What costs nothing: cancelling, uploading, counting. */
const FREE = /\/(?:cancel|input_tokens|count_tokens)\/?$|^\/v1\/(?:files|uploads)(?:\/|$)/;

/**
 * Whether what the answer used is read and paid for: always of a response, of other requests where it is paid for or counted: by a key with a
 * budget or a rate of tokens, or by a plugin that says so. Reading and deleting what a provider keeps is free.
 */
export function isMetered({ family, request: { method }, path, taken }: Asked, { principal }: LiveExchange, { plugins }: Generation): boolean {
  if (isFree(method, path) || taken !== undefined) return false;
  return family === RESPONSES || principal?.limits?.budget_usd !== undefined || principal?.limits?.tpm !== undefined || plugins.readsUsage;
}

const isFree = (method: string | undefined, path: string): boolean => !CALLS.has(method) || FREE.test(path);

/** What a vendor charges for by its model and the usage that it reports. */
const PRICED = /^\/v1\/(?:responses(?:\/compact)?|images\/(?:edits|variations)|ocr)\/?$/;

/** Throws where the request is paid for in dollars, has no price, and is to be refused then. */
export function requirePrice({ request: { method }, path, taken, model }: Asked, exchange: LiveExchange, { target }: Destination, { services }: Generation): void {
  if (exchange.routing.unpriced?.rule !== 'refuse' || (taken === undefined && isFree(method, path))) return;
  const asked = exchange.model || model;
  if (taken !== undefined || !PRICED.test(path) || asked === undefined) throw refuseUnpriced(exchange, `${method} ${shownModel(path, services.redactor)}`);
  if (!isPriced(target, asked, services)) throw refuseUnpriced(exchange, `the model "${shownModel(asked, services.redactor)}"`);
}
