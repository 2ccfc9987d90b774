import { get } from 'node:http';
import { connect, createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Child } from './workspace.ts';

const LOOK_EVERY_MS = 2;
const GIVE_UP_MS = 30_000;

/** Waits until the probe holds; throws when the process ends or takes too long. */
export async function untilReady(name: string, child: Child, probe: () => Promise<boolean>): Promise<void> {
  let hasEnded = false;
  void child.exited.then(() => {
    hasEnded = true;
  });
  const giveUpAt = performance.now() + GIVE_UP_MS;
  while (!(await probe())) {
    if (hasEnded) throw new Error(`${name} ended before it was ready:\n${child.stderr()}`);
    if (performance.now() > giveUpAt)
      throw new Error(`${name} was not ready within ${GIVE_UP_MS} ms:\n${child.stderr()}`);
    await sleep(LOOK_EVERY_MS);
  }
}

/** Whether a GET is answered with 200. */
export function answers(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const call = get(url, { agent: false }, (reply) => {
      reply.resume();
      resolve(reply.statusCode === 200);
    });
    call.on('error', () => resolve(false));
  });
}

/** Whether a process listens on the port. */
export function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

/** A free port, for a program that cannot choose one and say which. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}
