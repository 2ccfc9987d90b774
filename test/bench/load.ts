/** The load generator, a process of its own: a fixed number of requests over a fixed number of connections. */
import { Agent, request as httpRequest } from 'node:http';

export interface LoadOrder {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly requests: number;
  readonly connections: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly failures: number;
  readonly seconds: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

process.on('message', (order: LoadOrder) => {
  void run(order).then((result) => process.send?.(result));
});

async function run({ url, headers, body, requests, connections }: LoadOrder): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const { hostname, port, pathname } = new URL(url);
  const latencies: number[] = [];
  let failures = 0;
  let left = requests;

  const one = (): Promise<void> => new Promise((resolve) => {
    const startedAt = performance.now();
    const failed = (): void => {
      failures += 1;
      resolve();
    };
    const call = httpRequest({ agent, hostname, port, path: pathname, method: 'POST', headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers } }, (reply) => {
      if (reply.statusCode !== 200) failures += 1;
      reply.on('data', () => {});
      reply.on('end', () => {
        latencies.push(performance.now() - startedAt);
        resolve();
      });
      reply.on('error', failed);
    });
    call.on('error', failed);
    call.end(body);
  });

  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await one();
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: connections }, worker));
  const seconds = (performance.now() - startedAt) / 1000;
  agent.destroy();
  latencies.sort((a, b) => a - b);
  const at = (share: number): number => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN;
  return { requests, failures, seconds, p50: at(0.5), p99: at(0.99) };
}
