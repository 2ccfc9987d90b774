import { GatewayError } from '../../../host/contract/index.ts';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import { HostPrincipal } from '../../../host/common/host-principal.ts';
import { timestamp } from '../../../host/common/timestamps.ts';
import { SignInFailed, type SignIn } from '../../../host/config/identity/identity-sign-in.ts';
import type { Host } from '../../../host/host.ts';
import type { JsonObject } from '../../../host/http/body/json-body.ts';
import type { JsonAnswer, JsonCall, JsonRoute } from '../../../host/http/json-route.ts';
import type { Auditor } from '../auditor.ts';
import { changing } from '../store-calls.ts';
import type { TakeAttempt } from './attempts.ts';

const MOST_BYTES = 16 * 1024;
const LONGEST_RESPONSE = 8 * 1024;
const PROMPTS = ['login', 'select_account'];
const ACTION = 'session.create';
const NO_STORE = ['Cache-Control', 'no-store'];

/** Signing in with an issuer: there is no credential yet, so that the routes stand outside `/admin`. See docs/identity.md#signing-in. */
export function issuerSignInRoutes(host: Host, auditor: Auditor, take: TakeAttempt): readonly JsonRoute[] {
  const open = { scope: 'open', headers: NO_STORE } as const;
  const named = (call: JsonCall): { readonly name: string; readonly signIn: SignIn } => {
    const name = call.parameter('name');
    const { signIn } = host.identity;
    if (!signIn?.issuers().some((each) => each.name === name))
      throw new GatewayError('resource_not_found', 'no issuer of this name signs people in');
    return { name, signIn };
  };
  const list = (): JsonAnswer => ({ status: 200, body: { issuers: host.identity.signIn?.issuers() ?? [] } });
  const start = async (call: JsonCall): Promise<JsonAnswer> => {
    await take(call.context.address);
    const { name, signIn } = named(call);
    const prompt = promptIn(call);
    const begun = await signIn.begin(name, prompt).catch((error: unknown) => failed(host, call, name, error));
    return {
      status: 200,
      body: {
        authorization_url: begun.authorizationUrl,
        transaction: begun.transaction,
        expires_at: timestamp(begun.expiresAt),
      },
    };
  };
  const finish = async (call: JsonCall): Promise<JsonAnswer> => {
    await take(call.context.address);
    const { name, signIn } = named(call);
    const { transaction, response } = finishIn(call.json());
    try {
      return await complete(host, auditor, call, { name, signIn, transaction, response });
    } catch (error) {
      record(auditor, call, name, error);
      return failed(host, call, name, error);
    }
  };
  const body = { ...open, method: 'POST', maxBytes: () => MOST_BYTES } as const;
  return [
    { ...open, method: 'GET', path: '/identity', answer: list },
    { ...body, path: '/identity/:name/start', answer: start },
    { ...body, path: '/identity/:name/finish', answer: finish },
  ];
}

interface Completing {
  readonly name: string;
  readonly signIn: SignIn;
  readonly transaction: string;
  readonly response: string;
}

async function complete(
  { stores }: Host,
  auditor: Auditor,
  { context }: JsonCall,
  { name: issuer, signIn, transaction, response }: Completing,
): Promise<JsonAnswer> {
  const person = await changing(signIn.complete(issuer, transaction, response));
  const { id, name, scopes, rule, sessionMs: lifeMs } = person;
  const made = await changing(stores.sessions.create({ credentialId: id, subject: name, scopes, lifeMs }));
  const { subject, expiresAt } = made.session;
  auditor.record(
    { context, principal: new HostPrincipal({ id, name, scopes }) },
    { action: ACTION, target: id, outcome: 'ok', detail: { subject, issuer, rule } },
  );
  return { status: 201, body: { token: made.token, subject, scopes, expires_at: timestamp(expiresAt) } };
}

const DENIED: ReadonlySet<string> = new Set([
  'transaction',
  'state',
  'issuer',
  'provider_error',
  'code',
  'token',
  'no_access',
  'blocked',
]);

function record(auditor: Auditor, call: JsonCall, issuer: string, error: unknown): void {
  if (!(error instanceof SignInFailed) || !DENIED.has(error.reason)) {
    const shown = error instanceof SignInFailed ? answerTo(error) : error;
    auditor.failed(call, { action: ACTION, target: '*', about: { issuer }, error: shown });
    return;
  }
  const { reason, subjectId: subject } = error;
  const detail = { reason, issuer, ...(subject !== undefined && { subject }) };
  auditor.record(call, { action: ACTION, target: '*', outcome: 'denied', detail });
}

/** The answer says nothing of why; the line does. */
function failed({ log }: Host, { context }: JsonCall, issuer: string, error: unknown): never {
  if (!(error instanceof SignInFailed)) throw error;
  const { reason, providerError, cause } = error;
  log.info('sign-in failed', {
    trace_id: context.id,
    issuer,
    reason,
    ...(providerError !== undefined && { provider_error: providerError }),
  });
  if (cause !== undefined) log.debug('why a sign-in failed', { trace_id: context.id, issuer, error: cause });
  throw answerTo(error);
}

function answerTo({ reason }: SignInFailed): GatewayError {
  if (reason === 'unavailable') return new GatewayError('identity_unavailable', 'the issuer does not answer');
  if (reason === 'no_access' || reason === 'blocked')
    return new GatewayError('insufficient_scope', 'this account may not use this gateway');
  return new GatewayError('sign_in_failed', 'the sign-in could not be completed; begin again');
}

function promptIn(call: JsonCall): string | undefined {
  if (call.bytes.length === 0) return undefined;
  const { prompt } = call.json();
  if (prompt === undefined || prompt === null) return undefined;
  const found = PROMPTS.find((each) => each === prompt);
  if (!found) throw invalidRequest(`prompt must be ${PROMPTS.join(' or ')}`);
  return found;
}

function finishIn({ transaction, response }: JsonObject): { transaction: string; response: string } {
  if (typeof transaction !== 'string' || transaction === '') throw invalidRequest('transaction must be a text');
  if (typeof response !== 'string') throw invalidRequest('response must be the query that the provider sent');
  if (response.length > LONGEST_RESPONSE)
    throw invalidRequest(`response has ${response.length} characters, the limit is ${LONGEST_RESPONSE}`);
  return { transaction, response };
}
