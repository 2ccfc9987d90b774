import type { GatewayError } from '../../host/contract/index.ts';
import type { Attempt, Outcome } from '../../host/pipeline/attempts/attempt.ts';
import { CredentialTrail } from '../../host/pipeline/credentials/credential-trail.ts';
import type { Tells, Visit } from '../../host/pipeline/credentials/visit.ts';
import type { PipelineServices } from '../../host/pipeline/pipeline-services.ts';
import { shownModel } from '../../host/pipeline/shown.ts';
import {
  type CredentialClass,
  credentialFault,
  type CredentialFault,
} from '../../host/upstream/credentials/credential-class.ts';
import type { PlacesHeld } from '../../host/state/shared-places.ts';
import type { CredentialPool, PoolEntry } from '../../host/upstream/credentials/credential-pool.ts';
import type { BenchClass, CredentialValue, Probe } from '../../host/upstream/credentials/credential-states.ts';

/** Calls by credential and by what their end said of it. */
export const CALLS = 'gateway_credential_calls_total';

/** A credential that an attempt calls with. */
export interface Used {
  readonly pool: CredentialPool;
  readonly entry: PoolEntry;
  readonly probe: Probe | undefined;
  /** Its value as the call began. */
  readonly value: CredentialValue;
  /** Its place among the calls of all replicas, where these hold them together. */
  readonly place: PlacesHeld | undefined;
}

/** What the end of a call may say of its credential. See docs/reference/credentials.md#states-of-a-credential. */
const HEARD: Readonly<Record<Tells | 'begun', ReadonlySet<CredentialClass>>> = {
  all: new Set(['rate', 'billing', 'no_access', 'invalid_key']),
  status: new Set(['rate', 'billing', 'invalid_key']),
  count: new Set(['rate', 'invalid_key']),
  nothing: new Set(),
  begun: new Set(['rate', 'billing']),
};

/** Where only the status is read, it may be about this one request, which asks for more than is left. */
const UNPAID = 402;

type Services = Pick<PipelineServices, 'log' | 'counters' | 'redactor'>;

/** Takes down what the ends of calls say of their credentials. */
export class CredentialUses {
  readonly #services: Services;

  constructor(services: Services) {
    this.#services = services;
  }

  /** A call is over. The outcome that counts for its target, where that is another one. */
  end(attempt: Attempt, used: Used, outcome: Outcome): Outcome | undefined {
    const { error, visit, upstreamModel } = attempt;
    const { pool, entry } = used;
    const { states, credential } = entry;
    states.inFlight -= 1;
    const fault = this.#faultOf(attempt, used);
    const isServed = outcome === 'success' && !error?.fault;
    this.#count(entry, fault?.class ?? resultOf(isServed, outcome));
    if (fault && error) this.#failed(attempt, used, fault, error);
    else this.#ended(attempt, used, isServed);
    if (visit?.tells === 'all' && (isServed || visit.hasBegun)) this.#confirm(attempt, pool);
    if (visit) visit.class = fault?.class;
    if (!fault) {
      if (visit && !isServed) visit.preferred = credential;
      return undefined;
    }
    if (visit) this.#goOn(attempt, visit, used, fault);
    return pool.hasOtherReady(credential, upstreamModel, visit?.account) ? 'ignored' : undefined;
  }

  #faultOf({ error, visit }: Attempt, { pool, entry: { states }, value }: Used): CredentialFault | undefined {
    if (!error) return undefined;
    const fault = credentialFault(error, {
      count: pool.entries.length,
      isProtected: states.isProtected(value),
    });
    const heard = HEARD[visit?.hasBegun === true ? 'begun' : (visit?.tells ?? 'nothing')];
    if (!fault || !heard.has(fault.class)) return undefined;
    return visit?.tells === 'status' && error.fault?.status === UNPAID ? { ...fault, isOfRequest: true } : fault;
  }

  /** The call ended well, or by what says nothing of its credential. */
  #ended(
    { visit, upstreamModel }: Attempt,
    { entry: { states, credential }, probe, value }: Used,
    isServed: boolean,
  ): void {
    const isTold = visit?.tells === 'all' || visit?.tells === 'status';
    const benchedMs = isServed && isTold ? states.succeed(value, upstreamModel, probe) : undefined;
    if (probe) states.freeProbe(probe);
    if (benchedMs !== undefined)
      this.#services.log.info('credential recovered', { ...namesOf(credential), after_ms: Math.round(benchedMs) });
  }

  #failed(
    attempt: Attempt,
    { entry, probe, value }: Used,
    { class: why, isOfRequest }: CredentialFault,
    error: GatewayError,
  ): void {
    const { exchange, upstreamModel } = attempt;
    const { states, credential } = entry;
    const hintMs = hintOf(error);
    const trail = (exchange.routing.credentials ??= new CredentialTrail());
    if (why === 'billing') trail.spent = error;
    if (why === 'rate') {
      if (error.retryAfterMs !== undefined) trail.waitMs = Math.min(trail.waitMs ?? Infinity, error.retryAfterMs);
      const restMs = states.rest(value, upstreamModel, hintMs);
      this.#services.log.debug('credential rests', {
        ...namesOf(credential),
        model: shownModel(upstreamModel, this.#services.redactor),
        rest_ms: restMs,
      });
    } else if (why === 'no_access') {
      trail.refused.push({ instance: credential.instance, credential: credential.name, value, states, upstreamModel });
    } else if (!isOfRequest && !(probe && states.failProbe(probe, why)))
      this.#bench(entry, value, why, { upstreamModel, hintMs });
    if (probe) states.freeProbe(probe);
  }

  #bench(
    { states, credential }: Pick<PoolEntry, 'states'> & { readonly credential: { instance: string; name: string } },
    value: CredentialValue,
    why: BenchClass,
    { upstreamModel, hintMs }: { readonly upstreamModel: string; readonly hintMs: number | undefined },
  ): void {
    const benched = states.bench(value, why, { model: upstreamModel, hintMs });
    if (!benched) return;
    const { log, redactor } = this.#services;
    log.warn('credential benched', {
      ...namesOf(credential),
      class: why,
      ...(why === 'no_access' && { model: shownModel(upstreamModel, redactor) }),
      retry_ms: benched.retryMs,
    });
  }

  /** Another credential answered: those that were refused the model before have no access to it, once that has happened often enough. */
  #confirm({ exchange: { routing }, upstreamModel }: Attempt, { instance }: CredentialPool): void {
    const trail = routing.credentials;
    if (!trail || trail.refused.length === 0) return;
    const counted = new Set<string>(); // a request that was tried again is one refusal
    for (const refused of trail.refused) {
      if (refused.instance !== instance.name || refused.upstreamModel !== upstreamModel) continue;
      if (refused.credential === routing.credential) continue;
      const { states, value, credential: name } = refused;
      if (counted.has(name)) continue;
      counted.add(name);
      if (states.confirmRefusal(value, upstreamModel))
        this.#bench({ states, credential: { instance: instance.name, name } }, value, 'no_access', {
          upstreamModel,
          hintMs: undefined,
        });
    }
    trail.refused = trail.refused.filter(
      (refused) => refused.instance !== instance.name || refused.upstreamModel !== upstreamModel,
    );
  }

  /** Whether another credential follows at once. */
  #goOn(
    { exchange, upstreamModel }: Attempt,
    visit: Visit,
    { pool, entry: { credential } }: Used,
    fault: CredentialFault,
  ): void {
    visit.next = undefined;
    visit.preferred = undefined;
    if (visit.tells !== 'all' || visit.hasBegun || exchange.cancellation.cause) return;
    const { tried, account } = visit;
    const isInDoubt = fault.class === 'no_access' || fault.isOfRequest;
    if (pool.hasNext({ upstreamModel, tried, account }) && visit.takeFurther(isInDoubt))
      visit.next = { step: 'credential', from: credential.name, class: fault.class };
  }

  #count({ credential: { instance, name } }: PoolEntry, result: CredentialClass | 'ok' | 'failed' | 'ignored'): void {
    this.#services.counters.add(CALLS, { provider: instance, credential: name, result });
  }
}

/** What a failure asks to wait; none at all is the shortest wait. */
const hintOf = ({ retryAfterMs, fault }: GatewayError): number | undefined =>
  retryAfterMs ?? (fault?.asksNoWait === true ? 0 : undefined);

const resultOf = (isServed: boolean, outcome: Outcome): 'ok' | 'failed' | 'ignored' =>
  isServed ? 'ok' : outcome === 'ignored' ? 'ignored' : 'failed';

const namesOf = ({ instance, name }: { readonly instance: string; readonly name: string }) => ({
  provider: instance,
  credential: name,
});
