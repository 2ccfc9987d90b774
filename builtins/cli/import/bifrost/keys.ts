import { isFields } from '../../../../host/contract/json/fields.ts';
import { kindOf } from '../kinds.ts';
import { mainSecretOf, placeFields } from '../plan/place-fields.ts';
import type { Plan } from '../plan/plan.ts';
import type { PlannedCredential, PlannedInstance } from '../plan/planned.ts';
import type { Entry } from '../reading.ts';

/** A provider of the document, and what it is here. */
export interface ProviderEntry {
  readonly provider: string;
  readonly entry: Entry;
  readonly plan: Plan;
}

/** A key with what it may be used for. */
export interface ServingKey {
  readonly entry: Entry;
  readonly instance: PlannedInstance;
  readonly credential: PlannedCredential;
  readonly weight: number;
  /** Names of models that it lists; `undefined` for all. */
  readonly models: readonly string[] | undefined;
  /** Names that clients use, and what the provider calls the models. */
  readonly renamed: ReadonlyMap<string, { readonly upstream: string; readonly entry: Entry }>;
}

const BLOCKS = ['azure_key_config', 'bedrock_key_config', 'vertex_key_config'];

/** Reads one key of a provider. Source: docs.getbifrost.ai, "Provider Setup", 2026-11-22. */
export function readKey(key: Entry, name: string, { provider, entry, plan }: ProviderEntry): ServingKey {
  const within = (path: string): Entry => path.split('.').reduce((at, member) => at.at(member), key);
  const at = (names: readonly string[]): Entry =>
    names.map(within).find(({ isThere }) => isThere) ?? within(names[0] ?? '');
  const network = entry.at('network_config');
  const root = network.at('base_url');
  const written = root.isThere && root.value !== '' ? { entry: root } : undefined;
  const module = kindOf(provider, written, plan);
  const { address, settings, secrets } = placeFields({ module, format: plan.format, at });
  const instance = plan.place({
    module,
    called: name,
    address: address ?? written,
    settings,
    headers: network.at('extra_headers').members,
    source: entry,
  });
  const [main, value] = [mainSecretOf(module), key.at('value')];
  const isKey = main !== undefined && value.isThere && value.value !== '';
  const credential = plan.credential(instance, {
    called: undefined,
    secrets: new Map([...(isKey ? [[main, { entry: value }] as const] : []), ...secrets]),
  });
  if (main === undefined) value.leave(`${module.name} takes no key here`);
  return { entry: key, instance, credential, ...weightOf(key), ...modelsOf(key) };
}

function weightOf(key: Entry): { readonly weight: number } {
  const { number } = key.at('weight');
  return { weight: number !== undefined && number >= 0 ? number : 1 };
}

function modelsOf(key: Entry): Pick<ServingKey, 'models' | 'renamed'> {
  const list = key.at('models');
  const names = list.items.flatMap((model) => modelIn(model));
  const isAll = list.items.length === 0 || list.items.some(({ text }) => text === '*');
  if (Array.isArray(list.value) && list.items.length === 0) list.carry('an empty list is read as all models');
  const renamed = new Map<string, { readonly upstream: string; readonly entry: Entry }>();
  for (const from of [key.at('aliases'), ...BLOCKS.map((block) => key.at(block).at('deployments'))])
    for (const [alias, one] of from.members) {
      const upstream = one.text ?? (isFields(one.value) ? one.at('model_id', 'deployment_name').text : undefined);
      if (!isModel(alias) || upstream === undefined || !isModel(upstream)) one.leave('it names no model');
      else if (renamed.has(alias)) one.leave(`"${alias}" has another model already`);
      else renamed.set(alias, { upstream, entry: one });
    }
  return { models: isAll ? undefined : names, renamed };
}

function modelIn(model: Entry): readonly string[] {
  const { text } = model;
  if (text === '*') {
    model.carry();
    return [];
  }
  if (text !== undefined && isModel(text)) return [text];
  model.leave('the name of a model is a text without blanks around it, and without * and ?');
  return [];
}

const isModel = (text: string): boolean =>
  text !== '' && text.length <= 200 && text === text.trim() && !/[*?]/.test(text);
