/** Messages of JSON-RPC 2.0, as both transports read them. Source: Model Context Protocol, revision 2025-11-25, "Base protocol", read 2026-11-22. */
import { type Fields, isFields, isText, parseJson } from '../../../host/contract/index.ts';
import type { JsonBounds } from '../../../host/contract/json/json-shape.ts';

/** What is asked for. */
export const PROTOCOL_VERSION = '2025-11-25';

/** What is understood; see docs/mcp.md#servers. */
export const KNOWN_VERSIONS: ReadonlySet<string> = new Set([
  PROTOCOL_VERSION,
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
]);

/** Largest message of a server, over stdio, and largest answer, over HTTP. See docs/mcp.md#servers. */
export const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

const METHOD_NOT_FOUND = -32601;

/** What went wrong with a call: the server said so or its answer is of no use, it took too long, or there is no server. */
export type Trouble = 'failed' | 'timeout' | 'unavailable';

/** A call of a tool server that failed. The message is for logs and administrators, and holds no secret. */
export class ToolServerError extends Error {
  override readonly name = 'ToolServerError';
  readonly trouble: Trouble;

  constructor(trouble: Trouble, message: string, options?: ErrorOptions) {
    super(message, options);
    this.trouble = trouble;
  }
}

/** What a server says of its failure goes with the error as its cause, which only the log tells. */
export const saying = (text: string): ErrorOptions => (text === '' ? {} : { cause: new Error(text) });

/** What a message may hold, so that reading it keeps others waiting no longer than a body of its length: 50,000 tools with a parameter each. */
const BOUNDS: JsonBounds = { fields: 25_000, members: 500_000, containers: 500_000 };

/**
 * A text's messages: one, or several in a list; none of a text that holds no JSON-RPC. Throws a `ToolServerError` for one that is nested too
 * deep, or holds more than is read.
 */
export function messagesOf(text: string): readonly Fields[] {
  const start = /\S/.exec(text)?.[0];
  if (start !== '{' && start !== '[') return [];
  let value: unknown;
  try {
    value = parseJson(text, BOUNDS);
  } catch (error) {
    if (error instanceof RangeError) throw new ToolServerError('failed', `a message of the server is ${error.message}`);
    return [];
  }
  return (Array.isArray(value) ? value : [value]).filter(
    (message): message is Fields => isFields(message) && message['jsonrpc'] === '2.0',
  );
}

/** Whether a message answers a request, rather than being one or a notification. */
export function isAnswer(message: Fields): boolean {
  return message['method'] === undefined && ('result' in message || 'error' in message);
}

/** The result that an answer holds; throws where it holds an error or nothing. `clean` takes secrets out of what the server says. */
export function resultOf({ error, result }: Fields, clean: (text: string) => string): Fields {
  if (error !== undefined && error !== null) {
    const { code, message } = isFields(error) ? error : {};
    throw new ToolServerError(
      'failed',
      `the server answered with the error ${typeof code === 'number' ? code : 'without a code'}`,
      saying(clean(isText(message) ? message : '')),
    );
  }
  if (!isFields(result)) throw new ToolServerError('failed', 'the server answered without a result');
  return result;
}

/** What is answered to a request of the server: it may ask whether the gateway lives, and nothing else. */
export function answerTo({ id, method }: Fields): Fields {
  const head = { jsonrpc: '2.0', id };
  return method === 'ping'
    ? { ...head, result: {} }
    : { ...head, error: { code: METHOD_NOT_FOUND, message: 'the gateway does not know this method' } };
}

export const isListChange = ({ method }: Fields): boolean => method === 'notifications/tools/list_changed';
