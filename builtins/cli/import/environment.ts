import type { ProviderModule } from '../../../host/contract/index.ts';
import { baseUrlVariable } from '../../../host/common/kinds/base-url-variable.ts';
import type { Entry } from './reading.ts';

/** How a format names a variable of the environment: its name, or nothing for other texts. */
export type ReadReference = (value: unknown) => string | undefined;

export interface Variable {
  readonly name: string;
  /** What it is to hold: a reference, or an address. Never a secret. */
  readonly value: string;
  /** Where the imported document says so. */
  readonly from: string;
  /** How the document has the value: by reference or in the open, as a literal that is not copied, or not at all. */
  readonly state: 'carried' | 'withheld' | 'missing';
}

const NAME = /^[A-Za-z_]\w*$/;
/** What is safe in a line of a shell and in a comment. */
const PLAIN = /^[\w.:/@+,=-]+$/;

/** The variables that the imported gateway needs: gw reads credentials and addresses from its environment. */
export class Environment {
  readonly #variables = new Map<string, Variable & { readonly written: string }>();
  readonly #referenceIn: ReadReference;

  constructor(referenceIn: ReadReference) {
    this.#referenceIn = referenceIn;
  }

  get variables(): readonly Variable[] {
    return [...this.#variables.values()];
  }

  /** A credential: of a literal only the name of the variable is kept. */
  secret(name: string, entry: Entry): boolean {
    return this.#put(name, entry, undefined);
  }

  /** An address, a region, a name: a literal is carried, unless it may hold a secret. */
  plain(name: string, entry: Entry): boolean {
    const { text } = entry;
    const isOpen = text !== undefined && PLAIN.test(text) && !(URL.canParse(text) && holdsMore(new URL(text)));
    return this.#put(name, entry, isOpen ? text : undefined);
  }

  /** A value that is made of a setting, which stands for `{}`. */
  made(name: string, as: string, entry: Entry): void {
    if (entry.text === undefined) return;
    const reference = this.#referenceIn(entry.value);
    if (reference === undefined) this.plain(name, entry.with(as.replace('{}', entry.text)));
    else entry.leave(`set ${name} to ${as.replace('{}', `\${${reference}}`)}`);
  }

  /** What a provider cannot do without, where the document does not have it. */
  need({ name: provider, connection }: ProviderModule): void {
    for (const need of connection.env) {
      const names = typeof need === 'string' ? [need] : need;
      const [name] = names;
      if (name === undefined || names.some((one) => this.#variables.has(one))) continue;
      this.#variables.set(name, { name, value: `\${${name}}`, from: provider, state: 'missing', written: '' });
    }
  }

  #put(name: string, entry: Entry, open: string | undefined): boolean {
    if (!entry.isThere || entry.value === '') return false;
    const reference = this.#referenceIn(entry.value);
    const written = typeof entry.value === 'string' ? entry.value : JSON.stringify(entry.value);
    const known = this.#variables.get(name);
    if (known && known.written !== written) {
      entry.leave(`gw has one ${name}, and ${known.from} comes first`);
      return false;
    }
    const isReference = reference !== undefined && NAME.test(reference);
    const isWithheld = !isReference && open === undefined;
    if (!known)
      this.#variables.set(name, {
        name,
        value: isReference ? `\${${reference}}` : (open ?? `\${${name}}`),
        from: entry.where,
        state: isWithheld ? 'withheld' : 'carried',
        written,
      });
    entry.carry(isWithheld ? `the value is not copied; set ${name}` : undefined);
    return true;
  }
}

/** Userinfo, a query or a fragment: each may hold a secret. */
const holdsMore = ({ username, password, search, hash }: URL): boolean =>
  [username, password, search, hash].some((part) => part !== '');

/** The variable that holds a provider's credential. */
export function credentialOf({ connection }: ProviderModule): string | undefined {
  return connection.env.flat().find((name) => /(KEY|TOKEN)(_BEDROCK)?$/.test(name));
}

export const addressOf = (module: ProviderModule): string => baseUrlVariable(module);

/** A line of a shell for each. */
export const exportLine = ({ name, value }: Variable): string => `export ${name}="${value}"`;
