import {
  type Connection,
  type KindSetting,
  type ProviderModule,
  type SecretSet,
  setMember,
} from '../../contract/index.ts';
import { baseUrlVariable } from './base-url-variable.ts';

type Kind = Pick<ProviderModule, 'name' | 'connection'>;

/** What a declared instance of a kind may write beside the keys that all have. */
export interface KindKeys {
  /** Keys of `settings`. */
  readonly settings: ReadonlyMap<string, Required<Pick<KindSetting, 'variable' | 'isRequired'>> & KindSetting>;
  /** Keys that hold a secret, and the variable that each stands for. */
  readonly secrets: ReadonlyMap<string, string>;
  /** Which of them go together. */
  readonly sets: readonly SecretSet[];
  /** Whether `base_url` has to be there. */
  readonly needsAddress: boolean;
}

/** The keys of a kind, as its module says, or as its variables are called. See docs/modules.md#declared-instances. */
export function kindKeys(module: Kind): KindKeys {
  const { connection } = module;
  const secrets = new Map(Object.entries(connection.secrets ?? derivedSecrets(module)));
  const required = new Set(connection.env.filter((need) => typeof need === 'string'));
  const written = connection.settings ?? derivedSettings(module, secrets);
  const settings = Object.entries(written).map(([key, setting]) => {
    const facts = typeof setting === 'string' ? { variable: setting } : setting;
    return [key, { isRequired: required.has(facts.variable), ...facts }] as const;
  });
  return {
    settings: new Map(settings),
    secrets,
    sets: connection.secretSets ?? derivedSets(connection, secrets),
    needsAddress: connection.needsAddress ?? required.has(connection.baseUrlEnv ?? ''),
  };
}

/** Variables that stand for nothing of their own: the key is the variable, and the environment is not asked for it. */
export const ownVariables = (module: Kind): readonly string[] =>
  [...kindKeys(module).settings].flatMap(([key, { variable }]) => (key === variable ? [key] : []));

const declared = ({ env, optionalEnv = [] }: Connection): readonly string[] => [
  ...new Set([...env.flat(), ...optionalEnv]),
];

/** `ACME_AI_REGION` of `acme-ai` is `region`. */
function keyOf({ name }: Kind, variable: string): string {
  const prefix = `${name.toUpperCase().replaceAll('-', '_')}_`;
  return (variable.startsWith(prefix) ? variable.slice(prefix.length) : variable).toLowerCase();
}

const isSecretName = (variable: string): boolean => /(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD)$/.test(variable);

function derivedSecrets(module: Kind): Record<string, string> {
  const { connection } = module;
  const main = connection.env.flat().find((variable) => /_(?:KEY|TOKEN)$/.test(variable));
  const secrets: Record<string, string> = main === undefined ? {} : { api_key: main };
  for (const variable of declared(connection)) {
    if (variable === main || variable === baseUrlVariable(module) || !isSecretName(variable)) continue;
    const key = keyOf(module, variable);
    setMember(secrets, Object.hasOwn(secrets, key) ? variable.toLowerCase() : key, variable);
  }
  return secrets;
}

function derivedSettings(module: Kind, secrets: ReadonlyMap<string, string>): Record<string, string> {
  const taken = new Set([...secrets.values(), baseUrlVariable(module)]);
  const others = declared(module.connection).filter((variable) => !taken.has(variable));
  return Object.fromEntries(others.map((variable) => [keyOf(module, variable), variable]));
}

/** One set for each choice that `env` leaves; a group in which something else will do needs no secret. */
function derivedSets({ env }: Connection, secrets: ReadonlyMap<string, string>): readonly SecretSet[] {
  const keys = new Map([...secrets].map(([key, variable]) => [variable, key]));
  let sets: readonly (readonly string[])[] = [[]];
  for (const need of env) {
    const choices = [need].flat().map((variable) => keys.get(variable));
    const known = choices.filter((key) => key !== undefined);
    if (known.length === choices.length && known.length > 0)
      sets = sets.flatMap((set) => known.map((key) => (set.includes(key) ? set : [...set, key])));
  }
  const all = [...secrets.keys()];
  return sets.map((needs) => ({ needs, mayHave: all.filter((key) => !needs.includes(key)) }));
}
