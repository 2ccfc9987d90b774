import type { Span } from '@opentelemetry/api';
import { type ExchangeOutcome, SURFACES } from '../../../host/contract/index.ts';
import { errorType } from '../../../host/pipeline/error-type.ts';
import type { Attempt } from '../../../host/pipeline/attempts/attempt.ts';
import type { CircuitMove, Departure, FailedTry, StageRun } from '../../../host/pipeline/hooks.ts';
import type { LiveExchange } from '../../../host/pipeline/live-exchange.ts';
import type { ToolCallRun } from '../../../host/pipeline/tool-servers.ts';
import { inputMessages, outputMessages } from './content.ts';
import { endFacts, startFacts } from './facts.ts';
import { addEvent, fail, MOST_CHARACTERS, type Privacy, setAttributes } from './privacy.ts';
import { conventionalName } from './provider-name.ts';
import { hrTime, type Tracer } from './tracer.ts';

/** The spans of one request that is recorded. */
interface Recording {
  readonly root: Span;
  /** The span of the provider call that is under way. */
  call: Span | undefined;
  /** Monotonic milliseconds at which the last attempt ended. */
  settledAt: number | undefined;
}

export interface RequestSpansOptions {
  readonly tracer: Tracer;
  readonly privacy: Privacy;
  readonly now: () => number;
  /** Random ids of spans that are not recorded. */
  readonly spanId: () => string;
  readonly strategy: string;
  readonly version: string;
  readonly circuitOf: (virtualKey: string) => string | undefined;
}

/** Makes the spans of requests from what the pipeline's hooks tell. A trace that is not sampled costs a look at its id. See docs/observability.md#traces. */
export class RequestSpans {
  readonly #options: RequestSpansOptions;
  readonly #recordings = new WeakMap<LiveExchange, Recording>();

  constructor(options: RequestSpansOptions) {
    this.#options = options;
  }

  begin(exchange: LiveExchange): Recording | undefined {
    const { tracer, privacy, strategy, version } = this.#options;
    const { id, trace, startedAt } = exchange;
    if (!tracer.isSampled(id, trace)) return undefined;
    const root = tracer.root(id, trace, { name: 'gateway.request', kind: 'SERVER', at: startedAt });
    const recording: Recording = { root, call: undefined, settledAt: undefined };
    this.#recordings.set(exchange, recording);
    setAttributes(root, startFacts(exchange, strategy, version), privacy);
    if (privacy.level === 'full') {
      exchange.delivery.keepsText = true;
      const asked = inputMessages(exchange);
      if (asked !== undefined) root.setAttribute('gen_ai.input.messages', asked);
    }
    return recording;
  }

  /** A request leaves for a provider: its span's id goes with it, whether it is recorded or not. */
  depart(departure: Departure): void {
    const { attempt, request } = departure;
    const { exchange } = attempt;
    if (isForwarded(exchange)) return; // it arrives as the client sent it
    const recording = this.#recordings.get(exchange);
    const spanId = recording ? this.#beginCall(recording, departure) : this.#options.spanId();
    const state = exchange.trace?.state;
    const baggage = baggageOf(exchange);
    departure.request = {
      ...request,
      headers: {
        ...request.headers,
        traceparent: `00-${exchange.id}-${spanId}-${recording ? '01' : '00'}`,
        ...(state !== undefined && { tracestate: state }),
        ...(baggage !== undefined && { baggage }),
      },
    };
  }

  settle(attempt: Attempt): void {
    const { exchange, error, target, number, calledAt } = attempt;
    const recording = this.#recordingOf(exchange);
    if (!recording) return;
    recording.settledAt = this.#options.now();
    if (recording.call) {
      const { visit } = attempt;
      if (error && visit?.class !== undefined) recording.call.setAttribute('gw.routing.credential_class', visit.class);
      this.#endCall(recording, exchange, error);
    } else if (error && !(calledAt !== undefined && SURFACES[exchange.surface].isForwarded))
      this.#event(exchange, 'gw.attempt.refused', {
        'gw.routing.target_key': target.virtualKey,
        'gw.routing.attempt': number,
        'error.type': errorType(error),
      });
  }

  ran({ module, stage, exchange, startedAt, endedAt, outcome, reason, error }: StageRun): void {
    const { tracer, privacy } = this.#options;
    const root = this.#recordingOf(exchange)?.root;
    if (!root) return;
    const span = tracer.child(root, {
      name: `plugin.${stage}.${module.name}`,
      kind: 'INTERNAL',
      at: unixTime(exchange, startedAt),
    });
    const isPlain = outcome === 'ok' || outcome === 'rejected' || outcome === 'error';
    setAttributes(
      span,
      {
        'gw.plugin.name': module.name,
        'gw.plugin.kind': module.type,
        'gw.plugin.stage': stage,
        'gw.plugin.outcome': isPlain ? outcome : 'ok',
        'gw.plugin.verdict': isPlain ? undefined : outcome,
        'gw.plugin.reason': reason && (privacy.level === 'none' ? 'redacted' : reason),
      },
      privacy,
    );
    const end = hrTime(unixTime(exchange, endedAt));
    if (error !== undefined) fail(span, error, end, privacy);
    span.end(end);
  }

  called({ exchange, server, tool, startedAt, endedAt, error, errorText }: ToolCallRun): void {
    const { tracer, privacy } = this.#options;
    const root = this.#recordingOf(exchange)?.root;
    if (!root) return;
    const span = tracer.child(root, { name: 'mcp.call_tool', kind: 'CLIENT', at: unixTime(exchange, startedAt) });
    setAttributes(
      span,
      { 'gw.mcp.server': server, 'gw.mcp.tool': tool, 'gw.mcp.latency_ms': endedAt - startedAt },
      privacy,
    );
    const end = hrTime(unixTime(exchange, endedAt));
    const failure = error ?? (privacy.level === 'full' ? errorText?.slice(0, MOST_CHARACTERS) : errorText); // else it is cut once it is redacted
    if (failure !== undefined) fail(span, failure, end, privacy);
    span.end(end);
  }

  tried({ exchange, target, tries, next, error }: FailedTry): void {
    if (next.step === 'stop') return;
    if (next.step === 'credential') {
      const from = nameAt(this.#options.privacy, next.from);
      this.#event(exchange, 'gw.credential.switched', {
        'gw.routing.target_key': target.virtualKey,
        from,
        class: next.class,
      });
      return;
    }
    this.#event(exchange, next.step === 'again' ? 'gw.retry' : 'gw.failover', {
      'gw.routing.target_key': target.virtualKey,
      'gw.routing.tries': tries,
      'error.type': errorType(error),
      ...(next.step === 'again' && { 'gw.retry.wait_ms': next.waitMs }),
    });
  }

  moved({ from, to, attempt: { exchange, target } }: CircuitMove): void {
    if (to === 'open') this.#recordingOf(exchange)?.root.setAttribute('gw.circuit_breaker.opened', true);
    this.#event(exchange, 'gw.circuit_breaker.moved', {
      'gw.routing.target_key': target.virtualKey,
      'gw.circuit_breaker.from': from,
      'gw.circuit_breaker.to': to,
    });
  }

  finish(exchange: LiveExchange, outcome: ExchangeOutcome): void {
    const { privacy } = this.#options;
    const recording = this.#recordingOf(exchange);
    if (!recording) return;
    this.#recordings.delete(exchange);
    const { root, settledAt } = recording;
    this.#endCall(recording, exchange, undefined); // one that outlived its attempt
    setAttributes(root, endFacts(exchange, outcome, settledAt), privacy);
    const content = privacy.level === 'full' ? outputMessages(exchange) : undefined;
    if (content !== undefined) root.setAttribute('gen_ai.output.messages', content);
    const end = hrTime(exchange.startedAt + exchange.elapsedMs());
    if (exchange.error) fail(root, exchange.error, end, privacy);
    root.end(end);
  }

  /** What is not routed does not come by `prepare`: its recording begins with the first event. */
  #recordingOf(exchange: LiveExchange): Recording | undefined {
    return this.#recordings.get(exchange) ?? (isForwarded(exchange) ? this.begin(exchange) : undefined);
  }

  #beginCall(recording: Recording, { attempt, request: { method, url } }: Departure): string {
    const { tracer, now, privacy, circuitOf } = this.#options;
    const { exchange, target, provider, credential, number, upstreamModel, via } = attempt;
    if (recording.call) this.#endCall(recording, exchange, undefined); // a provider that makes several calls has had its answer
    const span = tracer.child(recording.root, { name: method, kind: 'CLIENT', at: unixTime(exchange, now()) });
    const { hostname, port, protocol, origin, pathname } = new URL(url);
    setAttributes(
      span,
      {
        'http.request.method': method,
        'url.full': `${origin}${pathname}`,
        'server.address': hostname,
        'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
        'gen_ai.provider.name': conventionalName(provider.module),
        'gen_ai.request.model': upstreamModel,
        'gateway.upstream.api': via?.via,
        'gw.routing.target_key': target.virtualKey,
        'gw.routing.attempt': number,
        'gw.routing.credential': credential && nameAt(privacy, credential.name),
        'gw.circuit_breaker.state': circuitOf(target.virtualKey),
      },
      privacy,
    );
    recording.call = span;
    attempt.onReply = (status) => {
      if (recording.call === span) span.setAttribute('http.response.status_code', status);
    };
    return span.spanContext().spanId;
  }

  #endCall(recording: Recording, exchange: LiveExchange, error: Attempt['error']): void {
    const { call } = recording;
    if (!call) return;
    recording.call = undefined;
    const end = hrTime(unixTime(exchange, this.#options.now()));
    if (error) {
      call.setAttribute('error.type', errorType(error));
      if (error.fault?.reason !== undefined) call.setAttribute('fault.reason', error.fault.reason);
      fail(call, error, end, this.#options.privacy);
    }
    call.end(end);
  }

  #event(exchange: LiveExchange, name: string, attributes: Readonly<Record<string, string | number>>): void {
    const recording = this.#recordingOf(exchange);
    if (recording)
      addEvent(
        recording.root,
        name,
        hrTime(unixTime(exchange, this.#options.now())),
        attributes,
        this.#options.privacy,
      );
  }
}

/** A name of the operator's, as far as the level shows it. */
const nameAt = ({ level }: Privacy, name: string): string => (level === 'none' ? 'redacted' : name);

/** Sent on as it is, or to a tool server. */
function isForwarded({ surface }: LiveExchange): boolean {
  return SURFACES[surface].translator === undefined;
}

/** Spans are dated by the clock that never jumps, from the request's arrival on. */
function unixTime({ startedAt, arrivedAt }: LiveExchange, monotonic: number): number {
  return startedAt + (monotonic - arrivedAt);
}

/** Longest list that must be passed on. Source: W3C Baggage, 3.3.2, www.w3.org/TR/baggage, read 2026-11-22. */
const MAX_BAGGAGE = 8192;

function baggageOf({ clientHeaders }: LiveExchange): string | undefined {
  const baggage = clientHeaders?.['baggage'];
  return typeof baggage === 'string' && baggage.length <= MAX_BAGGAGE && /^[\x20-\x7e]+$/.test(baggage)
    ? baggage
    : undefined;
}
