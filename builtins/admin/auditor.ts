import { GatewayError, inPart, type Log, type Principal } from '../../host/contract/index.ts';
import type { JsonCall } from '../../host/http/json-route.ts';
import { redactedCopy } from '../../host/log/redacted-copy.ts';
import type { Redactor } from '../../host/log/redact.ts';
import type { AuditNote } from '../../host/stores/audit/audit-store.ts';

type Detail = NonNullable<AuditNote['detail']>;

/** What was done to what, and how it went. */
interface AuditEvent {
  readonly action: string;
  /** Id of what it was done to; `*` when it was done to all, or to nothing yet. */
  readonly target: string;
  readonly outcome: AuditNote['outcome'];
  readonly detail?: Detail | undefined;
  readonly changes?: AuditNote['changes'];
  readonly configVersion?: number | undefined;
}

interface Mutation<T> {
  readonly action: string;
  readonly target: string;
  readonly act: () => Promise<T>;
  /** What the row says once it is done. */
  readonly done?: (result: T) => Partial<Pick<AuditEvent, 'target' | 'detail' | 'changes'>>;
  /** What the row of a failure says beside the error. */
  readonly about?: Detail;
}

interface AuditorDeps {
  readonly log: Log;
  readonly redactor: Redactor;
  readonly stores: { readonly audit: { append(note: AuditNote): void } };
}

type Asked = Pick<JsonCall, 'principal' | 'context'>;

/** Characters: the path of a request may name what cannot be an id. */
const LONGEST_TARGET = 256;

/** The rows of the audit trail, and the log line of each. See docs/admin.md#the-audit-trail. */
export class Auditor {
  readonly #host: AuditorDeps;

  constructor(host: AuditorDeps) {
    this.#host = host;
  }

  record({ principal, context }: Asked, event: AuditEvent): void {
    const { action, target: asked, outcome, detail, changes, configVersion } = event;
    const { log, redactor, stores } = this.#host;
    const target = inPart(asked, LONGEST_TARGET);
    const actor = actorOf(principal);
    stores.audit.append({
      action,
      actor,
      actorId: principal?.id,
      targetId: target,
      outcome,
      detail,
      sourceIp: context.address,
      traceId: context.id,
      changes,
      configVersion,
    });
    log.info('admin audit', {
      trace_id: context.id,
      action,
      actor,
      target_id: target,
      outcome,
      ...(detail && redactedCopy(detail, redactor)),
    });
  }

  /** What a rule of ours refused is denied; anything else, what is not there among it, is an error. */
  failed(
    call: Asked,
    {
      action,
      target,
      about,
      error,
    }: Pick<AuditEvent, 'action' | 'target'> & { readonly error: unknown; readonly about?: Detail | undefined },
  ): void {
    const reason = error instanceof GatewayError && REFUSALS.has(error.code) ? error.code : undefined;
    if (reason !== undefined) this.record(call, { action, target, outcome: 'denied', detail: { reason } });
    else
      this.record(call, {
        action,
        target,
        outcome: 'error',
        detail: { ...about, error: this.#host.redactor.excerpt(shownError(error)) },
      });
  }

  /** Does it and writes its row, whichever way it went. What fails is thrown again. */
  async during<T>(call: Asked, { action, target, about, act, done }: Mutation<T>): Promise<T> {
    const result = await act().catch((error: unknown) => {
      this.failed(call, { action, target, about, error });
      throw error;
    });
    this.record(call, { action, target, outcome: 'ok', ...done?.(result) });
    return result;
  }
}

/** Refusals that are `denied` in the trail: those of the lockout guard, of a credential that is not known or may not sign in, and of accounts as they stand. */
const REFUSALS: ReadonlySet<string> = new Set([
  'self_mutation_forbidden',
  'last_admin_key',
  'invalid_api_key',
  'insufficient_scope',
  'account_exists',
  'account_declared',
  'account_in_use',
]);

/** The message of an unexpected error is not shown: a driver may have put anything into it. */
function shownError(error: unknown): string {
  return error instanceof GatewayError ? error.message : 'the gateway failed';
}

/** Frozen when a row is written. Of a session it is the subject, and the id of the credential that it was made from. */
export function actorOf(principal: Principal | undefined): string {
  if (!principal) return 'unattributed';
  const { id, name } = principal;
  return name === '' || name === id ? id : `${name} (${id})`;
}
