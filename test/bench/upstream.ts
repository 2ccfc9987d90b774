/** The loopback upstream, a process of its own. The path says what to answer: `/<naming>/<shape>/v1/…`. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isNaming, isShape, isStream, type Naming, replyBody, streamEvents } from './bodies.ts';

/** Long enough for each event to be a read of its own. */
const PACE_MS = 1;

const server = createServer((request, response) => {
  const [, naming = '', shape = ''] = request.url?.split('/') ?? [];
  request.resume();
  request.on('end', () => {
    if (!isNaming(naming) || !isShape(shape)) response.writeHead(404).end();
    else if (shape === 'paced') pace(response, naming);
    else {
      const body = whole[`${naming} ${shape}`];
      response
        .writeHead(200, {
          'content-type': isStream(shape) ? 'text/event-stream' : 'application/json',
          'content-length': body.length,
        })
        .end(body);
    }
  });
});

const whole = {
  'same unary': Buffer.from(replyBody('unary', 'same')),
  'dated unary': Buffer.from(replyBody('unary', 'dated')),
  'same forwarded': Buffer.from(replyBody('forwarded', 'same')),
  'dated forwarded': Buffer.from(replyBody('forwarded', 'dated')),
  'same messages': Buffer.from(replyBody('messages', 'same')),
  'dated messages': Buffer.from(replyBody('messages', 'dated')),
  'same burst': Buffer.from(replyBody('burst', 'same')),
  'dated burst': Buffer.from(replyBody('burst', 'dated')),
};
const events = { same: streamEvents('same'), dated: streamEvents('dated') };

function pace(response: ServerResponse, naming: Naming): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let at = 0;
  const next = (): void => {
    const event = events[naming][at++];
    if (event === undefined) response.end();
    else {
      response.write(event);
      setTimeout(next, PACE_MS);
    }
  };
  next();
}

server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit());
