import { expect } from 'chai';
import { ERRORS, type ErrorCode } from '../../../host/contract/index.ts';
import { eventsOf, type FaultName, type Played } from '../../kit/index.ts';
import type { Ask, Outcome } from './surfaces.ts';

/** What a client may see of one attempt that nothing hides. */
export type Verdict =
  | { readonly kind: 'answer' }
  | {
      readonly kind: 'error';
      readonly code: ErrorCode;
      readonly status: number;
      readonly retryAfter: string | undefined;
      readonly message?: string | undefined;
    }
  /** A stream that had begun ends with this event. */
  | { readonly kind: 'broken'; readonly code: 'stream_error' | 'stream_timeout' }
  /** Bytes that had begun break off. */
  | { readonly kind: 'cut' };

export const STANDARD: Readonly<Partial<Record<number, ErrorCode>>> = {
  400: 'invalid_request',
  422: 'invalid_request',
  401: 'upstream_auth_error',
  402: 'upstream_auth_error',
  403: 'upstream_auth_error',
  404: 'model_not_found',
  408: 'upstream_timeout',
  413: 'request_too_large',
  504: 'upstream_timeout',
  429: 'rate_limit_exceeded',
  451: 'invalid_request',
};

/** The answer to an upstream's status (docs/reference/data-plane.md#upstream-statuses). */
export function errorFor(upstreamStatus: number, hintSeconds?: number): Verdict & { kind: 'error' } {
  const code = STANDARD[upstreamStatus] ?? 'upstream_error';
  const status = code === 'invalid_request' && upstreamStatus !== 451 ? upstreamStatus : ERRORS[code].status;
  const retryAfter = hintSeconds === undefined ? (status === 429 ? '1' : undefined) : String(hintSeconds);
  return { kind: 'error', code, status, retryAfter };
}

const FAILED = errorFor(500);
const TIMED_OUT: Verdict = { kind: 'error', code: 'gateway_timeout', status: 504, retryAfter: undefined };

/** Faults that change nothing for the client, on any surface. */
const HARMLESS = new Set<FaultName>([
  'ok',
  'slow-headers',
  'slow-chunks',
  'split-chunks',
  'noise',
  'odd-lines',
  'gzip',
  'early-hints',
  'continue',
  'trailing-bytes',
  'closes-after',
]);
const SPOKEN = new Set<FaultName>(['status', 'rate-limit', 'error-page', 'slow-error', 'cut-error', 'redirect']);
const NO_ANSWER = new Set<FaultName>([
  'reset-before',
  'reset-in-head',
  'two-lengths',
  'broken-gzip',
  'huge-headers',
  'not-http',
  'error-in-200',
]);
const BREAKS = new Set<FaultName>([
  'reset-in-body',
  'close-in-body',
  'length-too-short',
  'error-event',
  'no-end',
  'long-line',
]);
const SILENT = new Set<FaultName>(['silence', 'endless', 'stall-in-error']);

/** The error map, fault by fault. */
export function verdictOf({ step: { fault }, answer, moves }: Played): Verdict {
  const { surface, isStream } = answer ?? { surface: 'chat', isStream: false };
  if (HARMLESS.has(fault)) return { kind: 'answer' };
  if (SPOKEN.has(fault)) return errorFor(statusIn(moves), hintIn(moves));
  if (NO_ANSWER.has(fault)) return FAILED;
  if (fault === 'endless' && surface === 'speech') return { kind: 'cut' };
  if (SILENT.has(fault)) return TIMED_OUT;
  if (fault === 'stall')
    return isStream ? { kind: 'broken', code: 'stream_timeout' } : surface === 'speech' ? { kind: 'cut' } : TIMED_OUT;
  if (fault === 'other-status') return ['chat', 'images', 'rerank'].includes(surface) ? FAILED : { kind: 'answer' };
  if (surface === 'speech') return speechVerdict(fault);
  if (surface === 'transcriptions' || surface === 'translations') {
    if (fault === 'garbage') return { kind: 'answer' }; // a transcript may be plain text
  }
  if (isStream) {
    if (BREAKS.has(fault)) return { kind: 'broken', code: 'stream_error' };
    return fault === 'length-too-long' ? { kind: 'answer' } : FAILED;
  }
  return fault === 'long-line' ? { kind: 'answer' } : FAILED;
}

/** Bytes mean nothing to the gateway: what it can see is that there are none, that they break off, or that they are an error's. */
function speechVerdict(fault: FaultName): Verdict {
  if (fault === 'garbage' || fault === 'long-line' || fault === 'length-too-short') return { kind: 'answer' };
  return fault === 'reset-in-body' || fault === 'close-in-body' || fault === 'length-too-long'
    ? { kind: 'cut' }
    : FAILED;
}

const headOf = (moves: Played['moves']): string => {
  const first = moves.find((move) => move.do === 'write');
  return first?.do === 'write' ? first.bytes.toString('latin1') : '';
};
const statusIn = (moves: Played['moves']): number => Number(/^HTTP\/1\.1 (\d+)/.exec(headOf(moves))?.[1]);

function hintIn(moves: Played['moves']): number | undefined {
  const [, name, value] = /^(retry-after-ms|retry-after|x-ratelimit-reset): (\d+)\r$/m.exec(headOf(moves)) ?? [];
  return name === undefined ? undefined : Math.ceil(Number(value) / (name === 'retry-after-ms' ? 1000 : 1));
}

/** What an outcome is, in the same words. */
export function readOutcome(ask: Ask, outcome: Outcome): Verdict {
  const { status, headers, body, isCut } = outcome;
  if (status !== 200) return readError(outcome);
  if (ask === 'stream') {
    expect(headers['content-type']).to.equal('text/event-stream');
    const events = eventsOf(body.toString('utf8'));
    const last: unknown = events.at(-1);
    if (last === '[DONE]') return { kind: 'answer' };
    const { code } =
      (last as { error?: { code: 'stream_error' | 'stream_timeout' } }).error ??
      expect.fail(`a stream that just ends: ${body.toString('utf8').slice(-300)}`);
    expect(isCut, 'the error event is the end of the body').to.equal(false);
    return { kind: 'broken', code };
  }
  if (isCut) expect(ask, 'only bytes on their way may break off').to.equal('speech');
  return { kind: isCut ? 'cut' : 'answer' };
}

function readError({ status, headers, body }: Outcome): Verdict {
  expect(headers['content-type']).to.equal('application/json');
  const envelope = JSON.parse(body.toString('utf8')) as { error: { message: string; type: string; code: ErrorCode } };
  expect(Object.keys(envelope)).to.deep.equal(['error']);
  const { message, type, code, ...more } = envelope.error;
  expect(more).to.deep.equal({});
  expect(type).to.equal(ERRORS[code].type);
  expect(message)
    .to.be.a('string')
    .and.not.equal('')
    .and.not.match(/internal|ECONN|127\.0\.0\.1|socket/);
  if (status !== 400 && status !== 422) expect(message).to.not.include('the lab says no');
  return { kind: 'error', code, status, retryAfter: headers['retry-after'] as string | undefined };
}

/** An answer that is one must hold what the upstream said. */
export function expectWhole(ask: Ask, { body }: Outcome, { step: { fault }, answer }: Played): void {
  if (fault === 'garbage' || fault === 'length-too-short') return;
  const sent = answer?.pieces ?? [];
  const text = body.toString('utf8');
  if (ask === 'speech') expect(body.equals(Buffer.concat([...sent])), 'the same bytes').to.equal(true);
  else if (ask === 'stream')
    expect(textOf(eventsOf(text))).to.equal(textOf(eventsOf(Buffer.concat([...sent]).toString('utf8'))));
  else expect(essence(JSON.parse(text))).to.deep.equal(essence(JSON.parse(Buffer.concat([...sent]).toString('utf8'))));
}

const textOf = (events: readonly { choices?: readonly { delta?: { content?: string } }[] }[]): string =>
  events.flatMap(({ choices }) => choices?.map(({ delta }) => delta?.content ?? '') ?? []).join('');

/** What of an answer must survive on its way. */
function essence(reply: any): unknown {
  const { choices, data, results, text } = reply;
  const first = choices?.[0];
  return (
    first?.message?.content ??
    first?.text ??
    text ??
    data?.map((item: any) => item.embedding ?? item.b64_json) ??
    results?.map((item: any) => item.index ?? item.flagged)
  );
}
