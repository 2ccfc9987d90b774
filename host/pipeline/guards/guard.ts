import {
  type Answer,
  countOf,
  GatewayError,
  type GuardrailSettings,
  isFields,
  isText,
  memberOf,
  type PluginModule,
  type Rejection,
  type Rewrite,
  type Stage,
  type StreamGuard,
  type Surface,
  SURFACES,
  type Verdict,
} from '../../contract/index.ts';
import { clientBodyOf } from '../../contract/text/client-body.ts';
import { replyProblem, requestProblem } from '../../boundary/bodies.ts';
import { jsonProblem } from '../../boundary/json-problem.ts';
import { DETACHED_LIMIT_MS, HANDLER_LIMIT_MS } from '../../boundary/module-limits.ts';
import { ModuleFault } from '../../boundary/module-fault.ts';
import { inTime, isThenable } from '../../boundary/thenable.ts';
import type { Clock } from '../../common/clock.ts';
import type { ClientRequest } from '../../wire/client-request.ts';
import { type LiveExchange, userOf } from '../live-exchange.ts';
import type { Eventual } from '../eventual.ts';
import { pluginError } from '../gateway-fault.ts';
import { type ChunkRefusal, type GenerationHooks, isTapped, type PluginVerdict, type StageRun } from '../hooks.ts';
import type { PluginInstance, StreamGuards } from './plugin-instance.ts';

/** The hooks that hear of verdicts, failures and runs of plugins, and the clock for the runs. */
export interface GuardDeps {
  readonly hooks: Pick<GenerationHooks, 'stageRan' | 'verdict' | 'pluginFailed'>;
  readonly clock: Pick<Clock, 'monotonic' | 'timer'>;
}

export type GuardedHandler = (exchange: LiveExchange) => Eventual<GatewayError | undefined>;

/**
 * Wraps one handler with the policy of its plugin's type, so that no plugin holds any: verdicts become errors, faults
 * fail open or closed, `observe` and `record` turn rejections into notes. An error ends the stage.
 */
export function guardHandler(instance: PluginInstance, stage: Stage, deps: GuardDeps): GuardedHandler | undefined {
  const handler = instance.handlers[stage]?.bind(instance.handlers);
  if (!handler) return undefined;
  const { boundary } = instance;
  const settle = (exchange: LiveExchange, decided: unknown, run: StageRun | undefined): GatewayError | undefined => {
    if (decided === undefined || stage === 'on_error') return undefined;
    const verdict = decided as Verdict | null;
    if (verdict?.action === 'reject') return applyRejection(instance, stage, verdict, exchange, deps, run);
    if (verdict?.action === 'answer') applyAnswer(instance, stage, verdict, exchange);
    else if (verdict?.action === 'rewrite') applyRewrite(instance, stage, verdict, exchange, deps, run);
    else throw new Error('it returned something that is not a verdict: return undefined to go on');
    return undefined;
  };
  const fault = (exchange: LiveExchange, thrown: unknown, run: StageRun | undefined): GatewayError | undefined => {
    const cause = new ModuleFault(boundary.module, stage, thrown);
    if (run) Object.assign(run, { outcome: 'error', error: cause.cause });
    return pluginFault(instance, stage, exchange, cause, deps);
  };
  const guarded = (exchange: LiveExchange, run: StageRun | undefined): Eventual<GatewayError | undefined> => {
    exchange.stage = stage;
    try {
      const decided: unknown = boundary.call(handler, exchange, undefined);
      if (decided === undefined) return undefined;
      if (isThenable(decided))
        return inTime(
          decided,
          limitMs(stage, exchange),
          deps.clock,
          stage,
          isDetached(stage, exchange) ? undefined : exchange.cancellation,
        )
          .then((late) => settle(exchange, late, run))
          .catch((cause: unknown) => fault(exchange, cause, run));
      return settle(exchange, decided, run);
    } catch (cause) {
      return fault(exchange, cause, run);
    }
  };
  const counts = runsForCounts(instance, stage);
  return (exchange) => {
    if (exchange.isCounting && !counts) return undefined;
    return isTapped(deps.hooks.stageRan)
      ? measured(guarded, instance, stage, exchange, deps)
      : guarded(exchange, undefined);
  };
}

/** What has a say in a request that is only counted: who may ask, what is said, and the log. See docs/reference/ingress.md#counting-tokens. */
function runsForCounts({ module, settings }: PluginInstance, stage: Stage): boolean {
  if (module.type === 'logging' || module.type === 'metrics' || stage === 'on_error') return true;
  return (
    stage === 'before_request' &&
    (module.type === 'auth' || (module.type === 'guardrail' && mayInspect(module, settings)))
  );
}

/** What runs apart from the client has less time: no client that leaves ends it. */
function limitMs(stage: Stage, exchange: LiveExchange): number {
  return isDetached(stage, exchange) ? DETACHED_LIMIT_MS : HANDLER_LIMIT_MS;
}

/** Streams have been sent by then, and so have answers that are forwarded. */
function isDetached(stage: Stage, { streaming, surface }: LiveExchange): boolean {
  return stage === 'on_error' || (stage === 'after_request' && (streaming || SURFACES[surface].isForwarded === true));
}

/** Runs a handler, and reports the run when it is over. */
function measured(
  guarded: (exchange: LiveExchange, run: StageRun) => Eventual<GatewayError | undefined>,
  { module }: PluginInstance,
  stage: Stage,
  exchange: LiveExchange,
  { hooks, clock }: GuardDeps,
): Eventual<GatewayError | undefined> {
  const startedAt = clock.monotonic();
  const run: StageRun = {
    module,
    stage,
    exchange,
    startedAt,
    endedAt: startedAt,
    outcome: 'ok',
    reason: undefined,
    error: undefined,
  };
  const end = (error: GatewayError | undefined): GatewayError | undefined => {
    run.endedAt = clock.monotonic();
    hooks.stageRan.call(run);
    return error;
  };
  const result = guarded(exchange, run);
  return result instanceof Promise ? result.then(end) : end(result);
}

/** Whether the plugin sees bodies of the surface at all. */
export function covers(module: PluginModule, surface: Surface): boolean {
  return module.surfaces?.includes(surface) ?? true;
}

/** Whether bodies that this plugin cannot read must be refused: a guardrail reads content unless it says otherwise, an observing one refuses nothing. */
export function guardsContent(module: PluginModule, settings: object): boolean {
  if (module.type !== 'guardrail' || (settings as GuardrailSettings).observe === true) return false;
  return readsContent(module, settings);
}

/** Whether the plugin may look at what a body says: all that are not about counts or credentials. */
export function mayInspect(module: PluginModule, settings: object): boolean {
  if (module.type === 'guardrail') return readsContent(module, settings);
  return module.type === 'transform' || module.type === 'logging';
}

/** What a guardrail says, or what follows from what it needs. */
function readsContent(module: PluginModule, settings: object): boolean {
  return module.readsContent?.(settings) ?? needsBody(module, settings);
}

/** Whether the plugin needs anything of a body that is only forwarded. What reads content does, whatever it says. */
export function needsBody(module: PluginModule, settings: object): boolean {
  return (module.needsBody?.(settings) ?? true) || module.readsContent?.(settings) === true;
}

/** Whether one of the guards may hold back or end the stream; the others only watch. */
export function holdsBack(guards: StreamGuards): boolean {
  return guards.keys().some((instance) => !isObserving(instance));
}

/** Whether nothing of the stream may be delivered before `after_request` has passed. */
export function awaitsVerdict(guards: StreamGuards): boolean {
  return guards.entries().some(([instance, { awaitsVerdict: awaits }]) => awaits === true && !isObserving(instance));
}

/** What the type says, and the catalogue: `logging` and `metrics` fail open, the rest closed. */
export function failsOpen(module: PluginModule): boolean {
  return module.type === 'logging' || module.type === 'metrics';
}

/** Whether a fault of this instance lets the request go on: by its type, or by a guardrail's setting `fail`. */
export function passesFaults({ module, settings }: PluginInstance): boolean {
  return failsOpen(module) || (module.type === 'guardrail' && (settings as GuardrailSettings).fail === 'open');
}

/** At `on_error` everything fails open. */
function pluginFault(
  instance: PluginInstance,
  stage: Stage,
  exchange: LiveExchange,
  fault: ModuleFault,
  { hooks }: GuardDeps,
): GatewayError | undefined {
  const { module } = instance;
  const isOpen = passesFaults(instance) || stage === 'on_error';
  hooks.pluginFailed.call({ module, at: stage, exchange, fault, isOpen });
  return isOpen ? undefined : pluginError(fault);
}

function applyRejection(
  instance: PluginInstance,
  stage: Stage,
  rejection: Rejection,
  exchange: LiveExchange,
  deps: GuardDeps,
  run: StageRun | undefined,
): GatewayError | undefined {
  const isRejected = hasConsequence(instance, stage, exchange);
  if (run) Object.assign(run, { outcome: isRejected ? 'rejected' : actionOf(instance), reason: reasonOf(rejection) });
  if (isRejected) return rejectionError(instance.module, stage, rejection, exchange, deps);
  noteVerdict(instance, stage, rejection, exchange, deps);
  return undefined;
}

/** Not while a guardrail observes, nor where it only records what it finds in streams. */
function hasConsequence(instance: PluginInstance, stage: Stage, exchange: LiveExchange): boolean {
  const { stream } = instance.settings as GuardrailSettings;
  const isRecorded =
    instance.module.type === 'guardrail' && stage === 'after_request' && exchange.streaming && stream === 'record';
  return !isObserving(instance) && !isRecorded;
}

/** An observing guardrail rejects nothing: what it would have rejected is served, and noted. */
export function isObserving({ module, settings }: PluginInstance): boolean {
  return module.type === 'guardrail' && (settings as GuardrailSettings).observe === true;
}

/** What a verdict without consequence is called. */
const actionOf = (instance: PluginInstance): 'observed' | 'recorded' =>
  isObserving(instance) ? 'observed' : 'recorded';

/** What is noted of a verdict. */
type Noted = Pick<Rejection, 'reason' | 'score'>;

/** Reports a verdict that ends nothing; those of a stream's guard and of its `after_request` are one. */
export function noteVerdict(
  instance: PluginInstance,
  stage: Stage,
  { reason, score }: Noted,
  exchange: LiveExchange,
  { hooks }: GuardDeps,
  action: PluginVerdict['action'] = actionOf(instance),
): void {
  if (stage === 'after_request') {
    if (exchange.plugins.noted?.has(instance)) return;
    (exchange.plugins.noted ??= new Set()).add(instance);
  }
  hooks.verdict.call({
    module: instance.module,
    stage,
    exchange,
    action,
    reason: isText(reason) ? reason : 'rejected',
    score,
  });
}

/** Reports what a stream's guard put out of sight, or would have. */
export function noteMasked(
  instance: PluginInstance,
  { masked }: StreamGuard,
  exchange: LiveExchange,
  deps: GuardDeps,
): void {
  if (masked !== undefined)
    noteVerdict(
      instance,
      'after_request',
      { reason: masked },
      exchange,
      deps,
      isObserving(instance) ? 'observed' : 'masked',
    );
}

/** The error a rejection becomes, by stage and plugin type (docs/reference/data-plane.md#rejections). */
function rejectionError(
  module: PluginModule,
  stage: Stage,
  rejection: Rejection,
  exchange: LiveExchange,
  { hooks }: Pick<GuardDeps, 'hooks'>,
): GatewayError {
  hooks.verdict.call({
    module,
    stage,
    exchange,
    action: 'rejected',
    reason: reasonOf(rejection),
    score: rejection.score,
  });
  exchange.plugins.rejectedBy = module.name;
  const reason = reasonOf(rejection);
  if (stage === 'after_request')
    return new GatewayError('response_rejected', `response rejected by ${module.name} (after_request): ${reason}`);
  const code = module.rejectsAs ?? (module.type === 'ratelimit' ? 'rate_limit_exceeded' : 'request_rejected');
  return new GatewayError(code, `request rejected by ${module.name} (before_request): ${reason}`, {
    retryAfterMs:
      code === 'rate_limit_exceeded' && countOf(rejection.retryAfterMs) > 0 ? rejection.retryAfterMs : undefined,
  });
}

/** The same of a guard that ends a stream midway. */
export function guardRejection(
  { module, rejection }: ChunkRefusal,
  exchange: LiveExchange,
  deps: GuardDeps,
): GatewayError {
  reportGuard(module, exchange, { outcome: 'rejected', reason: reasonOf(rejection), error: undefined }, deps);
  return rejectionError(module, 'after_request', rejection, exchange, deps);
}

/** Of a stream that a guard ends the run of its handler never comes: this stands for it. */
export function reportGuard(
  module: PluginModule,
  exchange: LiveExchange,
  end: Pick<StageRun, 'outcome' | 'reason' | 'error'>,
  { hooks, clock }: GuardDeps,
): void {
  const at = clock.monotonic();
  hooks.stageRan.call({ module, stage: 'after_request', exchange, startedAt: at, endedAt: at, ...end });
}

/** A rejection stays one, whatever its plugin gives for a reason. */
const reasonOf = ({ reason }: Rejection): string => (isText(reason) ? reason : 'rejected');

/** A plugin's answer counts on chat surfaces before the provider only; elsewhere it is ignored. The plugin keeps its own. */
function applyAnswer(
  { module, boundary }: PluginInstance,
  stage: Stage,
  { reply, reportedModel }: Answer,
  exchange: LiveExchange,
): void {
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
  instance: PluginInstance,
  stage: Stage,
  { body, masked }: Rewrite,
  exchange: LiveExchange,
  deps: GuardDeps,
  run: StageRun | undefined,
): void {
  const { surface } = exchange;
  const problem = stage === 'after_request' ? replyProblem(surface, body) : requestProblem(surface, body);
  if (problem !== undefined) throw new Error(`it returned a rewrite that does not fit ${surface}: ${problem}`);
  requireJson(instance.boundary, body, 'a rewrite');
  if (masked !== undefined) {
    const isApplied = hasConsequence(instance, stage, exchange);
    if (run) Object.assign(run, { outcome: isApplied ? 'ok' : actionOf(instance), reason: masked });
    noteVerdict(instance, stage, { reason: masked }, exchange, deps, isApplied ? 'masked' : actionOf(instance));
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
