/** Reads what an error body says, in any of the shapes vendors use. What it means is `fault-words.ts`. See docs/reference/data-plane.md#reading-an-error-body. */
import { isUtf8 } from 'node:buffer';
import { type Fields, isFields, isText, tryParseJson } from '../contract/index.ts';

/** What a body says, before it is known what it means. */
export interface SaidFault {
  readonly message?: string | undefined;
  /** Words for programs, in the order in which they count. */
  readonly codes: readonly string[];
  /** The member of the request that is blamed. */
  readonly param?: string | undefined;
  /** A status of HTTP that the body states. */
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  /** Said by a service behind the one that answered. */
  readonly isRelayed?: boolean;
}

/** Larger bodies are not read. */
export const MAX_BODY_BYTES = 256 * 1024;
/** Errors inside of errors that are opened, and the length of a text in which one may stand. */
const MAX_LEVELS = 3;
const MAX_INNER = 64 * 1024;
/** Items of a list that are looked at, and the length of a code. */
const MAX_ITEMS = 32;
const MAX_CODE = 128;
/** Stands for a list of what a moderation found, which comes without a code. */
export const MODERATED = 'metadata.reasons';

const NOTHING: SaidFault = Object.freeze({ codes: [] });

/** What the bytes of an error body say; nothing where they are not JSON. */
export function readFaultBytes(bytes: Uint8Array): SaidFault {
  if (bytes.length > MAX_BODY_BYTES || !isUtf8(bytes)) return NOTHING;
  return readFault(tryParseJson(withoutMark(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString())));
}

/** What a body says that is parsed already. */
export function readFault(body: unknown): SaidFault {
  return readAt(body, 0);
}

/** The part of a frame or of a whole answer that says that it failed; `undefined` for anything healthy, `error: null` and `error: {}` included. */
export function failureIn(frame: unknown): unknown {
  if (Array.isArray(frame)) return frame.length === 1 && isFields(frame[0]) ? failureIn(frame[0]) : undefined;
  if (!isFields(frame)) return undefined;
  const { error, choices } = frame;
  if (isFailure(error)) return frame;
  const [first]: readonly unknown[] = Array.isArray(choices) ? choices : [];
  return isFields(first) && isFailure(first['error']) ? { error: first['error'] } : undefined; // OpenRouter says there what broke an answer off
}

function isFailure(error: unknown): boolean {
  if (error === undefined || error === null || error === '') return false;
  if (typeof error === 'string') return true;
  const { message, status } = readFault({ error });
  return message !== undefined || status !== undefined;
}

function readAt(value: unknown, level: number): SaidFault {
  const body: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (!isFields(body)) return NOTHING;
  const own: SaidFault = {
    message: messageOf(body),
    codes: codesOf(body),
    param: memberText(body['error'], 'param') ?? memberText(body, 'param'),
    status: statusOf(body),
    retryAfterMs: waitOf(body),
  };
  const inner = level < MAX_LEVELS ? innerFault(body, level + 1) : undefined;
  return inner ? merged(inner, own) : own;
}

/** What a service behind this one said, or this one in one more wrapping. */
function innerFault({ error, detail }: Fields, level: number): SaidFault | undefined {
  const { metadata, message, error: wrapped } = isFields(error) ? error : ({} as Fields);
  const raw = isFields(metadata) ? metadata['raw'] : undefined;
  const relayed = isFields(raw) ? readAt(raw, level) : (innerText(raw, level) ?? plain(raw));
  if (relayed) return { ...relayed, isRelayed: true };
  if (isFields(error) && isFields(wrapped) && textOf(message) === undefined) return readAt(error, level);
  return innerText(error, level) ?? innerText(message, level) ?? innerText(detail, level);
}

/** The JSON in a text, if it has a message. */
function innerText(text: unknown, level: number): SaidFault | undefined {
  if (typeof text !== 'string' || text.length > MAX_INNER || !/^\s{0,64}[[{]/.test(text)) return undefined;
  const said = readAt(tryParseJson(text), level);
  return said.message === undefined ? undefined : said;
}

function plain(raw: unknown): SaidFault | undefined {
  const message = textOf(raw);
  return message === undefined || tryParseJson(message) !== undefined ? undefined : { message, codes: [] };
}

const merged = (inner: SaidFault, own: SaidFault): SaidFault => ({
  message: inner.message ?? own.message,
  codes: [...inner.codes, ...own.codes],
  param: inner.param ?? own.param,
  status: inner.status ?? own.status,
  retryAfterMs: inner.retryAfterMs ?? own.retryAfterMs,
  isRelayed: inner.isRelayed === true || own.isRelayed === true,
});

function messageOf({
  error,
  errors,
  detail,
  message,
  msg,
  Message,
  base_resp: base,
  title,
}: Fields): string | undefined {
  return (
    textOf(error) ??
    memberText(error, 'message', 'error') ??
    firstText(error) ??
    firstText(errors) ??
    textOf(detail) ??
    listText(detail) ??
    memberText(detail, 'message', 'error') ??
    textOf(message) ??
    wrappedText(message) ??
    textOf(msg) ??
    textOf(Message) ??
    memberText(base, 'status_msg') ??
    textOf(title)
  );
}

function codesOf(body: Fields): readonly string[] {
  const error = fieldsOf(body['error']);
  const details = itemsOf(error['details']);
  const found = [
    error['code'],
    error['type'],
    body['code'],
    body['type'],
    body['reason'],
    error['status'],
    ...details.map((item) => fieldsOf(item)['reason']),
    fieldsOf(error['details'])['error_code'],
    fieldsOf(body['details'])['error_code'],
    fieldsOf(error['innererror'] ?? error['inner_error'])['code'],
    fieldsOf(body['base_resp'])['status_code'],
    itemsOf(fieldsOf(error['metadata'])['reasons']).length > 0 ? MODERATED : undefined,
  ];
  return found.flatMap((code) => {
    const text = typeof code === 'number' ? String(code) : code;
    return isText(text) && text.length <= MAX_CODE ? [text] : [];
  });
}

/** A status of connections, which a vendor has as the code of a refusal of content. Source: platform.xiaomimimo.com, "Error codes", 2026-11-26. */
const NO_STATUS = 421;

function statusOf({ error }: Fields): number | undefined {
  const { code } = fieldsOf(error);
  const status = typeof code === 'number' || (typeof code === 'string' && /^\d{3}$/.test(code)) ? Number(code) : NaN;
  return Number.isInteger(status) && status >= 400 && status <= 599 && status !== NO_STATUS ? status : undefined;
}

/** Seconds as a number, or a duration of Google's. */
function waitOf(body: Fields): number | undefined {
  const error = fieldsOf(body['error']);
  const waits = [body['retry_after'], error['retry_after'], fieldsOf(error['metadata'])['retry_after']].map(secondsMs);
  const durations = itemsOf(error['details']).map((item) => durationMs(fieldsOf(item)['retryDelay']));
  return [...waits, ...durations].find((wait) => wait !== undefined);
}

const DAY_S = 24 * 3600;

function secondsMs(value: unknown): number | undefined {
  const seconds = typeof value === 'string' && /^\d{1,6}(?:\.\d{1,9})?$/.test(value) ? Number(value) : value;
  return typeof seconds === 'number' && seconds > 0 && seconds <= DAY_S ? Math.ceil(seconds * 1000) : undefined;
}

/** `34s`, `1.5s`; `undefined` for anything else, and for no wait at all. */
function durationMs(value: unknown): number | undefined {
  const seconds = typeof value === 'string' ? Number(/^(\d{1,6}(?:\.\d{1,9})?)s$/.exec(value)?.[1]) : NaN;
  return seconds > 0 ? Math.ceil(seconds * 1000) : undefined;
}

const NO_FIELDS: Fields = Object.freeze({});
const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : NO_FIELDS);
const itemsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value.slice(0, MAX_ITEMS) : []);

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;

function memberText(value: unknown, ...names: readonly string[]): string | undefined {
  if (!isFields(value)) return undefined;
  for (const name of names) {
    const text = textOf(value[name]);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** The first of a list of errors: a text, or its message. */
function firstText(value: unknown): string | undefined {
  if (!Array.isArray(value)) return undefined;
  const [first]: readonly unknown[] = value;
  return textOf(first) ?? memberText(first, 'message');
}

/** Mistral wraps what its validation says of a body once more. Source: its 422 answers as printed by its callers on GitHub, read 2026-11-22. */
function wrappedText(value: unknown): string | undefined {
  return isFields(value) ? listText(value['detail']) : undefined;
}

function listText(value: unknown): string | undefined {
  if (!Array.isArray(value)) return undefined;
  const messages = value.map((item) => memberText(item, 'msg')).filter((text) => text !== undefined);
  return messages.length > 0 ? messages.join('; ') : undefined;
}

const withoutMark = (text: string): string => text.replace(/^\uFEFF/, '');
