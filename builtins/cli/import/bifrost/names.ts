import { rounded } from '../amounts.ts';
import type { Plan } from '../plan/plan.ts';
import type { Entry } from '../reading.ts';
import type { ServingKey } from './keys.ts';
import { readRules } from './rules.ts';
import { sharesOf } from './shares.ts';

/** Which names lead where: the provider before the model, and models by their own names. */
export function readBifrostNames(root: Entry, serving: ReadonlyMap<string, readonly ServingKey[]>, plan: Plan): void {
  const shares = sharesOf(root, serving);
  for (const [provider, keys] of serving) {
    for (const { instance } of keys) instance.isClosed = keys.every(({ models }) => models !== undefined);
    for (const key of keys) boundKey(key);
    const isOpen = keys.some(({ models }) => models === undefined);
    const isOne = new Set(keys.map(({ instance }) => instance)).size === 1;
    for (const model of namesOf(keys)) {
      const isOfStar = isOpen && isOne && keys.every(({ renamed }) => !renamed.has(model));
      if (!isOfStar) addRoutes(`${provider}/${model}`, { keys, model, share: 1 }, plan);
      addRoutes(model, { keys, model, share: shares.get(provider)?.weight }, plan);
    }
    if (isOpen) addRoutes(`${provider}/*`, { keys, model: '*', share: 1 }, plan);
    weighKeys(keys);
  }
  readRules(root, serving, plan);
  weighTargets(serving, { shares, plan });
}

const namesOf = (keys: readonly ServingKey[]): ReadonlySet<string> =>
  new Set(keys.flatMap(({ models = [], renamed }) => [...models, ...renamed.keys()]));

/** The upstream models that a key may be used for. */
function boundKey({ credential, models, renamed }: ServingKey): void {
  if (models === undefined) {
    credential.models = undefined;
    return;
  }
  for (const model of models) credential.models?.add(renamed.get(model)?.upstream ?? model);
  for (const { upstream } of renamed.values()) credential.models?.add(upstream);
  credential.isBound = true;
}

interface Named {
  readonly keys: readonly ServingKey[];
  readonly model: string;
  /** The provider's among others; by the weights of its keys where nothing says it. */
  readonly share: number | undefined;
}

function addRoutes(name: string, { keys, model, share }: Named, plan: Plan): void {
  if (name.length > 256) return;
  const able = keys.filter((key) => key.models === undefined || key.models.includes(model) || key.renamed.has(model));
  const sum = able.reduce((total, { weight }) => total + weight, 0);
  const planned = plan.name(name);
  for (const key of able) {
    const { instance, credential, renamed, weight } = key;
    const place = renamed.get(model)?.entry ?? entryOf(key, model);
    plan.route(planned, {
      instance,
      credential,
      model: renamed.get(model)?.upstream ?? model,
      weight: share === undefined || sum === 0 ? weight : (share * weight) / sum,
      tier: 0,
      entry: place,
    });
    place.carry();
    entryOf(key, model).carry();
  }
  if (able.length === 0) plan.names.delete(name);
}

/** Where a key lists a model. */
const entryOf = ({ entry }: ServingKey, model: string): Entry =>
  entry.at('models').items.find(({ text }) => text === model) ?? entry.at('models');

/** Keys of one instance share its calls by their weights. */
function weighKeys(keys: readonly ServingKey[]): void {
  for (const { instance, credential, entry, weight } of keys) {
    const isPool = keys.some((other) => other.instance === instance && other.credential !== credential);
    if (isPool) credential.weight = rounded(weight);
    const called = entry.at('name');
    if (isPool && called.text !== undefined) Object.assign(credential, { called: called.text });
    if (isPool) called.carry();
    else called.leave('an only key has no name here');
    if (entry.at('value').value === '') entry.at('value').carry();
    entry.at('weight').carry(isPool || keys.length === 1 ? undefined : 'it is the weight of the route');
  }
}

interface Weighing {
  readonly shares: ReadonlyMap<string, { readonly weight: number; readonly entry: Entry }>;
  readonly plan: Plan;
}

/** Shares of the providers, for models that no group names: those of virtual keys, else the sums of their keys. */
function weighTargets(serving: ReadonlyMap<string, readonly ServingKey[]>, { shares, plan }: Weighing): void {
  for (const [provider, keys] of serving) {
    const stated = keys.filter(({ entry }) => entry.at('weight').number !== undefined);
    for (const instance of new Set(keys.map((key) => key.instance))) {
      const own = stated.filter((key) => key.instance === instance);
      const sum = own.reduce((total, { weight }) => total + weight, 0);
      const part = stated.length === 0 ? 1 : sum / (stated.reduce((total, { weight }) => total + weight, 0) || 1);
      const share = shares.get(provider)?.weight;
      if (instance.settled.has('weight') || (share === undefined && own.length === 0)) continue;
      instance.settled.set('weight', rounded(share === undefined ? sum : share * part));
    }
  }
  const isWeighted =
    plan.instances.length > 1 && plan.instances.some(({ settled }) => Number(settled.get('weight') ?? 0) > 0);
  if (!isWeighted) return;
  for (const { settled } of plan.instances) if (!settled.has('weight')) settled.set('weight', 1);
  plan.strategy = { mode: 'loadbalance' };
}
