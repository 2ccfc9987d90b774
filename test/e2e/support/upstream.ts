import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { golden, openSse, type SeenRequest, type StubHandler } from '../../kit/index.ts';

/** Small enough to cut events, lines and multi-byte characters. */
const PIECE_BYTES = 89;

/** A body under `test/fixtures/openai/chat`. */
export function chatFixture(name: string): string {
  return golden(`openai/chat/${name}`);
}

/** Payloads of a streamed fixture, parsed, without the end marker. */
export function fixtureChunks(name: string): any[] {
  return eventTexts(name)
    .slice(0, -1)
    .map((event) => JSON.parse(event.replace(/^data: /, '')) as unknown);
}

/** Answers with a fixture: its `.sse` when the request asks for a stream, else its `.json`. A function names it anew for each request. */
export function answering(fixture: string | (() => string)): StubHandler {
  return async (request, response) => {
    const name = typeof fixture === 'string' ? fixture : fixture();
    if (!isStream(request)) sendJson(response, 200, `${name}.json`);
    else await sendInPieces(response, Buffer.from(chatFixture(`${name}.sse`)));
  };
}

/** Answers every request with a failure. */
export function refusing(status: number, name: string, headers: Readonly<Record<string, string>> = {}): StubHandler {
  return (_request, response) => sendJson(response, status, name, headers);
}

/** Begins the ordinary stream, then says that it failed. */
export function breakingOff(message: string): StubHandler {
  return (_request, response) => {
    openSse(response);
    response.end(
      `${firstEvents()}data: ${JSON.stringify({ error: { message, type: 'server_error', param: null, code: null } })}\n\n`,
    );
  };
}

export interface HeldUpstream {
  readonly handler: StubHandler;
  /** Settles when the request has arrived. */
  readonly asked: Promise<void>;
  /** The gateway closed its connection. */
  readonly closed: Promise<void>;
}

/** Begins the ordinary stream, or, silent, no answer at all, and waits until the gateway hangs up. */
export function holding({ isSilent = false } = {}): HeldUpstream {
  const asked = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const handler: StubHandler = (_request, response) => {
    response.once('close', () => closed.resolve());
    if (!isSilent) {
      openSse(response);
      response.write(firstEvents());
    }
    asked.resolve();
  };
  return { handler, asked: asked.promise, closed: closed.promise };
}

/** Less than any bound by which the gateway itself would end the call, and more than a busy machine takes. */
const CLOSE_LIMIT_MS = 9000;

/** The upstream's connection must end because the client has left, and not because some time is over. */
export async function expectClosed({ closed }: HeldUpstream): Promise<void> {
  const limit = Promise.withResolvers<void>();
  const timer = setTimeout(
    () => limit.reject(new Error('the upstream connection stays open after the abort')),
    CLOSE_LIMIT_MS,
  );
  try {
    await Promise.race([closed, limit.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function isStream(request: SeenRequest): boolean {
  return request.json()['stream'] === true;
}

function eventTexts(name: string): string[] {
  return chatFixture(name)
    .split('\n\n')
    .filter((event) => event !== '');
}

/** The role and two pieces of text. */
function firstEvents(): string {
  return eventTexts('stream.sse')
    .slice(0, 3)
    .map((event) => `${event}\n\n`)
    .join('');
}

function sendJson(
  response: ServerResponse,
  status: number,
  name: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(chatFixture(name));
}

async function sendInPieces(response: ServerResponse, bytes: Buffer): Promise<void> {
  openSse(response);
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    response.write(bytes.subarray(at, at + PIECE_BYTES));
    await setImmediate();
  }
  response.end();
}
