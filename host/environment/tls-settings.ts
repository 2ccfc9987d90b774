import type { SettingNote } from './setting-note.ts';
import type { Variables } from './variables.ts';

const AUTH_WORDS = ['require', 'optional', 'none'] as const;
export type ClientAuth = (typeof AUTH_WORDS)[number];

/** A path, and the variable that named it: errors name both. */
export interface NamedFile {
  readonly variable: string;
  readonly path: string;
}

/** How one listener speaks TLS. */
export interface TlsSettings {
  /** PEM: the certificate of the listener first, then those that issued it. */
  readonly cert: NamedFile;
  readonly key: NamedFile;
  /** Authorities of client certificates. */
  readonly clientCa: NamedFile | undefined;
  /** `require`: no connection without a certificate; `optional`: none with a bad one. */
  readonly clientAuth: ClientAuth;
}

export interface ListenersTls {
  /** The listener of `PORT`; `undefined`: plain HTTP. */
  readonly data: TlsSettings | undefined;
  /** The listener of `GW_ADMIN_PORT`. */
  readonly admin: TlsSettings | undefined;
}

const SUFFIXES = ['CERT', 'KEY', 'CLIENT_CA', 'CLIENT_AUTH'] as const;
type Suffix = (typeof SUFFIXES)[number];
/** What is written, by the part of the name that both listeners share. */
type Written = Readonly<Partial<Record<Suffix, NamedFile>>>;

/** Reads `GW_TLS_*` and `GW_ADMIN_TLS_*`. What does not fit together stops the start: a listener must not speak plainly by mistake. */
export function readTls(variables: Variables, hasAdmin: boolean, notes: SettingNote[]): ListenersTls {
  const data = written('GW_TLS_', {
    CERT: variables['GW_TLS_CERT'],
    KEY: variables['GW_TLS_KEY'],
    CLIENT_CA: variables['GW_TLS_CLIENT_CA'],
    CLIENT_AUTH: variables['GW_TLS_CLIENT_AUTH'],
  });
  const admin = written('GW_ADMIN_TLS_', {
    CERT: variables['GW_ADMIN_TLS_CERT'],
    KEY: variables['GW_ADMIN_TLS_KEY'],
    CLIENT_CA: variables['GW_ADMIN_TLS_CLIENT_CA'],
    CLIENT_AUTH: variables['GW_ADMIN_TLS_CLIENT_AUTH'],
  });
  if (!hasAdmin) for (const { variable } of Object.values(admin)) noteIdle(variable, notes);
  return {
    data: settingsOf(data, notes),
    admin: hasAdmin ? adminSettings(data, admin, notes) : undefined,
  };
}

/** What is not blank, each with the name of its variable. */
function written(prefix: string, values: Readonly<Record<Suffix, string | undefined>>): Written {
  return Object.fromEntries(
    SUFFIXES.flatMap((suffix) => {
      const path = values[suffix]?.trim() ?? '';
      return path === '' ? [] : [[suffix, { variable: `${prefix}${suffix}`, path }]];
    }),
  );
}

const noteIdle = (variable: string, notes: SettingNote[]): number =>
  notes.push({ level: 'warn', message: `${variable} has no effect without GW_ADMIN_PORT` });

/** Each variable of its own goes before that of the other listener. */
function adminSettings(data: Written, admin: Written, notes: SettingNote[]): TlsSettings | undefined {
  if (admin.CERT?.path !== 'off')
    return Object.keys(admin).length === 0 ? settingsOf(data, []) : settingsOf({ ...data, ...admin }, notes);
  for (const { variable } of Object.values(admin))
    if (variable !== admin.CERT.variable)
      notes.push({
        level: 'fatal',
        message: `${variable} is set beside ${admin.CERT.variable}=off; unset one of them`,
      });
  return undefined;
}

function settingsOf(written: Written, notes: SettingNote[]): TlsSettings | undefined {
  const { CERT: cert, KEY: key, CLIENT_CA: clientCa } = written;
  const fatal = (message: string): void => void notes.push({ level: 'fatal', message });
  const clientAuth = authOf(written, fatal);
  if (cert && key) return { cert, key, clientCa, clientAuth };
  const one = cert ?? key ?? clientCa;
  if (one) {
    const [prefix = ''] = /^GW_(?:ADMIN_)?TLS_/.exec(one.variable) ?? [];
    const missing = [...(cert ? [] : [`${prefix}CERT`]), ...(key ? [] : [`${prefix}KEY`])];
    fatal(`${one.variable} is set without ${missing.join(' and ')}`);
  }
  return undefined;
}

function authOf({ CLIENT_AUTH: written, CLIENT_CA: authority }: Written, fatal: (message: string) => void): ClientAuth {
  if (!written) return authority ? 'require' : 'none';
  const word = AUTH_WORDS.find((each) => each === written.path);
  if (!word) fatal(`${written.variable} is "${written.path}"; use ${AUTH_WORDS.join(', ')}`);
  else if (word !== 'none' && !authority)
    fatal(`${written.variable} is ${word} without ${written.variable.replace(/AUTH$/, 'CA')}`);
  return word ?? 'require';
}
