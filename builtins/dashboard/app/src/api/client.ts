import { readJson } from '../lib/json.ts';
import type { SessionStore } from '../session/session-store.ts';
import { ApiError, errorOf, tooLate, unreachable } from './api-error.ts';

const DEADLINE_SECONDS = 30;
/** Clocks that are less apart are taken for the same: answers take their time, and `Date` counts seconds. */
const SAME_CLOCK_MS = 60_000;

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Sent as JSON. */
  readonly body?: unknown;
  /** JSON as it was typed: what is written twice in it reaches the gateway, which refuses it. */
  readonly written?: string;
  /** A form, for uploads: the browser names its type. */
  readonly form?: FormData;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** In place of the session's token. */
  readonly bearer?: string;
  /** Statuses besides 2xx whose body is data. */
  readonly accepts?: readonly number[];
  /** Whether the call may take as long as it takes. */
  readonly hasNoDeadline?: boolean;
}

export interface ApiClientDeps {
  /** Origin of the gateway; empty for the one of this page. */
  readonly base: string;
  /** The origin of this page. */
  readonly pageOrigin: string;
  readonly session: SessionStore;
  readonly fetch: typeof fetch;
}

/** Calls the gateway's HTTP interface with the token of the session, which it ends when the gateway no longer knows it. */
export class ApiClient {
  readonly #deps: ApiClientDeps;
  /** How far the gateway's clock is ahead of this machine's, in milliseconds. */
  #aheadMs = 0;

  constructor(deps: ApiClientDeps) {
    this.#deps = deps;
  }

  /** Where the gateway is, for texts that name it. */
  get origin(): string {
    return this.#deps.base || this.#deps.pageOrigin;
  }

  /** The time at the gateway in Unix milliseconds, as its last answer says it: what is asked for and shown is by its clock. */
  now(): number {
    return Date.now() + this.#aheadMs;
  }

  /** The answer as data. Throws an `ApiError` for every other outcome, and the signal's reason when the caller gave up. */
  async json<Answer>(path: string, call: Call = {}): Promise<Answer> {
    return (await this.answered(path, call)).data as Answer;
  }

  /** Asks, and gives back the answer with its headers. */
  async answered(path: string, call: Call = {}): Promise<{ readonly data: unknown; readonly headers: Headers }> {
    const token = this.#deps.session.current?.token;
    return this.#within(call, async (signal) => {
      const response = await this.#send(path, call, call.bearer ?? token, signal);
      const text = await response.text();
      if (!isData(response, call)) throw this.#refused(response, text, call.bearer === undefined ? token : undefined);
      const value = text === '' ? undefined : readJson(text);
      if (text !== '' && value === undefined)
        throw new ApiError(response.status, 'The gateway answered with something that is not JSON.');
      return { data: value, headers: response.headers };
    });
  }

  /** The response once its headers are there; the deadline ends with them. */
  async open(path: string, call: Call = {}): Promise<Response> {
    const token = this.#deps.session.current?.token;
    return this.#within(call, async (signal) => {
      const response = await this.#send(path, call, call.bearer ?? token, signal);
      if (!isData(response, call))
        throw this.#refused(response, await response.text(), call.bearer === undefined ? token : undefined);
      return response;
    });
  }

  async #send(path: string, call: Call, bearer: string | undefined, signal: AbortSignal): Promise<Response> {
    const { base, fetch } = this.#deps;
    if (!/^\/(?![/\\])/.test(path)) throw new ApiError(0, `"${path}" is not a path of the gateway.`);
    const headers = {
      ...(bearer === undefined ? {} : { Authorization: `Bearer ${bearer}` }),
      ...(call.body === undefined && call.written === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...call.headers,
    };
    const body = call.form ?? call.written ?? (call.body === undefined ? undefined : JSON.stringify(call.body));
    const response = await fetch(`${base}${path}`, {
      method: call.method ?? 'GET',
      headers,
      ...(body === undefined ? {} : { body }),
      signal,
      cache: 'no-store',
      credentials: 'omit',
    });
    const aheadMs = Date.parse(response.headers.get('date') ?? '') - Date.now(); // not a number where the answer does not say, or may not be asked
    if (!Number.isNaN(aheadMs)) this.#aheadMs = Math.abs(aheadMs) < SAME_CLOCK_MS ? 0 : aheadMs;
    return response;
  }

  /** Runs a call under its deadline and gives its failure words. */
  async #within<Answer>(
    { signal, hasNoDeadline }: Call,
    run: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> {
    const late = new AbortController();
    const timer = hasNoDeadline ? undefined : setTimeout(() => late.abort(), DEADLINE_SECONDS * 1000);
    try {
      return await run(signal ? AbortSignal.any([signal, late.signal]) : late.signal);
    } catch (error) {
      if (signal?.aborted) throw new DOMException('The call was given up.', 'AbortError');
      if (late.signal.aborted) throw tooLate(DEADLINE_SECONDS);
      throw error instanceof ApiError ? error : unreachable();
    } finally {
      clearTimeout(timer);
    }
  }

  /** `token` is that of the session, when the call was made with it. */
  #refused({ status }: Response, text: string, token: string | undefined): ApiError {
    const { session } = this.#deps;
    if (status === 401 && token !== undefined) session.lapse(token);
    if (status === 403 && token !== undefined) session.doubtScopes();
    return errorOf(status, text);
  }
}

function isData({ ok, status }: Response, { accepts }: Call): boolean {
  return ok || (accepts?.includes(status) ?? false);
}
