/** What a provider cannot express of a request: refused, reported or left out, as `unsupported_params` says. */
import { GatewayError, type ProviderModule, quoted } from '../../contract/index.ts';
import { inBodyOrder } from '../../wire/body-order.ts';
import type { RunningGeneration } from '../running-generation.ts';
import { shownNames } from '../shown.ts';
import type { Attempt } from './attempt.ts';
import { inMatrixOrder, unsupportedError } from './parameters.ts';

const NO_NAMES: readonly string[] = Object.freeze([]);

/** Refuses, or reports, what the provider cannot express; returns the names that the client gets. */
export function reportIgnored(
  { exchange, turn, target, provider: { module } }: Attempt,
  names: readonly string[],
  { unsupportedParams: policy, services: { log } }: RunningGeneration,
): readonly string[] {
  if (names.length === 0) return NO_NAMES;
  const inOrder = (order: ProviderModule['wire']): string[] => inMatrixOrder(names, order, Object.keys(turn.request));
  if (policy === 'reject') throw unsupportedError(inOrder(module.wire), module.name);
  const ignored = inOrder('common'); // only the refusal has an order by wire
  log.warn('parameters ignored by the provider', {
    target: target.virtualKey,
    params: shownNames(ignored),
    policy,
    trace_id: exchange.id,
  });
  return policy === 'warn' ? ignored : NO_NAMES;
}

/** Refuses, or reports, what is lost of a client's own body, by its paths and in the order of its members; returns the paths that the client gets. */
export function reportLost(
  { exchange, target, provider: { module } }: Attempt,
  paths: readonly string[],
  { unsupportedParams: policy, services: { log } }: RunningGeneration,
): readonly string[] {
  if (paths.length === 0) return NO_NAMES;
  const lost = boundedNames(inBodyOrder(paths, exchange.sent?.value ?? {}));
  if (policy === 'reject') throw unsupportedError(lost, module.name);
  log.warn('parameters ignored by the provider', {
    target: target.virtualKey,
    params: shownNames(lost),
    policy,
    trace_id: exchange.id,
  });
  return policy === 'warn' ? lost : NO_NAMES;
}

/** Always refused, whatever the policy for parameters: formats are not converted. */
export function refuseImageFormat({ name, imageFormats }: ProviderModule, format: string | null | undefined): void {
  if (!format || !imageFormats || imageFormats.includes(format)) return;
  throw new GatewayError(
    'unsupported_parameter',
    `${name} does not support: response_format ${quoted(format)}, only ${imageFormats.join(', ')}`,
  );
}

const MOST_NAMES = 50;
const MOST_CHARACTERS = 4096;

/** Names of what is not carried: each once, and no more than a header should hold. See docs/reference/ingress.md#what-is-lost. */
export function boundedNames(names: readonly string[]): readonly string[] {
  const kept: string[] = [];
  const all = [...new Set(names)];
  let length = 0;
  for (const name of all) {
    length += name.length + 2;
    if (kept.length === MOST_NAMES || length > MOST_CHARACTERS) return [...kept, `+${all.length - kept.length}`];
    kept.push(name);
  }
  return kept;
}
