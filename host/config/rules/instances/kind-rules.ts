import { type KindKeys, kindKeys } from '../../../common/kinds/kind-keys.ts';
import { settingVariables } from '../../../common/kinds/setting-values.ts';
import { useOneOf } from '../../../common/nearest.ts';
import type { ProviderModule, SecretSet } from '../../../contract/index.ts';
import type { GatewayConfig } from '../../document.ts';
import type { ConfigRule, KnownModules, RuleContext } from '../rule.ts';
import { credentialsIn, type Declared, declaredIn, type Holder, holdersIn, secretsIn } from './declared-instances.ts';

type Report = RuleContext['report'];

/** Instances whose kind is known, with what it has. */
interface OfKind extends Declared {
  readonly module: ProviderModule;
  readonly keys: KindKeys;
}

const isKind = ({ offline }: ProviderModule): boolean => offline !== true;

function ofKinds(config: GatewayConfig, { providers }: KnownModules): readonly OfKind[] {
  return declaredIn(config).flatMap((declared) => {
    const module = providers.get(declared.block.kind ?? '');
    return module && isKind(module) ? [{ ...declared, module, keys: kindKeys(module) }] : [];
  });
}

const listed = (names: Iterable<string>): string => [...names].join(', ') || 'none';

function settingProblems({ name, block, path, module, keys }: OfKind, report: Report): void {
  const { settings } = keys;
  const written = block.settings ?? {};
  for (const [key, value] of Object.entries(written)) {
    const known = settings.get(key);
    if (!known) {
      report(
        `${path}.settings.${key}`,
        `${module.name} has no setting "${key}"`,
        settings.size === 0 ? 'remove it: it has none' : useOneOf(key, [...settings.keys()]),
      );
      continue;
    }
    const fault = settingFault(value, known.values, key === known.variable);
    if (fault) report(`${path}.settings.${key}`, `settings.${key} of "${name}" ${fault.message}`, fault.fix);
  }
  for (const [key, { isRequired }] of settings)
    if (isRequired && isBlank(Object.hasOwn(written, key) ? written[key] : undefined))
      report(`${path}.settings`, `"${name}" has no settings.${key}, which ${module.name} needs`, `set ${key}`);
}

const isBlank = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '');

/** What is sent in a header as it stands is printable. */
function settingFault(
  value: unknown,
  values: readonly string[] | undefined,
  isOwn: boolean,
): { message: string; fix: string } | undefined {
  if (value === null) return undefined;
  const isPlain = (one: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof one);
  if (!isPlain(value) && !(Array.isArray(value) && value.every(isPlain)))
    return { message: 'is neither a text nor a list of texts', fix: 'write a text, or a list of texts' };
  if (values && !values.some((one) => one === value))
    return { message: 'is not allowed', fix: `use one of: ${values.join(', ')}` };
  return isOwn && !(typeof value === 'string' && isPrintable(value)) ? UNPRINTABLE : undefined;
}

const isPrintable = (text: string): boolean => /^[\x20-\x7e]{1,256}$/.test(text);
const UNPRINTABLE = { message: 'is not 1 to 256 characters of printable ASCII', fix: 'write such a text' };

/** Keys of the block and of its credentials that only some kinds have. */
function keyProblems(declared: OfKind, report: Report): void {
  const { name, block, path, module, keys } = declared;
  const secrets = [...keys.secrets.keys()];
  for (const { key, path: at } of [declared, ...credentialsIn(declared)].flatMap(secretsIn))
    if (!keys.secrets.has(key))
      report(
        at,
        `${module.name} has no secret "${key}"`,
        secrets.length === 0 ? 'remove it: it has none' : useOneOf(key, secrets),
      );
  for (const { block: credential, path: at } of credentialsIn(declared))
    for (const key of ['organization', 'project'] as const) {
      const value = credential[key];
      if (value === undefined) continue;
      if (!keys.settings.has(key)) report(`${at}.${key}`, `${module.name} has no ${key}`, 'remove it');
      else if (!isPrintable(value)) report(`${at}.${key}`, `${key} ${UNPRINTABLE.message}`, UNPRINTABLE.fix);
    }
  if (block.discover === true && !module.discovery)
    report(`${path}.discover`, `${module.name} cannot be asked for its models ("${name}")`, 'list them as models');
}

/** The catalog is asked by the names of kinds, and by those that their modules add. */
function catalogProblems({ block, path }: OfKind, { providers }: KnownModules, report: Report): void {
  const { catalog } = block;
  if (catalog === undefined || catalog === 'none') return;
  const kinds = [...providers.values()].filter((module) => isKind(module) && !module.connection.onlyDeclared);
  const names = new Set(kinds.flatMap(({ name, names: own }) => [name, ...(own?.catalog ?? [])]));
  if (names.has(catalog)) return;
  report(
    `${path}.catalog`,
    `"${catalog}" is not a provider of the catalog`,
    useOneOf(catalog, ['none', ...[...names].toSorted()]),
  );
}

/** Whether calls without a secret would reach the service that wants one. */
function needsSecret({ block, module, keys }: OfKind): boolean {
  if (keys.sets.some(({ needs }) => needs.length === 0)) return false;
  const address = block.base_url?.trim();
  return (
    keys.needsAddress || address === undefined || originOf(address) === defaultOrigin(module, keys, block.settings)
  );
}

const originOf = (address: string): string | undefined => (URL.canParse(address) ? new URL(address).origin : undefined);

function defaultOrigin(
  { connection: { baseUrl } }: ProviderModule,
  { settings }: KindKeys,
  values = {},
): string | undefined {
  if (typeof baseUrl === 'string') return originOf(baseUrl);
  try {
    return originOf(baseUrl(settingVariables(settings, values)));
  } catch {
    return undefined; // code of a module, asked with settings that another rule may refuse
  }
}

function secretProblems(declared: OfKind, holder: Holder, report: Report): void {
  const { module, keys } = declared;
  const there = secretsIn(holder)
    .map(({ key }) => key)
    .filter((key) => keys.secrets.has(key));
  if (there.length === 0 && !needsSecret(declared)) return;
  if (keys.sets.some((set) => fits(there, set))) return;
  const ways = keys.sets.map(wayOf).join('; or ');
  const found = there.length === 0 ? 'has no secret' : `has ${listed(there)}, which is not one of the sets of its kind`;
  report(holder.path, `"${declared.name}" ${found}`, `${module.name} takes ${ways}`);
}

const fits = (there: readonly string[], { needs, mayHave = [] }: SecretSet): boolean =>
  needs.every((key) => there.includes(key)) && there.every((key) => needs.includes(key) || mayHave.includes(key));

const wayOf = ({ needs, mayHave = [] }: SecretSet): string => {
  const further = mayHave.length === 0 ? '' : `${needs.length === 0 ? '' : ', '}perhaps ${mayHave.join(', ')}`;
  return `${needs.join(', ')}${further}` || 'none';
};

export const kindRules: readonly ConfigRule[] = [
  {
    id: 'BV10',
    check: (config, { known, report }) => {
      const kinds = [...known.providers.values()].filter(isKind).map((module) => module.name);
      for (const { name, block, path } of declaredIn(config)) {
        const { kind = '' } = block;
        if (known.isRefused('provider', kind) || kinds.includes(kind)) continue;
        const message =
          kind === '' ? `"${name}" has no kind` : `"${kind}" is not a kind of provider that this build has`;
        report(`${path}.kind`, message, useOneOf(kind, kinds.toSorted()));
      }
    },
  },
  {
    id: 'BV11',
    check: (config, { known, report }) => {
      for (const declared of ofKinds(config, known)) {
        const { name, block, path, module, keys } = declared;
        if (keys.needsAddress && block.base_url === undefined)
          report(
            `${path}.base_url`,
            `"${name}" has no base_url, which ${module.name} needs`,
            'write the address of the service',
            'CV50',
          );
        settingProblems(declared, report);
        keyProblems(declared, report);
        catalogProblems(declared, known, report);
      }
    },
  },
  {
    id: 'BV12',
    check: (config, { known, report }) => {
      for (const declared of ofKinds(config, known))
        for (const holder of holdersIn(declared)) secretProblems(declared, holder, report);
    },
  },
  {
    id: 'BV13',
    check: (config, { known, report }) => {
      for (const { name, block, path } of declaredIn(config))
        if (name !== block.kind && known.providers.has(name))
          report(path, `"${name}" is the name of another kind`, 'choose another name, or that kind');
    },
  },
];
