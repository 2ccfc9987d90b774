import { isFields } from '../../../host/contract/json/fields.ts';
import { memberOf } from '../../../host/contract/json/members.ts';
import { readBifrostRouting } from './bifrost-routing.ts';
import type { Draft } from './draft.ts';
import { durationText, MAX_CONCURRENCY } from './order.ts';
import { nameHere } from './provider-names.ts';
import type { Entry } from './reading.ts';

const NAME = /^env\.(.+)$/;

/** `env.NAME`, or an object that names the variable. Source: docs.getbifrost.ai, "Provider Setup", 2026-11-22. */
export function bifrostReference(value: unknown): string | undefined {
  if (typeof value === 'string') return NAME.exec(value)?.[1];
  const name = isFields(value) ? value['env_var'] : undefined;
  return typeof name === 'string' && name !== '' ? name.replace(NAME, '$1') : undefined;
}

/** Reads a Bifrost config.json: each provider becomes a target. Clients name the provider before the model there, and may go on doing so. */
export function readBifrost(root: Entry, draft: Draft): void {
  const called = new Map<string, string>();
  for (const [name, entry] of root.at('providers').members) {
    const custom = entry.at('custom_provider_config').at('base_provider_type');
    const provider =
      nameHere(name, draft.naming) ?? (custom.text === undefined ? undefined : nameHere(custom.text, draft.naming));
    if (provider === undefined) entry.leave('gw has no provider of that name');
    else if (draft.targets.has(provider))
      entry.leave(`gw has one target for each provider, and there is one for ${provider} already`);
    else {
      custom.carry(`taken for ${provider}`);
      called.set(name, provider);
      readProvider(name, provider, entry, draft);
    }
  }
  readBifrostRouting(root, called, draft);
  const bytes = root.at('client').at('max_request_body_size_mb');
  if (bytes.number !== undefined && bytes.number > 0) {
    draft.members['max_request_bytes'] = Math.round(bytes.number * 1024 * 1024);
    bytes.carry();
  }
}

function readProvider(name: string, provider: string, entry: Entry, draft: Draft): void {
  draft.target(provider);
  for (const key of entry.at('keys').items) readKey(name, provider, key, draft);
  const network = entry.at('network_config');
  draft.address(provider, network.at('base_url'));
  const timeout = network.at('default_request_timeout_in_seconds');
  const duration = durationText((timeout.number ?? 0) * 1000);
  if (duration !== undefined) draft.set(provider, 'request_timeout', duration, timeout);
  readRetry(network, provider, draft);
  readConcurrency(entry.at('concurrency_and_buffer_size'), provider, draft);
}

function readRetry(network: Entry, provider: string, draft: Draft): void {
  const [retries, backoff] = [
    network.at('max_retries'),
    network.at('retry_backoff_initial', 'retry_backoff_initial_ms'),
  ];
  const attempts =
    Number.isInteger(retries.number) && (retries.number ?? -1) >= 0 ? (retries.number ?? 0) + 1 : undefined;
  const wait = backoff.number !== undefined && backoff.number >= 0 ? Math.round(backoff.number) : undefined;
  if (attempts === undefined && wait === undefined) return;
  draft.target(provider).settings.set('retry', {
    ...(attempts !== undefined && { attempts }),
    ...(wait !== undefined && { initial_backoff_ms: wait }),
  });
  if (attempts !== undefined) retries.carry();
  if (wait !== undefined) backoff.carry('gw draws each wait between zero and the bound');
}

function readConcurrency(block: Entry, provider: string, draft: Draft): void {
  const [calls, buffer] = [block.at('concurrency'), block.at('buffer_size')];
  draft.concurrency(provider, calls);
  const { settings } = draft.target(provider);
  const bound = settings.get('concurrency');
  const isPlace =
    Number.isInteger(buffer.number) && (buffer.number ?? 0) >= 1 && (buffer.number ?? 0) <= MAX_CONCURRENCY;
  if (!isFields(bound) || !isPlace)
    return buffer.leave(`queue_size is a whole number up to ${MAX_CONCURRENCY}, beside a bound of the calls`);
  settings.set('concurrency', { ...bound, queue_size: buffer.number });
  buffer.carry();
}

function readKey(name: string, provider: string, key: Entry, draft: Draft): void {
  draft.credential(provider, key.at('value'));
  draft.settings(provider, (names) => names.map((name) => within(key, name)));
  const renamed = renamings(key);
  for (const model of key.at('models').items)
    readModel(name, provider, model, memberOf(renamed, model.text ?? ''), draft);
  for (const [alias, entry] of renamingsOf(key)) {
    if (entry.text !== undefined && addRoute({ name, provider, model: alias, upstream: entry.text }, entry, draft))
      entry.carry();
    else entry.leave(`gw sends "${alias}" to one model of each provider, and another one comes first`);
  }
}

/** The setting of a block: `block.member`. */
const within = (key: Entry, name: string): Entry => name.split('.').reduce((entry, member) => entry.at(member), key);

/** Names of deployments, by the names that clients use. */
const renamingsOf = (key: Entry): readonly (readonly [string, Entry])[] =>
  [
    key.at('aliases'),
    ...['azure_key_config', 'bedrock_key_config', 'vertex_key_config'].map((block) => key.at(block).at('deployments')),
  ].flatMap(({ members }) => members);

const renamings = (key: Entry): Readonly<Record<string, string>> =>
  Object.fromEntries(
    renamingsOf(key).flatMap(([alias, { text }]) => (text === undefined ? [] : [[alias, text] as const])),
  );

function readModel(name: string, provider: string, model: Entry, deployment: string | undefined, draft: Draft): void {
  const { text } = model;
  if (text === undefined || text !== text.trim())
    return model.leave('the name of a model is a text without blanks around it');
  if (text === '*') return model.carry('the target serves the models that gw knows of it, by their own names');
  if (/[*?]/.test(text)) return model.leave('gw takes no patterns');
  if (addRoute({ name, provider, model: text, upstream: deployment ?? text }, model, draft)) model.carry();
  else model.leave(`gw sends "${text}" to one model of each provider, and another one comes first`);
}

interface Route {
  /** The provider's name in the document. */
  readonly name: string;
  readonly provider: string;
  readonly model: string;
  readonly upstream: string;
}

/** By its own name, and behind that of the provider, as clients write it there. */
function addRoute({ name, provider, model, upstream }: Route, entry: Entry, draft: Draft): boolean {
  if (model === '' || model !== model.trim() || upstream !== upstream.trim() || /[*?]/.test(model + upstream))
    return false;
  if (!draft.isDeployment(provider, entry, upstream)) return false;
  return draft.route(provider, model, upstream) && draft.route(provider, `${name}/${model}`, upstream);
}
