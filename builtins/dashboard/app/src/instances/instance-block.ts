import { type Fields, isFields } from '../lib/fields.ts';
import { blockAt, rowsAt, withMember } from '../lib/form-values.ts';
import type { ProviderCatalog } from '../api/wire.ts';

export type Kind = ProviderCatalog['providers'][number];

/** An entry of `providers` while it is being written: its credentials always stand in a list. */
export interface InstanceDraft {
  readonly name: string;
  /** The entry without its credentials. */
  readonly block: Fields;
  readonly credentials: readonly Fields[];
  /** Whether its one credential is written into the entry itself, as `api_key`. */
  readonly isShort: boolean;
}

/** The name of a credential that is written without one. */
const ONLY = 'default';

/** The gateway's own rule of which keys of an entry hold secrets. */
const SECRET_KEY = /(?:^|_)(?:key|token|secret|password)$|^access_key_id$|^service_account_json$/;
export const isSecretKey = (key: string): boolean => SECRET_KEY.test(key);

const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** What is wrong with the name of a new instance. */
export function nameFault(name: string, taken: readonly string[]): string | undefined {
  if (!NAME.test(name)) return 'Use lower-case letters, digits and "-", at most 64, a letter or digit first.';
  return taken.includes(name) ? 'An instance has this name.' : undefined;
}

export const emptyInstance = (kind: string): InstanceDraft => ({
  name: '',
  block: { kind },
  credentials: [{ name: ONLY }],
  isShort: true,
});

export function draftOf(name: string, entry: Fields): InstanceDraft {
  const members = Object.entries(entry);
  if (Object.hasOwn(entry, 'credentials'))
    return {
      name,
      block: withMember(entry, 'credentials', undefined),
      credentials: rowsAt(entry, 'credentials'),
      isShort: false,
    };
  const secrets = members.filter(([key]) => isSecretKey(key));
  return {
    name,
    block: Object.fromEntries(members.filter(([key]) => !isSecretKey(key))),
    credentials: [{ name: ONLY, ...Object.fromEntries(secrets) }],
    isShort: true,
  };
}

/** Whether the one credential is written into the entry itself: it is nothing but its secrets. */
export function isWrittenShort({ isShort, credentials }: InstanceDraft): boolean {
  const [only, ...others] = credentials;
  if (!isShort || only === undefined || others.length > 0) return false;
  return Object.keys(only).every((key) => (key === 'name' ? only['name'] === ONLY : isSecretKey(key)));
}

/** The entry as it is written into the configuration; the members that the form does not show stay as they were. */
export function entryOf(draft: InstanceDraft): Fields {
  const { block, credentials } = draft;
  if (credentials.length === 0) return block;
  if (!isWrittenShort(draft)) return { ...block, credentials };
  return { ...block, ...withMember(credentials[0] ?? {}, 'name', undefined) };
}

export interface KeyChoice {
  readonly key: string;
  readonly isRequired: boolean;
}

export interface KindChoices {
  readonly needsAddress: boolean;
  readonly settings: readonly KeyChoice[];
  readonly secrets: readonly KeyChoice[];
}

/** What an instance may have: the keys of its kind, and those that it has already, which may be of a kind of a module. */
export function choicesOf(kind: Kind | undefined, { block, credentials }: InstanceDraft): KindChoices {
  const keys = kind?.settings ?? [];
  const choose = (isSecret: boolean, present: readonly string[]): readonly KeyChoice[] => {
    const known = keys
      .filter(({ key, secret }) => secret === isSecret && key !== 'base_url')
      .map(({ key, required }) => ({ key, isRequired: required }));
    const others = present.filter((key) => known.every((each) => each.key !== key));
    return [...known, ...others.map((key) => ({ key, isRequired: false }))];
  };
  const written = credentials.flatMap((credential) => Object.keys(credential).filter(isSecretKey));
  const fallback = kind?.settings === undefined ? ['api_key'] : [];
  return {
    needsAddress: keys.some(({ key, required }) => key === 'base_url' && required),
    settings: choose(false, Object.keys(blockAt(block, 'settings'))),
    secrets: choose(true, [...new Set([...fallback, ...written])]),
  };
}

/** The configuration with an instance written into it, and a target of its name where one is asked for. */
export function withInstance(config: Fields, name: string, entry: Fields, hasNewTarget: boolean): Fields {
  const written = withMember(config, 'providers', withMember(blockAt(config, 'providers'), name, entry));
  return hasNewTarget ? withMember(written, 'targets', [...targetsOf(config), { virtual_key: name }]) : written;
}

const targetsOf = (config: Fields): readonly unknown[] => {
  const targets = config['targets'];
  return Array.isArray(targets) ? targets : [];
};

export const hasTarget = (config: Fields, name: string): boolean =>
  targetsOf(config).some((target) => isFields(target) && target['virtual_key'] === name);
