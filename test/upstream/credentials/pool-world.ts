/** A pool of credentials without a network: calls are chosen, and end as the test says. */
import { GatewayError, type UpstreamFault } from '../../../host/contract/index.ts';
import { CredentialUses, type Used } from '../../../builtins/resilience/credential-uses.ts';
import type { Attempt, Outcome } from '../../../host/pipeline/attempts/attempt.ts';
import { Visit } from '../../../host/pipeline/credentials/visit.ts';
import { CredentialPool } from '../../../host/upstream/credentials/credential-pool.ts';
import { LocalCredentialStates } from '../../../host/upstream/credentials/credential-states.ts';
import type { Credential, ProviderInstance } from '../../../host/upstream/instance.ts';
import type { ConnectedProvider } from '../../../host/upstream/connect.ts';
import { fakeClock, type FakeClock } from '../../kit/index.ts';

export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export interface CredentialOptions extends Partial<Pick<Credential, 'weight' | 'maxConcurrency' | 'vendorAccount'>> {
  readonly models?: readonly string[];
}

const CONNECTED = { root: 'http://127.0.0.1:1' } as ConnectedProvider;

export function credentialOf(name: string, options: CredentialOptions = {}): Mutable<Credential> {
  const { models, weight = 1, maxConcurrency, vendorAccount } = options;
  return {
    instance: 'acme',
    name,
    vendorAccount: vendorAccount ?? `acme/${name}`,
    isLabelled: vendorAccount !== undefined,
    weight,
    maxConcurrency,
    hasModels: models !== undefined,
    allows: (model) =>
      models?.some((each) => (each.endsWith('*') ? model.startsWith(each.slice(0, -1)) : model === each)) ?? true,
    connected: CONNECTED,
    digest: `${name}-1`,
    refreshedAt: 0,
    takenAt: 0,
  };
}

export interface Line {
  readonly level: string;
  readonly message: string;
  readonly attributes: Record<string, unknown>;
}

export interface Call {
  readonly used: Used;
  readonly attempt: Attempt;
}

/** Ends of calls, by name: what a vendor answers. */
export function failure(fault: Partial<UpstreamFault>, retryAfterMs?: number): GatewayError {
  return new GatewayError('upstream_error', 'it failed', { fault: { kind: 'status', ...fault }, retryAfterMs });
}

export class PoolWorld {
  readonly clock: FakeClock = fakeClock();
  readonly lines: Line[] = [];
  readonly results: string[] = [];
  readonly states = new Map<string, LocalCredentialStates>();
  readonly uses: CredentialUses;
  readonly #random: () => number;
  credentials: Mutable<Credential>[];
  pool: CredentialPool;

  constructor(credentials: Mutable<Credential>[], random: () => number = Math.random) {
    this.#random = random;
    this.credentials = credentials;
    const write =
      (level: string) =>
      (message: string, attributes: object = {}) =>
        this.lines.push({ level, message, attributes: attributes as Record<string, unknown> });
    const log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
    this.uses = new CredentialUses({
      log,
      counters: {
        add: (_name: string, labels: { result: string; credential: string }) =>
          this.results.push(`${labels.credential} ${labels.result}`),
      } as never,
      redactor: { redact: (text: string) => text } as never,
    });
    this.pool = this.#build();
  }

  /** Another configuration: what is remembered of a name stays. */
  swap(credentials: Mutable<Credential>[]): void {
    this.credentials = credentials;
    this.pool = this.#build();
  }

  #build(): CredentialPool {
    return new CredentialPool(
      { name: 'acme', kind: 'acme', credentials: this.credentials } as unknown as ProviderInstance,
      ({ name }) => {
        const known = this.states.get(name) ?? new LocalCredentialStates(this.clock.monotonic);
        this.states.set(name, known);
        return known;
      },
    );
  }

  /** A call of a request, under the configuration that it began with, for a model; a word where there is no credential for it. */
  begin(model: string, visit = new Visit(), routing: object = {}, pool = this.pool): Call | 'saturated' | 'unusable' {
    const { tried, preferred, account, tells } = visit;
    const choice = pool.choose({
      upstreamModel: model,
      tried,
      preferred,
      account,
      isProbedLast: tells !== 'all',
      random: this.#random,
    });
    if (typeof choice === 'string') return choice;
    const { entry, probe } = choice;
    const { digest, takenAt } = entry.credential;
    entry.states.inFlight += 1;
    visit.calls(entry.credential);
    Object.assign(routing, { credential: entry.credential.name });
    const attempt = {
      exchange: { routing, cancellation: { cause: undefined } },
      upstreamModel: model,
      visit,
      credential: entry.credential,
      error: undefined,
    } as unknown as Attempt;
    return { used: { pool, entry, probe, value: { digest, takenAt }, place: undefined }, attempt };
  }

  end({ used, attempt }: Call, error?: GatewayError, outcome: Outcome = error ? 'failure' : 'success'): Outcome {
    attempt.error = error;
    return this.uses.end(attempt, used, outcome) ?? outcome;
  }

  read(name: string, model: string): string {
    const credential = this.credentials.find((each) => each.name === name);
    return credential ? (this.states.get(name)?.read(credential, model).state ?? 'none') : 'none';
  }
}
