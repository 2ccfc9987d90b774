import { type Fields, isFields, SURFACES, tryParseJson } from '../../../host/contract/index.ts';
import { SESSION_HEADERS } from '../../../host/common/session-headers.ts';
import type { LiveExchange } from '../../../host/pipeline/live-exchange.ts';
import { fingerprint } from './fingerprint.ts';
import { openingOf } from './opening.ts';
import { bodyOf } from './sent-body.ts';

/** Where a request names its session. */
export type SessionSource = 'header' | 'cache' | 'user' | 'text';

export interface SessionKey {
  readonly source: SessionSource;
  readonly key: string;
}

/** A text that may name a session; `undefined` and blank ones name none. */
interface Named {
  readonly source: SessionSource;
  readonly text: string;
}

/** Characters of a key, blanks around it not counted. */
const MAX_KEY = 256;

/**
 * The session that a request belongs to, by the first place that names one; `undefined` where it has none. What is too
 * long, or cannot be printed, names none either, and no other place is asked: else the length of a name would put a
 * client into another one's session. See docs/reference/affinity.md#the-session-of-a-request.
 */
export function sessionKeyOf(exchange: LiveExchange): SessionKey | undefined {
  if (!hasSessions(exchange) || isOff(exchange)) return undefined;
  const named = inHeaders(exchange) ?? inBody(exchange);
  if (named) return isKey(named.text) ? { source: named.source, key: named.text } : undefined;
  const key = fingerprint(exchange.model, openingOf(exchange));
  return key === undefined ? undefined : { source: 'text', key };
}

/** Read in any case of letters, as the values of most headers are. */
const isOff = ({ clientHeaders }: LiveExchange): boolean =>
  clientHeaders?.['x-gateway-affinity']?.toString().trim().toLowerCase() === 'off';

/** Chats, on every client's wire, completions, and requests of the Responses API. */
const hasSessions = ({ surface }: LiveExchange): boolean => SURFACES[surface].isChat || surface === 'responses';

function inHeaders({ clientHeaders = {} }: LiveExchange): Named | undefined {
  for (const name of SESSION_HEADERS) {
    const text = textOf(clientHeaders[name]);
    if (text !== '') return { source: 'header', text };
  }
  return undefined;
}

function inBody(exchange: LiveExchange): Named | undefined {
  const { surface } = exchange;
  const body = bodyOf(exchange);
  if (surface === 'messages') return named('user', userIn(body));
  if (surface === 'generate_content') return undefined;
  return (
    named('cache', body['prompt_cache_key']) ?? named('user', body['safety_identifier']) ?? named('user', body['user'])
  );
}

/** What stands before the session in the `user_id` of some clients. */
const BEFORE_SESSION = '_session_';

/** The session that `metadata.user_id` of Anthropic's Messages holds, or else the whole. */
function userIn({ metadata }: Readonly<Fields>): unknown {
  const id = isFields(metadata) ? metadata['user_id'] : undefined;
  if (typeof id !== 'string') return undefined;
  const at = id.indexOf(BEFORE_SESSION);
  if (at >= 0) return id.slice(at + BEFORE_SESSION.length);
  if (!id.trimStart().startsWith('{')) return id;
  const session = jsonIn(id)['session_id'];
  return typeof session === 'string' ? session : id;
}

function jsonIn(text: string): Readonly<Fields> {
  const value = tryParseJson(text);
  return isFields(value) ? value : {};
}

function named(source: SessionSource, value: unknown): Named | undefined {
  const text = textOf(value);
  return text === '' ? undefined : { source, text };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

const isKey = (text: string): boolean => text.length <= MAX_KEY && !CONTROL.test(text);
