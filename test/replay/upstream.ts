import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { Dice } from '../kit/random.ts';
import type { Answer } from './scenes/exchange.ts';

/** A request as it reached the stub of a vendor. */
export interface Sent {
  readonly vendor: string;
  readonly method: string;
  readonly path: string;
  /** Names and values by turns, as they were written. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** Stub servers, one for each vendor: all of them answer by the plan of the exchange that runs. */
export interface Upstreams {
  readonly urls: ReadonlyMap<string, string>;
  /** Forgets what was sent, and answers so from now on. */
  plan(answers: readonly Answer[]): void;
  /** What was sent since the plan, once nothing is open any more. */
  sent(): Promise<readonly Sent[]>;
  close(): void;
}

const ODD_BYTES = 60;

export async function openUpstreams(vendors: readonly string[]): Promise<Upstreams> {
  let answers: readonly Answer[] = [];
  let sent: Sent[] = [];
  const open = new Set<Promise<unknown>>();
  const serve = async (vendor: string, url: () => string): Promise<Server> => {
    const server = createServer((request, response) => {
      const pieces: Buffer[] = [];
      const closed: Promise<unknown> = once(response, 'close').finally(() => open.delete(closed));
      open.add(closed);
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        const { method = '', url: path = '', rawHeaders } = request;
        const answer = answers[Math.min(sent.length, answers.length - 1)];
        sent.push({ vendor, method, path, headers: rawHeaders, body: Buffer.concat(pieces) });
        void play(response, answer && atHome(answer, url()));
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return server;
  };
  const urls = new Map<string, string>();
  const servers: Server[] = [];
  for (const vendor of vendors) {
    const server = await serve(vendor, () => urls.get(vendor) ?? '');
    servers.push(server);
    urls.set(vendor, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  }
  return {
    urls,
    plan: (next) => {
      answers = next;
      sent = [];
    },
    sent: async () => {
      await Promise.all(open);
      return sent;
    },
    close: () => {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}

/** Addresses of a vendor in its own answers lead back to its stub. */
function atHome(answer: Answer, url: string): Answer {
  if (!answer.body.includes('.replicate.com')) return answer;
  const text = answer.body.toString('utf8').replaceAll(/https:\/\/(api|stream)\.replicate\.com/g, url);
  return { ...answer, body: Buffer.from(text) };
}

async function play(response: ServerResponse, answer: Answer | undefined): Promise<void> {
  if (!answer) {
    response.writeHead(404, { 'content-type': 'text/plain' }).end('no answer is planned');
    return;
  }
  const { status, headers, body, manner } = answer;
  if (manner === 'whole') {
    response.writeHead(status, { ...headers, 'content-length': body.length }).end(body);
    return;
  }
  response.writeHead(status, headers);
  for (const piece of piecesOf(body, manner)) {
    response.write(piece);
    await turn();
  }
  if (manner === 'cut') response.socket?.destroySoon();
  else response.end();
}

function piecesOf(body: Buffer, manner: Answer['manner']): readonly Buffer[] {
  if (manner === 'cut') return [body.subarray(0, Math.ceil(body.length * 0.6))];
  if (manner === 'events')
    return body
      .toString('latin1')
      .split(/(?<=\n\n)/)
      .map((event) => Buffer.from(event, 'latin1'));
  const dice = new Dice(body.length);
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length;) {
    const size = 1 + dice.below(ODD_BYTES);
    pieces.push(body.subarray(at, at + size));
    at += size;
  }
  return pieces;
}
