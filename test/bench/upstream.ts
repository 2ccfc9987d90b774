/** The loopback upstream, a process of its own: `/same/v1/…` and `/dated/v1/…` answer by the naming in their path. */
import { createServer } from 'node:http';
import { type Naming, streamEvents, unaryReply } from './bodies.ts';

const unary = { same: Buffer.from(unaryReply('same')), dated: Buffer.from(unaryReply('dated')) };
const events = { same: streamEvents('same'), dated: streamEvents('dated') };
const bursts = { same: Buffer.from(events.same.join('')), dated: Buffer.from(events.dated.join('')) };

const server = createServer((request, response) => {
  const naming: Naming = request.url?.startsWith('/dated') ? 'dated' : 'same';
  const isPaced = request.url?.includes('/paced') ?? false;
  let body = '';
  request.setEncoding('latin1');
  request.on('data', (piece: string) => { body += piece; });
  request.on('end', () => {
    if (!body.includes('"stream":true')) {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': unary[naming].length });
      response.end(unary[naming]);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (!isPaced) {
      response.end(bursts[naming]);
      return;
    }
    let at = 0;
    const next = (): void => {
      const event = events[naming][at++];
      if (event === undefined) response.end();
      else {
        response.write(event);
        setTimeout(next, 1); // long enough for each event to be a read of its own
      }
    };
    next();
  });
});

server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as { port: number }).port }));
