import type { Clock } from '../../common/clock.ts';
import { referenceText, type SecretReference } from '../../config/references.ts';
import { type Fields, isFields, type Log, parseJson } from '../../contract/index.ts';
import type { Variables } from '../../environment/variables.ts';
import { isSecretName, type Redactor } from '../../log/redact.ts';
import { DISK, type FileAccess, type FileFault, MAX_SECRET_BYTES, type TextFile } from './secret-file.ts';
import { type Watch, WatchedFiles } from './watched-files.ts';

/** The right of users other than the owner and its group to read (`stat`(2)). */
const OTHERS_READ = 0o004n;

/** Why a reference has no value. */
export type SecretFault = 'not set' | FileFault;

export type Resolution = { readonly value: string } | { readonly reason: SecretFault };

/** `header`: the value goes into a header as it is. `text`: it is read before anything of it is sent, such as a key file. */
export type SecretForm = 'header' | 'text';

/** Whose value it is, as log lines name it. */
export interface SecretHolder {
  readonly provider: string;
  readonly credential?: string;
  /** In the place of the credential: the name of a header, `proxy-authorization` for a proxy. */
  readonly header?: string;
}

export interface SecretUse {
  readonly form: SecretForm;
  readonly holder: SecretHolder;
  /** A look found another value than the last one, or a first one. */
  readonly onValue: (value: string) => void;
  /** A look found none; once per reason until there is a value again. The last value stands. */
  readonly onFailure?: (reason: SecretFault) => void;
}

/** A reference that is looked at until `end`. */
export interface SecretLease {
  /** The last value that was found, or why there has never been one. */
  readonly current: Resolution;
  end(): void;
}

export interface SecretDeps {
  readonly clock: Clock;
  readonly variables: Variables;
  /** Directories that files of secrets lie below. */
  readonly directories: readonly string[];
  readonly redactor: Pick<Redactor, 'register'>;
  readonly log: Pick<Log, 'warn'>;
  readonly access?: FileAccess;
}

/**
 * What the references of `providers` stand for: a variable of the process, read once at its start, or a file, which is
 * looked at every 30 seconds. Every value is known to the redactor before anything else learns of it, and for the life of
 * the process.
 */
export class SecretValues {
  readonly files: WatchedFiles;
  readonly #deps: SecretDeps;
  readonly #access: FileAccess;
  /** Files that everybody may read, as it was logged. */
  readonly #warned = new Set<string>();

  constructor(deps: SecretDeps) {
    this.#deps = deps;
    this.#access = deps.access ?? DISK;
    this.files = new WatchedFiles(deps.clock, this.#access);
  }

  /** Reads a reference once. */
  async resolve(reference: SecretReference, form: SecretForm): Promise<Resolution> {
    if (reference.kind === 'variable') return this.#variable(reference.name, form);
    return this.#checked(await this.files.read(this.#file(reference.path)), form);
  }

  /** Reads a reference, and again whenever its file changes. A variable never does. */
  async lease(reference: SecretReference, use: SecretUse): Promise<SecretLease> {
    if (reference.kind === 'variable') return { current: this.#variable(reference.name, use.form), end: () => {} };
    const held = new HeldSecret(use, (reason) =>
      this.#deps.log.warn('credential refresh failed', {
        rule: 'WN18',
        ...use.holder,
        reference: referenceText(reference),
        reason,
      }),
    );
    const watch = await this.files.watch(this.#file(reference.path), (outcome) =>
      held.take(this.#checked(outcome, use.form)),
    );
    held.begin(this.#checked(watch.outcome, use.form), watch);
    await this.#warnOfReaders(reference, use.holder);
    return held;
  }

  /** Whether every user of this machine may read the file of a reference. */
  async isReadableByOthers(reference: SecretReference): Promise<boolean> {
    if (reference.kind === 'variable') return false;
    const stats = await this.#access.stat(reference.path).catch(() => undefined);
    return stats !== undefined && (stats.mode & OTHERS_READ) !== 0n;
  }

  async #warnOfReaders(reference: SecretReference, holder: SecretHolder): Promise<void> {
    const path = referenceText(reference);
    if (this.#warned.has(path) || !(await this.isReadableByOthers(reference)) || this.#warned.has(path)) return;
    this.#warned.add(path);
    this.#deps.log.warn('a file of a secret can be read by every user of this machine', {
      rule: 'WN22',
      ...holder,
      reference: path,
    });
  }

  /** Logs that a reference has no value when an instance is made (`WN17`). */
  logUnresolved(reference: SecretReference, holder: SecretHolder, reason: SecretFault): void {
    this.#deps.log.warn('credential not resolved', {
      rule: 'WN17',
      ...holder,
      reference: referenceText(reference),
      reason,
    });
  }

  close(): void {
    this.files.close();
  }

  #file(path: string): TextFile {
    return { path, maxBytes: MAX_SECRET_BYTES, directories: this.#deps.directories };
  }

  #variable(name: string, form: SecretForm): Resolution {
    const { variables } = this.#deps;
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (value === undefined) return { reason: 'not set' };
    return this.#checked(value.trim() === '' ? { reason: 'empty' } : { text: value }, form);
  }

  #checked(outcome: { readonly text: string } | { readonly reason: SecretFault }, form: SecretForm): Resolution {
    if ('reason' in outcome) return outcome;
    const { text } = outcome;
    for (const part of partsOf(text)) this.#deps.redactor.register(part);
    const isUsable = form === 'header' ? PRINTABLE.test(text) : !text.includes('\0');
    return isUsable ? { value: text } : { reason: 'not text' };
  }
}

/** Printable ASCII without blanks around it: what every server reads alike in a header. */
const PRINTABLE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** What of a secret is to be hidden: a text of several lines or words is found again by its parts. */
function* partsOf(text: string): Iterable<string> {
  yield text;
  if (!/\s/.test(text)) return;
  const document = fieldsOf(text);
  if (!document) yield* text.split(/\s+/);
  for (const [name, member] of Object.entries(document ?? {}))
    if (typeof member === 'string' && isSecretName(name) && !ADDRESS_NAME.test(name)) yield* member.split(/\s+/);
}

/** `token_uri` of a key file: every program knows it. */
const ADDRESS_NAME = /ur[il]$/i;

function fieldsOf(text: string): Fields | undefined {
  try {
    const value: unknown = parseJson(text);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The last good value of one use, and the reasons that were said since. */
class HeldSecret implements SecretLease {
  readonly #use: SecretUse;
  readonly #logFailure: (reason: SecretFault) => void;
  readonly #told = new Set<SecretFault>();
  #current: Resolution | undefined;
  #watch: Watch | undefined;

  constructor(use: SecretUse, logFailure: (reason: SecretFault) => void) {
    this.#use = use;
    this.#logFailure = logFailure;
  }

  get current(): Resolution {
    return this.#current ?? { reason: 'not readable' };
  }

  begin(first: Resolution, watch: Watch): void {
    this.#current ??= first;
    this.#watch = watch;
    if ('reason' in first) this.#told.add(first.reason); // who asked for it says so
  }

  take(next: Resolution): void {
    const last = this.#current;
    if ('value' in next) {
      this.#told.clear();
      this.#current = next;
      if (!last || !('value' in last) || last.value !== next.value) this.#use.onValue(next.value);
      return;
    }
    if (!last || 'reason' in last) this.#current = next;
    if (this.#told.has(next.reason)) return;
    this.#told.add(next.reason);
    this.#logFailure(next.reason);
    this.#use.onFailure?.(next.reason);
  }

  end(): void {
    this.#watch?.end();
  }
}
