import type { Socket } from 'node:net';

/** A request as it came over the wire. */
export interface WireCall {
  readonly method: string;
  readonly path: string;
  /** Names in lower case; of a repeated one, the last value. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

const HEAD_END = '\r\n\r\n';

/** Reads requests off a bare socket, one after another: a server that must be able to answer wrongly cannot be Node's own. */
export function readRequests(socket: Socket, onCall: (call: WireCall) => void): void {
  const reader = new RequestReader(socket, onCall);
  socket.on('data', (piece: Buffer) => reader.push(piece));
}

class RequestReader {
  readonly #socket: Socket;
  readonly #onCall: (call: WireCall) => void;
  #bytes: Buffer = Buffer.alloc(0);
  #hasContinued = false;

  constructor(socket: Socket, onCall: (call: WireCall) => void) {
    this.#socket = socket;
    this.#onCall = onCall;
  }

  push(piece: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? piece : Buffer.concat([this.#bytes, piece]);
    while (this.#readOne()) this.#hasContinued = false;
  }

  /** Takes one whole request out of what has arrived; false when more must come first. */
  #readOne(): boolean {
    const headEnd = this.#bytes.indexOf(HEAD_END);
    if (headEnd < 0) return false;
    const head = readHead(this.#bytes.toString('latin1', 0, headEnd));
    const rest = this.#bytes.subarray(headEnd + HEAD_END.length);
    const body =
      head.headers['transfer-encoding'] === 'chunked'
        ? chunkedBody(rest)
        : sizedBody(rest, Number(head.headers['content-length'] ?? 0));
    if (!body) {
      if (head.headers['expect'] === '100-continue' && !this.#hasContinued)
        this.#socket.write(`HTTP/1.1 100 Continue${HEAD_END}`);
      this.#hasContinued = true;
      return false;
    }
    this.#bytes = rest.subarray(body.taken);
    this.#onCall({ ...head, text: body.bytes.toString('utf8') });
    return true;
  }
}

function readHead(text: string): Omit<WireCall, 'text'> {
  const [start = '', ...lines] = text.split('\r\n');
  const [method = '', path = ''] = start.split(' ');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  return { method, path, headers };
}

interface Body {
  readonly bytes: Buffer;
  /** Bytes it took on the wire. */
  readonly taken: number;
}

function sizedBody(rest: Buffer, length: number): Body | undefined {
  return rest.length < length ? undefined : { bytes: rest.subarray(0, length), taken: length };
}

function chunkedBody(rest: Buffer): Body | undefined {
  const pieces: Buffer[] = [];
  for (let at = 0; ;) {
    const lineEnd = rest.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(rest.toString('latin1', at, lineEnd), 16);
    const next = lineEnd + 2 + size + 2;
    if (Number.isNaN(size) || rest.length < next) return undefined;
    if (size === 0) return { bytes: Buffer.concat(pieces), taken: next };
    pieces.push(rest.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = next;
  }
}
