/** A load generator in plain Node, a process of its own: for each message a fixed number of requests over a fixed number of connections. */
import { Agent, request as httpRequest } from 'node:http';

export interface LoadOrder {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly requests: number;
  readonly connections: number;
  /** What latency means: up to the end of an answer, or to the first piece of its body. */
  readonly until: 'end' | 'first-piece';
}

export interface LoadResult {
  readonly requests: number;
  readonly failures: number;
  readonly seconds: number;
  /** Microseconds. */
  readonly p50: number;
  readonly p99: number;
}

process.on('message', (order: LoadOrder) => {
  void run(order).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit());

async function run(order: LoadOrder): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: order.connections });
  const latencies: number[] = [];
  let failures = 0;
  let left = order.requests;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const latency = await measureOne(agent, order);
      if (latency === undefined) failures += 1;
      else latencies.push(latency);
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: order.connections }, worker));
  const seconds = (performance.now() - startedAt) / 1000;
  agent.destroy();
  latencies.sort((a, b) => a - b);
  const at = (share: number): number =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN;
  return { requests: latencies.length, failures, seconds, p50: at(0.5), p99: at(0.99) };
}

/** Microseconds; `undefined` when the request failed. */
function measureOne(agent: Agent, { url, headers, body, until }: LoadOrder): Promise<number | undefined> {
  const { hostname, port, pathname } = new URL(url);
  return new Promise((resolve) => {
    const startedAt = performance.now();
    const failed = (): void => resolve(undefined);
    const call = httpRequest(
      {
        agent,
        hostname,
        port,
        path: pathname,
        method: 'POST',
        headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      },
      (reply) => {
        let firstAt: number | undefined;
        reply.on('data', () => {
          firstAt ??= performance.now();
        });
        reply.on('end', () => {
          const endedAt = until === 'end' ? performance.now() : firstAt;
          resolve(reply.statusCode !== 200 || endedAt === undefined ? undefined : (endedAt - startedAt) * 1000);
        });
        reply.on('error', failed);
      },
    );
    call.on('error', failed);
    call.end(body);
  });
}
