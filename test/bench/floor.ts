/**
 * `floor.ts <base URL of the upstream>`: the floor that every figure is a ratio to: a bare Node server that parses the request once, forwards it with undici,
 * parses a unary answer once and relays stream bytes. No key, no guardrail, no log.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';

const { origin, pathname: prefix } = new URL(process.argv[2] ?? '');
const pool = new Pool(origin, { keepAliveTimeout: 90_000 });

const server = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    const body = Buffer.concat(pieces);
    const { stream } = JSON.parse(body.toString()) as { stream?: boolean };
    const reply: Buffer[] = [];
    pool.dispatch(
      {
        path: `${prefix}${(request.url ?? '').slice('/v1'.length)}`,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      },
      {
        onRequestStart: () => {},
        onResponseStart: () => {
          if (stream) response.writeHead(200, { 'content-type': 'text/event-stream' });
        },
        onResponseData: (_controller, piece) => {
          if (stream) response.write(piece);
          else reply.push(piece);
        },
        onResponseEnd: () => {
          if (stream) {
            response.end();
            return;
          }
          const bytes = Buffer.concat(reply);
          JSON.parse(bytes.toString());
          response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length });
          response.end(bytes);
        },
        onResponseError: () => {
          if (response.headersSent) response.destroy();
          else response.writeHead(502).end();
        },
      },
    );
  });
});

server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit());
