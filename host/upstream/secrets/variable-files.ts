import { resolve } from 'node:path';
import { kindKeys } from '../../common/kinds/kind-keys.ts';
import { isOwnSecret, mayNameSecret } from '../../config/own-secrets.ts';
import type { Variables } from '../../environment/variables.ts';
import type { GatewayModule } from '../../registry/registry.ts';
import { DISK, type FileOutcome, MAX_SECRET_BYTES, readTextFile } from './secret-file.ts';

/** Variables that hold secrets of these providers. */
export const secretVariables = (modules: readonly GatewayModule[]): ReadonlySet<string> =>
  new Set(modules.flatMap((module) => (module.kind === 'provider' ? [...kindKeys(module).secrets.values()] : [])));

const FILE = '_FILE';
/** Tries to read a file that is being written at that moment. */
const TRIES = 3;

/** Where names of files are counted from, and which variables of providers are secrets. */
export interface VariableFiles {
  readonly workingDirectory: string;
  readonly providerSecrets: () => Promise<ReadonlySet<string>>;
}

/**
 * The variables, with `MASTER_KEY` read from the file that `MASTER_KEY_FILE` names, and so every secret of the gateway and of shipped
 * providers. Throws for a variable that is set both ways, and for a file that gives no text; an empty one counts as not set. See docs/configuration.md#secrets-in-files.
 */
export async function withVariableFiles(variables: Variables, place: VariableFiles): Promise<Variables> {
  const named = Object.entries(variables).flatMap(([variable, value]) => {
    const path = value?.trim() ?? '';
    return variable.endsWith(FILE) && path !== '' ? [{ name: variable.slice(0, -FILE.length), path }] : [];
  });
  const found = new Map<string, string>();
  for (const { name, path } of named) {
    if (!(await isSecret(name, place))) continue;
    if ((variables[name]?.trim() ?? '') !== '') throw new Error(`${name} and ${name}${FILE} are both set; keep one`);
    const text = await textAt(resolve(place.workingDirectory, path), `${name}${FILE}: ${path}`);
    if (text !== '') found.set(name, text);
  }
  return found.size === 0 ? variables : { ...variables, ...Object.fromEntries(found) };
}

async function isSecret(name: string, { providerSecrets }: VariableFiles): Promise<boolean> {
  if (isOwnSecret(name)) return true;
  return mayNameSecret(`${name}${FILE}`) && (await providerSecrets()).has(name);
}

async function textAt(path: string, what: string): Promise<string> {
  let outcome: FileOutcome | undefined;
  for (let tries = 0; tries < TRIES && !outcome; tries += 1)
    ({ outcome } = await readTextFile({ path, maxBytes: MAX_SECRET_BYTES }, DISK));
  if (!outcome) throw new Error(`${what} is being written`);
  if ('text' in outcome) return outcome.text;
  if (outcome.reason === 'empty') return '';
  throw new Error(`${what} ${outcome.reason === 'no such file' ? 'no such file' : `is ${outcome.reason}`}`);
}
