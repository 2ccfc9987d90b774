import { kindKeys } from '../../../../host/common/kinds/kind-keys.ts';
import { addressOf } from '../variables.ts';
import { cleanAddress } from './addresses.ts';
import { credentialBlocks } from './credential-blocks.ts';
import type { Fleet } from './fleet.ts';
import { headersOf } from './header-texts.ts';
import { heldIn } from './held.ts';
import { slugOf } from './instance-names.ts';
import { variableOf } from './place-fields.ts';
import type { Placed, PlannedInstance } from './planned.ts';

/** One entry of `providers`. */
export function instanceBlock(instance: PlannedInstance, fleet: Fleet): Readonly<Record<string, unknown>> {
  const { module, isClosed, anyModel } = instance;
  const address = addressText(instance, fleet);
  const settings = settingTexts(instance, fleet);
  const headers = headersOf(instance, fleet);
  for (const repeat of instance.repeats) repeat.carry();
  const asks = anyModel ?? (isClosed && module.anyModel === true ? false : undefined);
  return {
    kind: module.name,
    ...(address !== undefined && { base_url: address }),
    ...(Object.keys(settings).length > 0 && { settings }),
    ...credentialBlocks(instance, { fleet, isElsewhere: isElsewhere(instance, address) }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(isClosed && { models: [] }),
    ...(asks !== undefined && { any_model: asks }),
  };
}

/**
 * Whether an instance stays that of the environment: an address or a setting is a variable there that is not set here,
 * and it is the only place of its kind.
 */
export function isOfEnvironmentNow(instance: PlannedInstance, { plan, lookUp }: Fleet): boolean {
  const { module, address, settings, credentials, headers, anyModel } = instance;
  const isUnknown = ({ entry }: Placed): boolean => {
    const held = heldIn(entry, plan.referenceIn, false);
    return held?.kind === 'reference' && lookUp(held.name) === undefined;
  };
  const isAlone = plan.instances.every((other) => other === instance || other.module !== module);
  const [credential, ...more] = credentials;
  const keys = [...settings.keys(), ...(credential?.secrets.keys() ?? [])];
  return (
    [...(address ? [address] : []), ...settings.values()].some(isUnknown) &&
    isAlone &&
    module.connection.onlyDeclared !== true &&
    module.connection.chatModelEnv === undefined &&
    more.length === 0 &&
    credential?.organization === undefined &&
    headers.length === 0 &&
    anyModel === undefined &&
    instance.called === undefined &&
    keys.every((key) => /^[A-Z]/.test(variableOf(module, key) ?? ''))
  );
}

/** Sets what its variables hold, as in a document without `providers`. */
export function setEnvironment(
  { module, address, settings, credentials, repeats }: PlannedInstance,
  { variables }: Fleet,
): void {
  if (address) variables.plain(addressOf(module), address);
  for (const [key, placed] of settings) variables.plain(variableOf(module, key) ?? key, placed);
  for (const [key, placed] of credentials[0]?.secrets ?? []) variables.secret(variableOf(module, key) ?? key, placed);
  for (const repeat of repeats) repeat.carry();
  variables.need(module);
}

/** The address of a value that only a variable has, or that may hold a secret: no host has that name, so nothing goes anywhere before it is written. */
export const placeholderOf = (name: string): string => `https://set-${slugOf(name)}.invalid`;

function addressText(instance: PlannedInstance, fleet: Fleet): string | undefined {
  const { module, address } = instance;
  const place = `providers.${fleet.nameOf(instance)}.base_url`;
  if (!address) {
    if (!kindKeys(module).needsAddress) return undefined;
    fleet.variables.toWrite(place, placeholderOf(addressOf(module)), placeOf(instance));
    return fleet.lookUp(addressOf(module)) ?? placeholderOf(addressOf(module));
  }
  const { text, name } = textOf(address, fleet);
  const cleaned = text === undefined ? undefined : cleanAddress(text, module.name.startsWith('azure'));
  if (cleaned) {
    address.entry.carry(name === undefined ? cleaned.difference : `the value that ${name} has here`);
    return cleaned.text;
  }
  const placeholder = placeholderOf(name ?? fleet.nameOf(instance));
  fleet.variables.toWrite(place, placeholder, address.entry);
  address.entry.carry(`write it into ${place}`);
  return placeholder;
}

/** The text of a value, and the variable it comes from. */
function textOf(
  { entry, as = '{}' }: Placed,
  { plan, lookUp }: Fleet,
): { text: string | undefined; name: string | undefined } {
  const name = plan.referenceIn(entry.value);
  const text = name === undefined ? entry.text : lookUp(name);
  return { text: text === undefined || text === '' ? undefined : as.replace('{}', text), name };
}

function settingTexts(instance: PlannedInstance, fleet: Fleet): Readonly<Record<string, unknown>> {
  const { module, settings } = instance;
  const texts = new Map<string, unknown>();
  const known = kindKeys(module).settings;
  for (const [key, placed] of settings) {
    if (!known.has(key)) placed.entry.leave(`${module.name} has no setting for it`);
    else texts.set(key, settingText(key, placed, { instance, fleet }));
  }
  for (const [key, { isRequired, variable }] of known) {
    if (!isRequired || texts.has(key) || variable === addressOf(module)) continue;
    const place = `providers.${fleet.nameOf(instance)}.settings.${key}`;
    const placeholder = `set-${slugOf(variable)}`;
    texts.set(key, fleet.lookUp(variable) ?? placeholder);
    if (fleet.lookUp(variable) === undefined) fleet.variables.toWrite(place, placeholder, placeOf(instance));
  }
  return Object.fromEntries(texts);
}

function settingText(
  key: string,
  placed: Placed,
  { instance, fleet }: { readonly instance: PlannedInstance; readonly fleet: Fleet },
): string {
  const { entry } = placed;
  const { text, name } = textOf(placed, fleet);
  const isSafe = text !== undefined && heldIn(entry.with(text), fleet.plan.referenceIn, false)?.kind === 'open';
  if (isSafe) {
    entry.carry(name === undefined ? undefined : `the value that ${name} has here`);
    return text;
  }
  const place = `providers.${fleet.nameOf(instance)}.settings.${key}`;
  const placeholder = `set-${slugOf(name ?? key)}`;
  fleet.variables.toWrite(place, placeholder, entry);
  entry.carry(`write it into ${place}`);
  return placeholder;
}

/** Some place of the document that belongs to an instance, for messages. */
function placeOf({ address, settings, credentials, repeats, source }: PlannedInstance): Placed['entry'] {
  const [setting] = settings.values();
  const [secret] = credentials[0]?.secrets.values() ?? [];
  return address?.entry ?? setting?.entry ?? secret?.entry ?? repeats[0] ?? source;
}

/** Whether calls go to another origin than the kind's own: then its key is not asked for. */
function isElsewhere({ module }: PlannedInstance, address: string | undefined): boolean {
  const { baseUrl } = module.connection;
  if (address === undefined || !URL.canParse(address)) return false;
  return typeof baseUrl !== 'string' || !URL.canParse(baseUrl) || new URL(baseUrl).origin !== new URL(address).origin;
}
