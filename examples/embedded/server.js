// An Express server with a route of its own, and a gateway at /ai.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import express from 'express';
import { createGateway } from 'gw';

const here = dirname(fileURLToPath(import.meta.url));
const gateway = await createGateway({
  config: join(here, 'config.yaml'),
  mountPath: '/ai', // for WebSockets alone: requests come through Express, which cuts it off
  log: () => {}, // a log of yours
});

const app = express();
app.use('/ai', gateway.handler); // before body parsers
app.use(express.json());
app.get('/hello', (_request, response) => {
  response.send('Hello from the server itself.\n');
});

const server = app.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`);
});
server.on('upgrade', (request, socket, head) => {
  if (!gateway.upgrade(request, socket, head)) socket.destroy();
});

/** Requests in flight end by themselves. */
async function stop() {
  await gateway.drain();
  server.close();
  server.closeAllConnections();
}

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => void stop());
