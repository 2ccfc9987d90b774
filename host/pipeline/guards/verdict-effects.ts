import {
  type Answer,
  type GatewayError,
  type GuardrailSettings,
  isFields,
  memberOf,
  type Rejection,
  type Rewrite,
  type Stage,
  SURFACES,
  type Verdict,
} from '../../contract/index.ts';
import { clientBodyOf } from '../../contract/text/client-body.ts';
import { replyProblem, requestProblem } from '../../boundary/bodies.ts';
import { jsonProblem } from '../../boundary/json-problem.ts';
import type { ClientRequest } from '../../wire/client-request.ts';
import { type LiveExchange, userOf } from '../live-exchange.ts';
import type { StageRun } from '../hooks.ts';
import type { GuardedStage } from './guarded-stage.ts';
import type { PluginInstance } from './plugin-instance.ts';
import { isObserving } from './plugin-policy.ts';
import { actionOf, noteVerdict, reasonOf, rejectionError } from './verdict-notes.ts';

/** What follows from a handler's verdict. An error ends the stage. */
export function applyVerdict(
  at: GuardedStage,
  decided: unknown,
  exchange: LiveExchange,
  run: StageRun | undefined,
): GatewayError | undefined {
  if (decided === undefined || at.stage === 'on_error') return undefined;
  const verdict = decided as Verdict | null;
  if (verdict?.action === 'reject') return applyRejection(at, verdict, exchange, run);
  if (verdict?.action === 'answer') applyAnswer(at, verdict, exchange);
  else if (verdict?.action === 'rewrite') applyRewrite(at, verdict, exchange, run);
  else throw new Error('it returned something that is not a verdict: return undefined to go on');
  return undefined;
}

function applyRejection(
  at: GuardedStage,
  rejection: Rejection,
  exchange: LiveExchange,
  run: StageRun | undefined,
): GatewayError | undefined {
  const { instance, stage, deps } = at;
  const isRejected = hasConsequence(at, exchange);
  if (run) Object.assign(run, { outcome: isRejected ? 'rejected' : actionOf(instance), reason: reasonOf(rejection) });
  if (isRejected) return rejectionError(instance.module, stage, rejection, exchange, deps);
  noteVerdict(at, rejection, exchange);
  return undefined;
}

/** Not while a guardrail observes, nor where it only records what it finds in streams. */
function hasConsequence({ instance, stage }: GuardedStage, exchange: LiveExchange): boolean {
  const { stream } = instance.settings as GuardrailSettings;
  const isRecorded =
    instance.module.type === 'guardrail' && stage === 'after_request' && exchange.streaming && stream === 'record';
  return !isObserving(instance) && !isRecorded;
}

/** A plugin's answer counts on chat surfaces before the provider only; elsewhere it is ignored. The plugin keeps its own. */
function applyAnswer(
  { instance, stage }: GuardedStage,
  { reply, reportedModel }: Answer,
  exchange: LiveExchange,
): void {
  const { module, boundary } = instance;
  const { isChat } = SURFACES[exchange.surface];
  const problem = isChat ? replyProblem(exchange.surface, reply) : undefined;
  if (problem !== undefined || !isFields(reply))
    throw new Error(`it returned an answer that is none: ${problem ?? 'the body is not an object'}`);
  requireJson(boundary, reply, 'an answer');
  if (stage !== 'before_request' || !isChat) return;
  exchange.reply = structuredClone(reply);
  exchange.plugins.answeredBy = module.name;
  exchange.routing.reportedModel = reportedModel;
}

/** Bodies that hold bytes are not JSON. */
function requireJson({ module }: PluginInstance['boundary'], body: unknown, what: string): void {
  const problem = module.file === undefined || !isFields(body) || 'contentType' in body ? undefined : jsonProblem(body);
  if (problem !== undefined) throw new Error(`it returned ${what} that cannot be written as JSON: ${problem}`);
}

/** A rewrite that masks is a verdict too: it is counted, and only noted where it has no consequence. */
function applyRewrite(
  at: GuardedStage,
  { body, masked }: Rewrite,
  exchange: LiveExchange,
  run: StageRun | undefined,
): void {
  const { instance, stage } = at;
  const { surface } = exchange;
  const problem = stage === 'after_request' ? replyProblem(surface, body) : requestProblem(surface, body);
  if (problem !== undefined) throw new Error(`it returned a rewrite that does not fit ${surface}: ${problem}`);
  requireJson(instance.boundary, body, 'a rewrite');
  if (masked !== undefined) {
    const isApplied = hasConsequence(at, exchange);
    if (run) Object.assign(run, { outcome: isApplied ? 'ok' : actionOf(instance), reason: masked });
    noteVerdict(at, { reason: masked }, exchange, isApplied ? 'masked' : actionOf(instance));
    if (!isApplied) return;
  }
  replaceBody(stage, body, exchange);
  if (masked === undefined) exchange.user = userOf(exchange.request);
}

function replaceBody(stage: Stage, body: Rewrite['body'], exchange: LiveExchange): void {
  if (stage === 'after_request') {
    exchange.clientReply = replyBeside(exchange, body);
    exchange.reply = body as LiveExchange['reply'];
    return;
  }
  const request = body as LiveExchange['request'];
  if (exchange.sent) exchange.sent = sentBeside(exchange.sent, exchange.request, request);
  if (SURFACES[exchange.surface].isChat) exchange.request = request;
  else if (request.model !== undefined) exchange.request = { ...exchange.request, model: request.model };
  exchange.model = exchange.request.model ?? exchange.model;
}

/** An answer in the client's own wire, changed like the common one; without that the common one is written for the client. */
function replyBeside({ clientReply }: LiveExchange, body: unknown): LiveExchange['clientReply'] {
  const own = clientReply && clientBodyOf(body);
  return own && clientReply.edited(own.value);
}

/** The client's own body after a rewrite: changed alike, or by the model alone; any other change only the common request holds. */
function sentBeside(
  sent: ClientRequest,
  before: LiveExchange['request'],
  after: LiveExchange['request'],
): ClientRequest {
  const own = clientBodyOf(after);
  if (own) return sent.edited(own.value);
  const names = Object.keys({ ...before, ...after });
  return names.every((name) => name === 'model' || memberOf(before, name) === memberOf(after, name))
    ? sent
    : sent.outdated();
}
