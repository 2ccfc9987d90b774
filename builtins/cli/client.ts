import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { type CommandInput, UsageError } from '../../host/cli/command.ts';
import { readWhole } from '../../host/cli/read-whole.ts';
import type { Clock } from '../../host/common/clock.ts';
import { errorMessage } from '../../host/common/error-message.ts';
import { request as requestHttp } from '../../host/common/node-http.ts';
import { isFields } from '../../host/contract/json/fields.ts';
import { parseJson } from '../../host/contract/json/json.ts';
import type { CommandPlace } from '../../host/host.ts';

/** Longest time of a whole call. */
const CALL_MS = 15_000;
/** Longest answer that is read. */
const MAX_ANSWER_MIB = 64;
const DEFAULT_ADDRESS = 'http://localhost:8080';
/** What asks it, works whatever the credential is. */
const NEEDS_NO_KEY = '/health';
/** All of the answer where no route serves a path. */
const NO_ROUTE = /^404 [a-z ]+$/;
/** A shorter credential is not looked for in answers: it may stand there by accident. */
const MIN_HIDDEN = 8;

/** No HTTP answer came. */
export class Unreachable extends UsageError {
  readonly reason: string;

  constructor(url: string, cause: unknown) {
    const reason = reasonOf(cause);
    super(
      `gateway unreachable at ${url}: ${reason}; start it with "gw serve", or name its address with --gateway-url or GW_URL`,
      { cause },
    );
    this.reason = reason;
  }
}

export interface Answer {
  readonly status: number;
  readonly location: string | undefined;
  /** The version of what it holds. */
  readonly etag: string | undefined;
  /** When the gateway wrote it, by its clock. */
  readonly date: string | undefined;
  readonly text: string;
  /** Milliseconds from the call to the end of the answer. */
  readonly ms: number;
}

/** Headers of one call, beside those of every call, or in their place. */
type CallHeaders = Readonly<Record<string, string>>;

interface Address {
  readonly url: URL;
  /** Without credentials, query and a slash at its end: what may be printed. */
  readonly shown: string;
}

/** Calls a running gateway. All of what a command may say about a call that fails is written here. */
export class Client {
  readonly #address: Address;
  readonly #key: string | undefined;
  /** False for a credential that no header can carry. */
  readonly #canSendKey: boolean;
  readonly #clock: Clock;

  constructor(
    { options }: Pick<CommandInput, 'options'>,
    { variables, clock, redactor }: Pick<CommandPlace, 'variables' | 'clock' | 'redactor'>,
  ) {
    this.#address = readAddress(firstOf(options['gatewayUrl'], variables['GW_URL']) ?? DEFAULT_ADDRESS);
    this.#key = firstOf(options['apiKey'], variables['GW_API_KEY'], variables['MASTER_KEY']);
    this.#canSendKey = this.#key === undefined || /^[\x21-\x7e]+$/.test(this.#key);
    this.#clock = clock;
    if (this.#key !== undefined) redactor.register(this.#key);
  }

  get url(): string {
    return this.#address.shown;
  }

  get hasKey(): boolean {
    return this.#key !== undefined;
  }

  /** The JSON of a 2xx answer. Throws for every other status, and for an answer that is empty or not JSON. */
  async json(method: string, path: string, body?: unknown): Promise<unknown> {
    return this.#jsonOf(method, path, await this.send(method, path, body));
  }

  /** Asks for an answer that is an object. Throws for any other. */
  async object(
    method: string,
    path: string,
    body?: unknown,
    headers?: CallHeaders,
  ): Promise<Readonly<Record<string, unknown>>> {
    return this.objectOf(method, path, await this.send(method, path, body, headers));
  }

  /** The object that an answer holds. Throws for any other. */
  objectOf(method: string, path: string, answer: Answer): Readonly<Record<string, unknown>> {
    const value = this.#jsonOf(method, path, answer);
    if (!isFields(value)) throw unexpected(method, path, 'an object');
    return value;
  }

  /** Rows of a list, each an object: the answer itself, or its member `data`. */
  async rows(path: string): Promise<Readonly<Record<string, unknown>>[]> {
    const value = await this.json('GET', path);
    const rows = isFields(value) ? value['data'] : value;
    if (!Array.isArray(rows) || !rows.every(isFields)) throw unexpected('GET', path, 'a list');
    return rows;
  }

  /** A 2xx answer, with a body or without. */
  async ok(method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await this.send(method, path, body);
    this.#refuseFailure(method, path, answer);
    return answer;
  }

  /** Any answer. Throws `Unreachable` when there is none within 15 seconds. */
  async send(method: string, path: string, body?: unknown, headers: CallHeaders = {}): Promise<Answer> {
    const start = this.#clock.monotonic();
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const sent = this.open(method, path, body, headers);
    const limit = this.#clock.timer(CALL_MS, () => sent.destroy(new Error(`no answer within ${CALL_MS / 1000} s`)));
    sent.on('error', reject);
    sent.on('response', (response) => {
      readText(response).then(
        (text) =>
          resolve({
            status: response.statusCode ?? 0,
            location: response.headers.location,
            etag: response.headers.etag,
            date: response.headers.date,
            text: this.#withoutKey(text),
            ms: Math.round(this.#clock.monotonic() - start),
          }),
        reject,
      );
    });
    try {
      return await promise;
    } catch (error) {
      throw this.unreachable(error);
    } finally {
      limit.cancel();
    }
  }

  /** Sends a call and leaves its answer to the caller; it has no limit in time. */
  open(method: string, path: string, body?: unknown, headers: CallHeaders = {}): ClientRequest {
    if (!this.#canSendKey && path !== NEEDS_NO_KEY)
      throw new UsageError(
        'the credential holds a character that no header can carry; see --api-key, GW_API_KEY and MASTER_KEY',
      );
    const { protocol, hostname, port, pathname } = this.#address.url;
    const text = body === undefined ? undefined : JSON.stringify(body);
    const request = (protocol === 'https:' ? requestHttps : requestHttp)({
      method,
      host: hostname.replace(/^\[|\]$/g, ''),
      port,
      path: `${pathname.replace(/\/+$/, '')}${path}`,
      agent: false,
      headers: {
        'Content-Type': 'application/json',
        ...(text !== undefined && { 'Content-Length': Buffer.byteLength(text) }),
        Accept: 'application/json',
        ...headers,
        ...(this.#key !== undefined && this.#canSendKey && { Authorization: `Bearer ${this.#key}` }),
      },
    });
    return request.end(text);
  }

  unreachable(error: unknown): Unreachable {
    return new Unreachable(this.url, error);
  }

  /** What a status outside 200–299 means, and what to do about it. */
  refusal(
    method: string,
    path: string,
    { status, location, text }: Pick<Answer, 'status' | 'location' | 'text'>,
  ): UsageError {
    const isRedirect = status >= 300 && status < 400;
    const said = isRedirect
      ? redirectText(status, location, this.#address.url)
      : (messageIn(text) ?? plainText(status, path, text));
    return new UsageError(`${callName(method, path)}: ${said}${this.#adviceFor(status)}`);
  }

  #adviceFor(status: number): string {
    if (status === 401)
      return this.hasKey
        ? '; the credential given is unknown, revoked or expired'
        : '; give a credential with --api-key, GW_API_KEY or MASTER_KEY';
    return status === 403 ? '; the scope of this credential is too small, use one with the scope admin' : '';
  }

  #refuseFailure(method: string, path: string, answer: Answer): void {
    if (answer.status < 200 || answer.status > 299) throw this.refusal(method, path, answer);
  }

  #jsonOf(method: string, path: string, answer: Answer): unknown {
    this.#refuseFailure(method, path, answer);
    const { text } = answer;
    if (text.trim() === '') throw new UsageError(`${callName(method, path)}: the answer has no body`);
    try {
      return parseJson(text);
    } catch (cause) {
      throw new UsageError(`${callName(method, path)}: the answer is not JSON; is ${this.url} a gateway?`, { cause });
    }
  }

  /** Something in between may write back what it was sent. */
  #withoutKey(text: string): string {
    return this.#key === undefined || this.#key.length < MIN_HIDDEN ? text : text.replaceAll(this.#key, '[REDACTED]');
  }
}

/** One segment of a path; a name of dots would else lead elsewhere. */
export const segment = (value: string): string =>
  /^\.+$/.test(value) ? value.replaceAll('.', '%2E') : encodeURIComponent(value);

const firstOf = (...given: readonly (string | boolean | undefined)[]): string | undefined =>
  given.map((one) => (typeof one === 'string' ? one.trim() : '')).find((one) => one !== '');

function readAddress(text: string): Address {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new UsageError(`"${text}" is not the address of a gateway; write it as ${DEFAULT_ADDRESS}`);
  return { url, shown: `${url.origin}${url.pathname.replace(/\/+$/, '')}` };
}

/** A call in messages: without the query. */
const callName = (method: string, path: string): string => `${method} ${path.replace(/\?.*/, '')}`;

const unexpected = (method: string, path: string, wanted: string): UsageError =>
  new UsageError(`${callName(method, path)}: the answer is not ${wanted}, as that of a gateway would be`);

export const readText = (response: IncomingMessage): Promise<string> =>
  readWhole(response, 'the answer', MAX_ANSWER_MIB);

/** `error.message` of the envelope, in one line. */
function messageIn(text: string): string | undefined {
  try {
    const body = parseJson(text);
    const message = isFields(body) && isFields(body['error']) ? body['error']['message'] : undefined;
    return typeof message === 'string' && message !== '' ? message.replace(/\s+/g, ' ') : undefined;
  } catch {
    return undefined;
  }
}

/** What the listener for models says of every admin route; another server may say it too. */
function plainText(status: number, path: string, text: string): string {
  if (status !== 404 || !path.startsWith('/admin') || !NO_ROUTE.test(text.trim())) return `HTTP ${status}`;
  return `${text.trim()}; the admin API of this gateway may be on another port, see GW_ADMIN_PORT; set GW_URL`;
}

/** Path, query and user of the target may hold secrets. */
function redirectText(status: number, location: string | undefined, from: URL): string {
  const target = location !== undefined && URL.canParse(location, from) ? new URL(location, from) : undefined;
  if (!target) return `HTTP ${status}: redirects are not followed`;
  const place = `${target.protocol}//${target.host}`;
  return `HTTP ${status}: redirects are not followed, this one leads to ${place}${target.host === from.host ? ' (same host)' : ''}`;
}

/** Node tries several addresses of a name, and says nothing but their errors. */
function reasonOf(error: unknown): string {
  const [first] = error instanceof AggregateError ? (error.errors as readonly unknown[]) : [error];
  const code = (first as NodeJS.ErrnoException | undefined)?.code;
  if (code === 'ECONNREFUSED') return 'the connection was refused';
  if (code === 'ENOTFOUND') return 'there is no such host';
  return errorMessage(first ?? error).replace(/\s+/g, ' ');
}
