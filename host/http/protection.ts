import { GatewayError, type Principal, type Scope } from '../contract/index.ts';

/** Paths behind authentication. */
export interface ProtectedPath {
  /** With a slash at its end everything below it, without one this path alone. */
  readonly prefix: string;
  /** What the credential must allow, whichever route is behind it; `undefined`: any credential will do, or the route says more. */
  readonly scope?: Scope | undefined;
  /** Needs no credential while `ALLOW_UNAUTHENTICATED_PROXY` is in force. */
  readonly mayBeOpen?: boolean;
  /** Requests count towards what their key may do in a minute. */
  readonly isLimited?: boolean;
  /** Requests of this method bring their credential to the route itself. */
  readonly ownMethod?: string;
  /** On every answer, whichever part of the gateway gives it: name, value, name, value. */
  readonly headers?: readonly string[];
  /** Served by the listener for models too, where the control plane has one of its own. */
  readonly plane?: 'data';
  /** False where a browser gets no page for a path that no route takes. */
  readonly hasPages?: boolean;
}

/** The protected paths of one host, declared by the builtins whose routes stand there. */
export class Protection {
  readonly #paths: ProtectedPath[] = [];
  readonly #open = new Set<string>();

  add(path: ProtectedPath): void {
    this.#paths.push(path);
  }

  /** A path that needs no credential, and that every listener serves. */
  open(path: string): void {
    this.#open.add(path);
  }

  /** Whether some builtin declares the path, as it was written. */
  isDeclared(path: string): boolean {
    return this.#open.has(path) || this.of(path) !== undefined;
  }

  /** Whether the listener for models serves the path, as it was written. Everything that no builtin declares is the control plane's. */
  isOfData(path: string): boolean {
    return this.of(path)?.plane === 'data' || this.#open.has(path);
  }

  /** Compares the path as it was written; the first that fits counts. */
  of(path: string): ProtectedPath | undefined {
    for (const each of this.#paths) {
      if (each.prefix.endsWith('/') ? path.startsWith(each.prefix) : path === each.prefix) return each;
    }
    return undefined;
  }
}

/** Why a scope is not given; `undefined` when it is. `admin` may do what `read_only` may. */
export function scopeRefusal(principal: Principal | undefined, scope: Scope): GatewayError | undefined {
  if (!principal) return new GatewayError('authentication_required', 'this route needs a credential');
  if (principal.scopes.includes(scope) || principal.scopes.includes('admin')) return undefined;
  return new GatewayError(
    'insufficient_scope',
    principal.scopes.length === 0 ? 'this key is for inference only' : `this route needs the scope ${scope}`,
  );
}
