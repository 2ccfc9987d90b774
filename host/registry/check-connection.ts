import type { OutgoingRequest, ProviderModule } from '../contract/index.ts';
import { nearest } from '../common/nearest.ts';
import { ownVariables } from '../common/kinds/kind-keys.ts';
import { isSecretKey } from '../common/kinds/secret-keys.ts';
import { baseUrlVariable } from '../common/kinds/base-url-variable.ts';
import type { Finding } from './shape.ts';

const REQUEST: OutgoingRequest = {
  method: 'POST',
  url: 'http://localhost/v1/chat/completions',
  headers: {},
  body: '{}',
};

/** What a connection says of itself that cannot be: variables that it reads or names and does not declare, an address that is not one. */
export function connectionFindings(module: ProviderModule): readonly Finding[] {
  const { connection } = module;
  const declared = [...connection.env.flat(), ...(connection.optionalEnv ?? [])];
  const own = ownVariables(module);
  return [...readFindings(module, [...declared, ...own]), ...namedFindings(module, declared), ...keyFindings(module)];
}

/** Keys of declared instances that are not named as such keys are, or that stand in no set of secrets they could stand in. */
function keyFindings({ connection }: ProviderModule): readonly Finding[] {
  const { settings = {}, secrets, secretSets = [] } = connection;
  const strange = Object.keys(settings).filter((key) => !/^[a-z][a-z0-9_]*$/.test(key));
  const open = Object.keys(secrets ?? {}).filter((key) => !isSecretKey(key) || !/^[a-z][a-z0-9_]*$/.test(key));
  const unknown = secretSets
    .flatMap(({ needs, mayHave = [] }) => [...needs, ...mayHave])
    .filter((key) => secrets === undefined || !Object.hasOwn(secrets, key));
  return [
    ...strange.map((key) => ({
      message: `connection.settings has the key "${key}"`,
      fix: 'use lower-case letters, digits and underscores',
    })),
    ...open.map((key) => ({
      message: `connection.secrets has the key "${key}"`,
      fix: 'end it in key, token, secret or password, in lower case',
    })),
    ...[...new Set(unknown)].map((key) => ({
      message: `connection.secretSets names "${key}", which connection.secrets does not`,
      fix: 'name its variable in connection.secrets',
    })),
  ];
}

/** Variables that other facts of the module name. */
function namedFindings(module: ProviderModule, declared: readonly string[]): readonly Finding[] {
  const known = [...declared, baseUrlVariable(module)];
  const { connection, elsewhere = {} } = module;
  const settings = Object.entries(elsewhere).flatMap(([format, { settings: list = [] }]) =>
    list.map(({ variable }) => [`elsewhere.${format}.settings`, variable] as const),
  );
  const { chatModelEnv } = connection;
  const own = Object.entries(connection.settings ?? {})
    .map(([key, setting]) => [key, typeof setting === 'string' ? setting : setting.variable] as const)
    .filter(([key, variable]) => key !== variable) // else it has no variable
    .map(([key, variable]) => [`connection.settings.${key}`, variable] as const);
  const secrets = Object.entries(connection.secrets ?? {}).map(
    ([key, variable]) => [`connection.secrets.${key}`, variable] as const,
  );
  const named = [
    ...settings,
    ...own,
    ...secrets,
    ...(chatModelEnv === undefined ? [] : [['connection.chatModelEnv', chatModelEnv] as const]),
  ];
  return named
    .filter(([, variable]) => !known.includes(variable))
    .map(([what, variable]) => undeclared(`${what} names ${variable}`, variable, known));
}

function readFindings({ connection }: ProviderModule, declared: readonly string[]): readonly Finding[] {
  const { authorize, baseUrl } = connection;
  const authorized = authorize
    ? strangeNames('authorize', declared, (credentials) => authorize(REQUEST, credentials))
    : [];
  if (typeof baseUrl === 'string') return [...authorized, ...addressFindings(baseUrl)];
  let made: unknown = '';
  const found = [
    ...authorized,
    ...strangeNames('baseUrl', declared, (credentials) => {
      made = baseUrl(credentials);
    }),
  ];
  return typeof made === 'string'
    ? found
    : [
        ...found,
        { message: `connection.baseUrl returns something that is not text`, fix: 'return an address as text' },
      ];
}

function addressFindings(address: string): readonly Finding[] {
  if (/^https?:\/\/[^/]/.test(address) && URL.canParse(address) && !/[?#]/.test(address)) return [];
  const fix = /^[\w-]+(\.[\w-]+)+(\/|:|$)/.test(address)
    ? `write https://${address}`
    : 'write an address such as https://api.example/v1, without query or fragment';
  return [{ message: `connection.baseUrl is "${address}", which is not an http or https address`, fix }];
}

/** Asks with made-up credentials: what they read counts, not what they make of it. */
function strangeNames(
  what: string,
  declared: readonly string[],
  ask: (credentials: Readonly<Record<string, string>>) => unknown,
): readonly Finding[] {
  const strange = new Set<string>();
  const credentials = new Proxy<Record<string, string>>(
    {},
    {
      get: (_values, name) => {
        if (typeof name !== 'string' || name in Object.prototype) return undefined;
        if (declared.includes(name)) return 'x';
        strange.add(name);
        return undefined;
      },
    },
  );
  try {
    Promise.resolve(ask(credentials)).catch(() => {}); // how the call ends does not matter: the credentials are made up
  } catch {
    /* nor does what it throws */
  }
  return [...strange].map((name) => undeclared(`connection.${what} reads ${name}`, name, declared));
}

function undeclared(does: string, name: string, declared: readonly string[]): Finding {
  const near = nearest(name, declared);
  return {
    message: `${does}, which connection.env does not name`,
    fix:
      near === undefined
        ? `name ${name} in env or optionalEnv`
        : `did you mean "${near}"? else name ${name} in env or optionalEnv`,
  };
}
