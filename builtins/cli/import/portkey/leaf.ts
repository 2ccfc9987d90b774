import { durationText } from '../amounts.ts';
import { kindOf } from '../kinds.ts';
import { mainSecretOf, placeFields } from '../plan/place-fields.ts';
import type { Plan } from '../plan/plan.ts';
import type { PlannedCredential, PlannedInstance } from '../plan/planned.ts';
import { nameHere } from '../provider-names.ts';
import type { Entry } from '../reading.ts';

/** One provider of the document, with what it inherits from those above it. */
export interface Leaf {
  readonly entry: Entry;
  /** Itself first. */
  readonly line: readonly Entry[];
}

export interface PlacedLeaf extends Leaf {
  readonly instance: PlannedInstance;
  readonly credential: PlannedCredential;
  /** The model that takes the place of the one asked for. */
  readonly model: Entry | undefined;
  readonly weight: Entry;
}

/** The place of a target; `undefined` for what cannot be one. */
export function leafOf(leaf: Leaf, plan: Plan): PlacedLeaf | undefined {
  const { entry, line } = leaf;
  const named = entry.at('provider', 'virtual_key', 'virtualKey');
  const provider = providerNamed(named, plan);
  if (provider === undefined) {
    entry.leave(named.isThere ? 'gw has no provider of that name' : 'it names no provider');
    return undefined;
  }
  const host = entry.at('custom_host', 'customHost');
  const written = host.isThere && host.value !== '' ? { entry: host } : undefined;
  const module = kindOf(provider, written, plan);
  const { address, settings, secrets } = placeFields({
    module,
    format: plan.format,
    at: (names) => entry.at(...names),
  });
  const called = slugIn(named);
  const instance = plan.place({ module, called, address: written ?? address, settings, headers: [], source: named });
  const [main, key] = [mainSecretOf(module), entry.at('api_key', 'apiKey')];
  const isKey = main !== undefined && key.isThere && key.value !== '';
  if (main === undefined) key.leave(`${module.name} takes no key here`);
  const credential = plan.credential(instance, {
    called: undefined,
    secrets: new Map([...(isKey ? [[main, { entry: key }] as const] : []), ...secrets]),
  });
  for (const member of ['provider', 'virtual_key', 'virtualKey'])
    entry
      .at(member)
      .carry(
        entry.at(member).text === module.name
          ? undefined
          : `taken for ${module.name}; its key is that of gw's environment`,
      );
  return { ...leaf, instance, credential, model: modelOf(line), weight: entry.at('weight') };
}

/** A slug or the name of a virtual key, where it says more than the provider. */
const slugIn = ({ text = '', path }: Entry): string | undefined =>
  text.startsWith('@') || /virtual/i.test(String(path.at(-1))) ? text.replace(/^@/, '') : undefined;

/** `openai`, `@openai-prod`, or the name of a virtual key that begins with a provider's. */
function providerNamed(named: Entry, plan: Plan): string | undefined {
  const words = (named.text ?? '').replace(/^@/, '').split(/[-_/]/);
  for (let count = words.length; count > 0; count -= 1) {
    const found = nameHere(words.slice(0, count).join('-'), plan.naming);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The nearest `override_params.model`; a slug may stand in front of it. */
function modelOf(line: readonly Entry[]): Entry | undefined {
  const model = line
    .map((one) => one.at('override_params', 'overrideParams').at('model'))
    .find(({ text }) => text !== undefined);
  if (model === undefined) return undefined;
  const text = (model.text ?? '').replace(/^@[^/]+\//, '');
  if (text !== '' && text === text.trim() && !/[*?]/.test(text)) return model.with(text);
  model.leave('the name of a model is a text without blanks around it, and without * and ?');
  return undefined;
}

interface Placing {
  readonly placed: ReadonlyMap<string, PlacedLeaf>;
  readonly plan: Plan;
}

/** What stands nearest to a target counts. Source: portkey.ai/docs, "Automatic Retries", "Request Timeouts", 2026-11-22. */
export function readReliability(leaves: readonly Leaf[], { placed, plan }: Placing): void {
  for (const leaf of leaves) {
    const instance = placed.get(leaf.entry.where)?.instance;
    if (instance) readRetry(leaf, instance, plan);
    if (instance) readTimeout(leaf, instance, plan);
  }
  for (const { line } of leaves)
    for (const from of line) {
      const { attempts, codes, timeout } = reliabilityOf(from);
      for (const entry of [attempts, ...codes, timeout])
        entry.leave('each target has one that stands nearer, or the value is not above zero');
    }
}

function readRetry({ line }: Leaf, instance: PlannedInstance, plan: Plan): void {
  const from = line.find((one) => isTries(reliabilityOf(one).attempts.number));
  if (!from) return;
  const { attempts, codes } = reliabilityOf(from);
  const statuses = codes.filter(isStatus).flatMap(({ number }) => number ?? []);
  plan.state(instance, 'retry', {
    value: { attempts: (attempts.number ?? 0) + 1, ...(statuses.length > 0 && { on_status_codes: statuses }) },
    entry: attempts,
  });
  for (const code of codes) if (isStatus(code)) code.carry();
}

function readTimeout({ line }: Leaf, instance: PlannedInstance, plan: Plan): void {
  const from = line.find((one) => durationText(reliabilityOf(one).timeout.number) !== undefined);
  if (!from) return;
  const { timeout } = reliabilityOf(from);
  plan.state(instance, 'request_timeout', { value: durationText(timeout.number), entry: timeout });
}

const isTries = (number: number | undefined): boolean => Number.isInteger(number) && (number ?? -1) >= 0;

function reliabilityOf(from: Entry): {
  readonly attempts: Entry;
  readonly codes: readonly Entry[];
  readonly timeout: Entry;
} {
  const retry = from.at('retry');
  return {
    attempts: retry.at('attempts'),
    codes: retry.at('on_status_codes', 'onStatusCodes').items,
    timeout: from.at('request_timeout', 'requestTimeout'),
  };
}

export const isStatus = ({ number }: Entry): boolean =>
  Number.isInteger(number) && (number ?? 0) >= 100 && (number ?? 0) <= 599;
