import type { ProviderModule } from '../../../host/contract/index.ts';
import { baseUrlVariable } from '../../../host/common/kinds/base-url-variable.ts';
import { heldIn, type ReadReference, writtenIn } from './plan/held.ts';
import type { Placed } from './plan/planned.ts';
import type { Entry } from './reading.ts';

/** What has to be set before the imported gateway starts. */
export interface Variable {
  /** A variable of the environment, or where in the configuration a value is to be written. */
  readonly name: string;
  /** What it is to hold: a reference, or an address. Never a secret. */
  readonly value: string;
  /** Where the imported document says so. */
  readonly from: string;
  /**
   * How the document has the value: by reference or in the open, as a literal that is not copied, not at all, or in a
   * place that takes no reference here.
   */
  readonly state: 'carried' | 'withheld' | 'missing' | 'place';
}

/** The variables that the imported gateway needs, and what has become of the values of the document that they hold. */
export class Variables {
  readonly #variables = new Map<string, Variable & { readonly written: string }>();
  readonly #referenceIn: ReadReference;

  constructor(referenceIn: ReadReference) {
    this.#referenceIn = referenceIn;
  }

  get all(): readonly Variable[] {
    return [...this.#variables.values()];
  }

  /** A credential: of a literal only the name of the variable is kept. */
  secret(name: string, { entry }: Placed): void {
    const held = heldIn(entry, this.#referenceIn, true);
    if (!held) return;
    const isWithheld = held.kind !== 'reference';
    this.#put(name, {
      value: held.kind === 'reference' ? `\${${held.name}}` : `\${${name}}`,
      from: entry.where,
      state: isWithheld ? 'withheld' : 'carried',
      written: writtenIn(entry),
    });
    entry.carry(isWithheld ? `the value is not copied; set ${name}` : undefined);
  }

  /** An address, a region, a name: a literal is carried, unless it may hold a secret. */
  plain(name: string, { entry, as }: Placed): void {
    const held = heldIn(entry, this.#referenceIn, false);
    if (!held) return;
    if (held.kind === 'withheld') return this.secret(name, { entry });
    const text = held.kind === 'reference' ? `\${${held.name}}` : held.text;
    this.#put(name, {
      value: as === undefined ? text : as.replace('{}', text),
      from: entry.where,
      state: 'carried',
      written: writtenIn(entry),
    });
    entry.carry();
  }

  /** A variable that the configuration refers to. */
  referred(name: string, entry: Entry, isWithheld: boolean): void {
    this.#put(name, {
      value: `\${${name}}`,
      from: entry.where,
      state: isWithheld ? 'withheld' : 'carried',
      written: writtenIn(entry),
    });
  }

  /** A place of the configuration that has to be filled in by hand. */
  toWrite(place: string, value: string, entry: Entry): void {
    this.#put(place, { value, from: entry.where, state: 'place', written: writtenIn(entry) });
  }

  /** What a provider cannot do without, where the document does not have it. */
  need({ name: provider, connection }: ProviderModule): void {
    for (const need of connection.env) {
      const names = typeof need === 'string' ? [need] : need;
      const [name] = names;
      if (name === undefined || names.some((one) => this.#variables.has(one))) continue;
      this.missing(name, provider);
    }
  }

  missing(name: string, provider: string): void {
    this.#put(name, { value: `\${${name}}`, from: provider, state: 'missing', written: '' });
  }

  /** Whether a name is free for a value that the document has as a literal. */
  isFree(name: string): boolean {
    return !this.#variables.has(name);
  }

  #put(name: string, variable: Omit<Variable & { readonly written: string }, 'name'>): void {
    if (!this.#variables.has(name)) this.#variables.set(name, { name, ...variable });
  }
}

/** The variable that holds a provider's credential. */
export function credentialOf({ connection }: ProviderModule): string | undefined {
  return connection.env.flat().find((name) => /(KEY|TOKEN)(_BEDROCK)?$/.test(name));
}

export const addressOf = (module: ProviderModule): string => baseUrlVariable(module);

/** A line of a shell for each. */
export const exportLine = ({ name, value }: Variable): string => `export ${name}="${value}"`;
