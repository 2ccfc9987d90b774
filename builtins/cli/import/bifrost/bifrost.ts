import { isFields } from '../../../../host/contract/json/fields.ts';
import { durationText, isCalls, MAX_CONCURRENCY } from '../amounts.ts';
import type { Plan } from '../plan/plan.ts';
import type { PlannedInstance } from '../plan/planned.ts';
import { nameHere } from '../provider-names.ts';
import type { Entry } from '../reading.ts';
import { type ProviderEntry, readKey, type ServingKey } from './keys.ts';
import { readBifrostNames } from './names.ts';

const NAME = /^env\.(.+)$/;

/** `env.NAME`, or an object that names the variable. Source: docs.getbifrost.ai, "Provider Setup", 2026-11-22. */
export function bifrostReference(value: unknown): string | undefined {
  if (typeof value === 'string') return NAME.exec(value)?.[1];
  const name = isFields(value) ? value['env_var'] : undefined;
  return typeof name === 'string' && name !== '' ? name.replace(NAME, '$1') : undefined;
}

/** Reads a Bifrost config.json: a provider is an instance for each endpoint of its keys. Clients name the provider before the model there, and may go on doing so. */
export function readBifrost(root: Entry, plan: Plan): void {
  const serving = new Map<string, readonly ServingKey[]>();
  for (const [name, entry] of root.at('providers').members) {
    const custom = entry.at('custom_provider_config').at('base_provider_type');
    const provider = nameHere(custom.text ?? name, plan.naming) ?? nameHere(name, plan.naming);
    if (provider === undefined) entry.leave('gw has no provider of that name');
    else {
      custom.carry(`taken for ${provider}`);
      serving.set(name, readProvider(name, { provider, entry, plan }));
    }
  }
  readBifrostNames(root, serving, plan);
  const bytes = root.at('client').at('max_request_body_size_mb');
  if (bytes.number !== undefined && bytes.number > 0) {
    plan.members['max_request_bytes'] = Math.round(bytes.number * 1024 * 1024);
    bytes.carry();
  }
}

function readProvider(name: string, read: ProviderEntry): readonly ServingKey[] {
  const { entry, plan } = read;
  const listed = entry.at('keys').items;
  const keys =
    listed.length > 0 ? listed.map((key) => readKey(key, name, read)) : [readKey(entry.at('keys'), name, read)];
  for (const instance of new Set(keys.map((key) => key.instance))) readSettings(entry, instance, plan);
  return keys;
}

function readSettings(entry: Entry, instance: PlannedInstance, plan: Plan): void {
  const network = entry.at('network_config');
  const timeout = network.at('default_request_timeout_in_seconds');
  const duration = durationText((timeout.number ?? 0) * 1000);
  if (duration !== undefined) plan.state(instance, 'request_timeout', { value: duration, entry: timeout });
  readRetry(network, instance, plan);
  readConcurrency(entry.at('concurrency_and_buffer_size'), instance, plan);
}

function readRetry(network: Entry, instance: PlannedInstance, plan: Plan): void {
  const [retries, backoff] = [
    network.at('max_retries'),
    network.at('retry_backoff_initial', 'retry_backoff_initial_ms'),
  ];
  const attempts =
    Number.isInteger(retries.number) && (retries.number ?? -1) >= 0 ? (retries.number ?? 0) + 1 : undefined;
  const wait = backoff.number !== undefined && backoff.number >= 0 ? Math.round(backoff.number) : undefined;
  if (attempts === undefined && wait === undefined) return;
  const value = {
    ...(attempts !== undefined && { attempts }),
    ...(wait !== undefined && { initial_backoff_ms: wait }),
  };
  plan.state(instance, 'retry', { value, entry: attempts === undefined ? backoff : retries });
  if (wait !== undefined) backoff.carry('gw draws each wait between zero and the bound');
}

function readConcurrency(block: Entry, instance: PlannedInstance, plan: Plan): void {
  const [calls, buffer] = [block.at('concurrency'), block.at('buffer_size')];
  if (!isCalls(calls.number)) {
    calls.leave(`max_concurrency is a whole number from 1 to ${MAX_CONCURRENCY}`);
    return buffer.leave('a queue stands beside a bound of the calls');
  }
  const isQueue = isCalls(buffer.number);
  const value = { max_concurrency: calls.number, ...(isQueue && { queue_size: buffer.number }) };
  plan.state(instance, 'concurrency', { value, entry: calls });
  if (isQueue) buffer.carry();
  else buffer.leave(`queue_size is a whole number up to ${MAX_CONCURRENCY}`);
}
