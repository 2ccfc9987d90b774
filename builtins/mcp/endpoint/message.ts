import { type Fields, GatewayError, isFields, isRawNumber, isText } from '../../../host/contract/index.ts';
import { parseJsonBody } from '../../../host/http/body/json-body.ts';

/** Codes of JSON-RPC 2.0, and the one of its server range that this transport's own refusals have. */
export const CODES = {
  parse: -32700,
  invalid: -32600,
  method: -32601,
  parameters: -32602,
  internal: -32603,
  transport: -32000,
} as const;

/** The id of a request: a text or an integer, a large one as it was written. It is null in an answer to what has none. */
export type RequestId = string | number | object | null;

/** A request that cannot be served, as its client is answered. */
export class RpcFault extends Error {
  override readonly name = 'RpcFault';
  readonly code: number;
  readonly status: number;
  readonly id: RequestId;

  constructor(
    code: number,
    message: string,
    { status = 200, id = null }: { readonly status?: number; readonly id?: RequestId } = {},
  ) {
    super(message);
    this.code = code;
    this.status = status;
    this.id = id;
  }
}

/** One request of a client. */
export interface RpcRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params: Readonly<Fields>;
}

/** What a body holds: a request, or a message that is not answered. The name of the method stands with both. */
export type RpcMessage = RpcRequest | { readonly id: undefined; readonly method: string | undefined };

/** Reads the one message of a body; lists of them are not served (revision 2025-06-18 has taken them out). Throws an `RpcFault`. */
export function readMessage(bytes: Buffer): RpcMessage {
  const message = parsed(bytes);
  if (Array.isArray(message)) throw invalid('a body holds one message: lists of messages are not supported');
  if (!isFields(message) || message['jsonrpc'] !== '2.0') throw invalid('the body is not a JSON-RPC 2.0 message');
  const { id, method, params } = message;
  if (method === undefined && ('result' in message || 'error' in message)) return { id: undefined, method: undefined };
  const known = isId(id) ? id : null;
  if (!isText(method)) throw invalid('the message has no method', known);
  if (!('id' in message)) return { id: undefined, method };
  if (known === null)
    throw invalid(`the id of a request is a text or an integer, of at most ${MAX_ID_LENGTH} characters`);
  if (params !== undefined && !isFields(params))
    throw new RpcFault(CODES.parameters, 'params must be an object', { id: known });
  return { id: known, method, params: params ?? {} };
}

/** Every answer repeats it. The clients' own are counters and UUIDs. */
const MAX_ID_LENGTH = 1024;

/** Fractions are none: the protocol takes strings and integers, and its SDK reads no answer with another. */
function isId(value: unknown): value is string | number | object {
  if (typeof value === 'string') return value.length <= MAX_ID_LENGTH;
  return Number.isInteger(value) || (isRawNumber(value) && isInteger(JSON.stringify(value)));
}

const isInteger = (digits: string): boolean => digits.length <= MAX_ID_LENGTH && /^-?\d+$/.test(digits);

const invalid = (message: string, id: RequestId = null): RpcFault =>
  new RpcFault(CODES.invalid, message, { status: 400, id });

function parsed(bytes: Buffer): unknown {
  try {
    return parseJsonBody(bytes);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new RpcFault(CODES.parse, error.message, { status: 400 });
  }
}
