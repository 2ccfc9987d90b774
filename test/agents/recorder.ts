import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { localServer } from '../kit/index.ts';

/** One request of an agent, and what it was answered. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly asked: string;
  readonly status: number;
  readonly answer: string;
}

export interface Recorder {
  readonly url: string;
  /** In the order in which they ended. */
  readonly exchanges: Exchange[];
}

/** Stands between an agent and the gateway, passes every byte on, and keeps what was said. */
export async function recorderBefore(gateway: string): Promise<Recorder> {
  const exchanges: Exchange[] = [];
  const server = createServer((asked, answered) => {
    void pass(gateway, asked, answered, exchanges);
  });
  return { url: await localServer(server), exchanges };
}

async function pass(
  gateway: string,
  asked: IncomingMessage,
  answered: ServerResponse,
  exchanges: Exchange[],
): Promise<void> {
  const body = Buffer.concat((await asked.toArray()) as Buffer[]);
  const { method = '', url = '' } = asked;
  const onward = request(new URL(url, gateway), { method, headers: asked.headers }, (reply) => {
    const pieces: Buffer[] = [];
    const { statusCode = 0 } = reply;
    answered.writeHead(statusCode, reply.headers);
    reply.on('data', (piece: Buffer) => {
      pieces.push(piece);
      answered.write(piece);
    });
    reply.on('close', () => {
      exchanges.push({
        method,
        path: url.split('?')[0] ?? '',
        asked: body.toString('utf8'),
        status: statusCode,
        answer: Buffer.concat(pieces).toString('utf8'),
      });
      answered.end();
    });
  });
  onward.on('error', () => answered.destroy());
  answered.on('close', () => onward.destroy());
  onward.end(body);
}
