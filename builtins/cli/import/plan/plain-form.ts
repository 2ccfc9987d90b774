import { memberOf, setMember } from '../../../../host/contract/json/members.ts';
import { addressOf, credentialOf, type Variables } from '../variables.ts';
import { mainSecretOf, variableOf } from './place-fields.ts';
import type { Plan } from './plan.ts';
import type { Placed, PlannedInstance, PlannedName } from './planned.ts';

/** Whether a plan can be said without `providers` and `models`: one place and one key of a kind, and one route of a name. */
export function isPlain(plan: Plan): boolean {
  const kinds = new Set(plan.instances.map(({ module }) => module.name));
  return (
    !plan.needsFleet &&
    kinds.size === plan.instances.length &&
    plan.instances.every(isPlainInstance) &&
    [...plan.names.values()].every(isPlainName) &&
    plan.instances.every((instance) => deploymentsOf(plan, instance).size <= 1)
  );
}

function isPlainInstance({ module, headers, credentials, settings, anyModel }: PlannedInstance): boolean {
  const keys = [...settings.keys(), ...credentials.flatMap(({ secrets }) => [...secrets.keys()])];
  return (
    module.connection.onlyDeclared !== true &&
    headers.length === 0 &&
    anyModel === undefined &&
    credentials.length <= 1 &&
    credentials.every(({ organization }) => organization === undefined) &&
    keys.every((key) => isOfEnvironment(variableOf(module, key)))
  );
}

const isOfEnvironment = (variable: string | undefined): boolean =>
  variable !== undefined && variable === variable.toUpperCase();

const isPlainName = ({ name, routes, fallbacks, failoverOn, affinity, isListed }: PlannedName): boolean =>
  routes.length === 1 &&
  fallbacks.length === 0 &&
  failoverOn.size === 0 &&
  !affinity &&
  isListed &&
  !name.includes('*') &&
  routes.every(({ model }) => model !== undefined && !model.includes('*'));

/** Deployments that chats of a kind go to whose environment names one. */
function deploymentsOf({ names }: Plan, instance: PlannedInstance): ReadonlyMap<string, Placed> {
  const found = new Map<string, Placed>();
  if (instance.module.connection.chatModelEnv === undefined) return found;
  for (const { routes } of names.values())
    for (const { instance: other, model, entry, hasOwnPath } of routes)
      if (other === instance && model !== undefined && hasOwnPath !== true && !found.has(model))
        found.set(model, { entry: entry.with(model) });
  return found;
}

/** The document without `providers` and `models`, and the variables it needs. */
export function plainDocument(plan: Plan, variables: Variables): Readonly<Record<string, unknown>> {
  for (const instance of plan.read) setVariables(plan, instance, variables);
  const targets = plan.instances.map((instance) => targetOf(plan, instance));
  if (plan.masterKey) variables.secret('MASTER_KEY', { entry: plan.masterKey });
  for (const { module } of plan.read) variables.need(module);
  return {
    apiVersion: 'v1',
    strategy: plan.strategy ?? { mode: targets.length > 1 ? 'fallback' : 'single' },
    targets,
    ...aliasesOf(plan),
    ...plan.members,
  };
}

/** The member `aliases`, where there are any; each leads to where its chain ends. */
export function aliasesOf(plan: Plan): { readonly aliases?: Readonly<Record<string, string>> } {
  const aliases: Record<string, string> = {};
  for (const [name, { entry }] of plan.aliases) {
    const end = plan.endOf(name);
    if (!plan.answers(end)) entry.leave(`nothing answers to "${end}"`);
    else if (plan.names.has(name)) entry.leave('a group of models has that name');
    else {
      setMember(aliases, name, end);
      entry.carry();
    }
  }
  return Object.keys(aliases).length > 0 ? { aliases } : {};
}

/** In the order in which the document is read: so they stood before. */
function setVariables(plan: Plan, instance: PlannedInstance, variables: Variables): void {
  const { module, address, settings, credentials } = instance;
  const [credential] = credentials;
  const plain = new Map<string, Placed>();
  const secret = new Map<string, Placed>();
  if (address) plain.set(addressOf(module), address);
  for (const [key, placed] of settings) plain.set(variableOf(module, key) ?? key, placed);
  for (const [key, placed] of credential?.secrets ?? [])
    secret.set(key === mainSecretOf(module) ? (credentialOf(module) ?? key) : (variableOf(module, key) ?? key), placed);
  const { chatModelEnv } = module.connection;
  for (const [, placed] of deploymentsOf(plan, instance))
    if (chatModelEnv !== undefined) plain.set(chatModelEnv, placed);
  for (const name of orderOf(plan, instance, [...plain.keys(), ...secret.keys()])) {
    const [open, hidden] = [plain.get(name), secret.get(name)];
    if (open) variables.plain(name, open);
    if (hidden) variables.secret(name, hidden);
  }
  for (const repeat of instance.repeats) repeat.carry();
}

function orderOf({ format }: Plan, { module }: PlannedInstance, names: readonly string[]): readonly string[] {
  const address = addressOf(module);
  const key = credentialOf(module) ?? '';
  const listed = ((module.elsewhere && memberOf(module.elsewhere, format)?.settings) ?? []).map(
    ({ variable }) => variable,
  );
  const first =
    format === 'litellm' ? [address, key] : format === 'portkey' && !listed.includes(address) ? [key, address] : [key];
  return [...new Set([...first, ...listed, ...names])].filter((name) => names.includes(name));
}

function targetOf({ names }: Plan, instance: PlannedInstance): Readonly<Record<string, unknown>> {
  const models: string[] = [];
  const map: Record<string, string> = {};
  for (const { name, routes } of names.values())
    for (const { instance: other, model, entry } of routes) {
      if (other !== instance || model === undefined) continue;
      if (model === name) models.push(name);
      else setMember(map, name, model);
      entry.carry();
    }
  const { settled } = instance;
  return {
    virtual_key: instance.module.name,
    ...(settled.has('weight') && { weight: settled.get('weight') }),
    ...(models.length > 0 && { models }),
    ...(Object.keys(map).length > 0 && { model_map: map }),
    ...settingsOf(settled),
  };
}

/** The settings of a target but for its weight; targets that share a value would share an anchor of YAML. */
export const settingsOf = (settled: ReadonlyMap<string, unknown>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    [...settled]
      .filter(([setting]) => setting !== 'weight')
      .map(([setting, value]) => [setting, structuredClone(value)]),
  );
