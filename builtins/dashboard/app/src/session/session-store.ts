import { isFields, textAt } from '../lib/fields.ts';
import { readJson } from '../lib/json.ts';
import type { Kept } from '../lib/storage.ts';

export type Scope = 'admin' | 'read_only';

/** What `POST /admin/session` answered: all that is kept of a sign-in. */
export interface Session {
  readonly token: string;
  readonly scopes: readonly Scope[];
  readonly subject: string;
  readonly expires_at: string;
}

export const SESSION_KEY = 'gw.session.v1';
/** What this page keeps in the storage that outlives a tab; anything else of its name there is of an earlier version. */
const LASTING_KEYS: ReadonlySet<string> = new Set(['gw.theme', 'gw.rail']);

export type Listener = () => void;

/** The session of this tab, in memory and in the tab's storage. */
export class SessionStore {
  readonly #kept: Kept;
  readonly #listeners = new Set<Listener>();
  readonly #doubters = new Set<Listener>();
  #current: Session | undefined;
  #hasLapsed = false;

  constructor(kept: Kept, lasting: Kept) {
    this.#kept = kept;
    this.#current = readSession(readJson(kept.read(SESSION_KEY) ?? ''));
    for (const key of lasting.keys()) if (key.startsWith('gw.') && !LASTING_KEYS.has(key)) lasting.write(key, null);
  }

  get current(): Session | undefined {
    return this.#current;
  }

  /** Whether the gateway ended the last session, and not its reader. */
  get hasLapsed(): boolean {
    return this.#hasLapsed;
  }

  begin(session: unknown): void {
    const read = readSession(session);
    if (!read) throw new Error('The gateway answered without a session.');
    this.#hasLapsed = false;
    this.#set(read);
  }

  /** The scopes of the credential as they are now. */
  setScopes(scopes: unknown): void {
    const read = readScopes(scopes);
    if (this.#current && read.join() !== this.#current.scopes.join()) this.#set({ ...this.#current, scopes: read });
  }

  /** Ends the session with this token; a newer one goes on. */
  end(token: string): void {
    if (this.#current?.token === token) this.#set(undefined);
  }

  /** The gateway no longer knows the session with this token. */
  lapse(token: string): void {
    if (this.#current?.token === token) this.#hasLapsed = true;
    this.end(token);
  }

  /** A call was refused for its scope: what is known of the scopes may be old. */
  doubtScopes(): void {
    for (const listener of this.#doubters) listener();
  }

  readonly subscribe = (listener: Listener): (() => void) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  };

  readonly onDoubt = (listener: Listener): (() => void) => {
    this.#doubters.add(listener);
    return () => {
      this.#doubters.delete(listener);
    };
  };

  #set(session: Session | undefined): void {
    this.#current = session;
    this.#kept.write(SESSION_KEY, session ? JSON.stringify(session) : null);
    for (const listener of this.#listeners) listener();
  }
}

function readSession(value: unknown): Session | undefined {
  if (!isFields(value)) return undefined;
  const token = textAt(value, 'token');
  if (token === undefined || !token.startsWith('gws_')) return undefined;
  return {
    token,
    scopes: readScopes(value['scopes']),
    subject: textAt(value, 'subject') ?? '',
    expires_at: textAt(value, 'expires_at') ?? '',
  };
}

/** An unknown scope grants nothing. */
function readScopes(value: unknown): Scope[] {
  return Array.isArray(value)
    ? value.filter((scope): scope is Scope => scope === 'admin' || scope === 'read_only')
    : [];
}
