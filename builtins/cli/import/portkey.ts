import type { Draft } from './draft.ts';
import { durationText } from './order.ts';
import { readPortkeyConditions } from './portkey-conditions.ts';
import { nameHere } from './provider-names.ts';
import type { Entry } from './reading.ts';

/** The format has literals only; those who fill it in by a script write `${NAME}`, and so does its documentation `{{NAME}}`. */
export const portkeyReference = (value: unknown): string | undefined =>
  typeof value === 'string'
    ? /^(?:\$\{([^}]+)\}|\{\{([^}]+)\}\})$/
        .exec(value)
        ?.slice(1)
        .find((name) => name !== undefined)
    : undefined;

const MODES = new Set<string | undefined>(['single', 'fallback', 'loadbalance', 'conditional']);

/** One provider of the document, with what it inherits from those above it. */
interface Leaf {
  readonly entry: Entry;
  /** Itself first. */
  readonly line: readonly Entry[];
}

/** Reads a Portkey gateway config: an object with a strategy and targets, which may hold others, or with one provider. */
export function readPortkey(root: Entry, draft: Draft): void {
  const leaves = leavesBelow(root, []);
  const taken = leaves.filter((leaf) => readTarget(leaf, draft));
  for (const leaf of leaves) leaveUnused(leaf);
  readModels(taken, draft);
  const strategy = root.at('strategy');
  const mode = strategy.at('mode');
  const isKnown = MODES.has(mode.text);
  draft.strategy['mode'] = isKnown ? mode.text : draft.targets.size > 1 ? 'fallback' : 'single';
  if (isKnown) mode.carry();
  else mode.leave('gw has no strategy like it; the targets are asked in their order');
  readStatuses(strategy, draft);
  if (mode.text === 'loadbalance')
    for (const { settings } of draft.targets.values()) if (!settings.has('weight')) settings.set('weight', 1);
  if (mode.text === 'conditional')
    readPortkeyConditions(
      strategy,
      taken.map(({ entry }) => entry),
      draft,
    );
}

/** Groups within groups become one list: gw has one strategy. */
function leavesBelow(entry: Entry, above: readonly Entry[]): Leaf[] {
  const line = [entry, ...above];
  const { items } = entry.at('targets');
  if (items.length === 0) return [{ entry, line }];
  if (above.length > 0) {
    entry
      .at('strategy')
      .leave('gw has one strategy, that of the outermost group; the targets of this one stand in its place');
    entry.at('weight').leave('gw has one list of targets, in which each has a weight of its own');
  }
  return items.flatMap((item) => leavesBelow(item, line));
}

/** False for what cannot be a target. */
function readTarget({ entry, line }: Leaf, draft: Draft): boolean {
  const named = entry.at('provider', 'virtual_key', 'virtualKey');
  const provider = providerNamed(named, draft);
  if (provider === undefined) {
    entry.leave(named.isThere ? 'gw has no provider of that name' : 'it names no provider');
    return false;
  }
  const isSecond = draft.targets.has(provider);
  draft.target(provider);
  draft.note(entry, provider);
  for (const key of ['provider', 'virtual_key', 'virtualKey']) {
    if (isSecond) entry.at(key).leave(`gw has one target for each provider, and there is one for ${provider} already`);
    else
      entry
        .at(key)
        .carry(
          entry.at(key).text === provider ? undefined : `taken for ${provider}; its key is that of gw's environment`,
        );
  }
  draft.credential(provider, entry.at('api_key', 'apiKey'));
  const host = entry.at('custom_host', 'customHost');
  if (!draft.address(provider, host))
    host.leave(`gw has one address for each provider, and ${provider} has another one already`);
  draft.settings(provider, (names) => [entry.at(...names)]);
  const weight = entry.at('weight');
  if (weight.number !== undefined && weight.number >= 0) draft.set(provider, 'weight', weight.number, weight);
  for (const from of line) readReliability(from, provider, draft);
  return true;
}

/** `openai`, `@openai-prod`, or the name of a virtual key that begins with a provider's. */
function providerNamed(named: Entry, draft: Draft): string | undefined {
  const words = (named.text ?? '').replace(/^@/, '').split(/[-_/]/);
  for (let count = words.length; count > 0; count -= 1) {
    const found = nameHere(words.slice(0, count).join('-'), draft.naming);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What stands nearest to a target counts. Source: portkey.ai/docs, "Automatic Retries", "Request Timeouts", 2026-11-22. */
function readReliability(from: Entry, provider: string, draft: Draft): void {
  const { settings } = draft.target(provider);
  const { attempts, codes, timeout } = reliabilityOf(from);
  if (Number.isInteger(attempts.number) && (attempts.number ?? -1) >= 0 && !settings.has('retry')) {
    const statuses = statusesIn(codes);
    draft.set(
      provider,
      'retry',
      { attempts: (attempts.number ?? 0) + 1, ...(statuses.length > 0 && { on_status_codes: statuses }) },
      attempts,
    );
    for (const code of codes) if (isStatus(code)) code.carry();
  }
  const duration = durationText(timeout.number);
  if (duration !== undefined && !settings.has('request_timeout'))
    draft.set(provider, 'request_timeout', duration, timeout);
}

interface Reliability {
  readonly attempts: Entry;
  readonly codes: readonly Entry[];
  readonly timeout: Entry;
}

function reliabilityOf(from: Entry): Reliability {
  const retry = from.at('retry');
  return {
    attempts: retry.at('attempts'),
    codes: retry.at('on_status_codes', 'onStatusCodes').items,
    timeout: from.at('request_timeout', 'requestTimeout'),
  };
}

/** Marks nothing that some target took. */
function leaveUnused({ line }: Leaf): void {
  for (const from of line) {
    const { attempts, codes, timeout } = reliabilityOf(from);
    for (const entry of [attempts, ...codes, timeout])
      entry.leave('each target has one that stands nearer, or the value is not above zero');
  }
}

/** `override_params.model` replaces whatever model was asked for. Here a request for the model of one target is one for those of the others. */
function readModels(taken: readonly Leaf[], draft: Draft): void {
  const overrides = taken.flatMap(({ entry, line }) => {
    const model = line
      .map((one) => one.at('override_params', 'overrideParams').at('model'))
      .find(({ text }) => text !== undefined);
    const provider = draft.providerAt(entry);
    return model?.text === undefined || provider === undefined ? [] : [{ provider, model, upstream: model.text }];
  });
  for (const { model, upstream } of overrides)
    if (upstream !== upstream.trim() || /[*?]/.test(upstream))
      model.leave('the name of a model is a text without blanks around it, and without * and ?');
  const usable = overrides.filter(({ upstream }) => upstream === upstream.trim() && !/[*?]/.test(upstream));
  for (const { provider, model, upstream } of usable) {
    if (draft.route(provider, upstream, upstream))
      model.carry(
        usable.length > 1
          ? 'requests name this model, or that of another target, instead of any'
          : 'requests name this model, instead of any',
      );
  }
  for (const { provider, upstream } of usable)
    for (const other of usable)
      if (!draft.target(provider).routes.has(other.upstream)) draft.route(provider, other.upstream, upstream);
}

const isStatus = ({ number }: Entry): boolean =>
  Number.isInteger(number) && (number ?? 0) >= 100 && (number ?? 0) <= 599;

const statusesIn = (codes: readonly Entry[]): readonly number[] =>
  codes.filter(isStatus).flatMap(({ number }) => number ?? []);

function readStatuses(strategy: Entry, draft: Draft): void {
  const codes = strategy.at('on_status_codes', 'onStatusCodes').items;
  const statuses = statusesIn(codes);
  if (statuses.length === 0) return;
  draft.strategy['failover_on_status_codes'] = statuses;
  for (const code of codes)
    if (isStatus(code)) code.carry('gw goes on after failed connections, timeouts, 408, 429 and 5xx as well');
}
