import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Plan } from './options.ts';
import { type Bench, gateway, PROJECT, type Subject } from './subjects.ts';

/** Milliseconds between two scrapes, as often as a Prometheus that is set to look closely. */
const SCRAPE_MS = 1000;

/** A share of the requests is traced. */
const SAMPLE_RATIO = 0.1;

/** Code that a tenth of the requests runs is compiled as much later: a process is measured once that is over. */
export function settledPlan(plan: Plan): Plan {
  return { ...plan, warmUps: 3 * plan.warmUps, rounds: 2 * plan.rounds };
}

/** The gateway with nothing but warnings in its log, and the same with log lines, scrapes of its figures, and traces of a tenth of its requests. */
export async function telemetrySubjects(bench: Bench): Promise<[off: Subject, on: Subject]> {
  const observability = `observability: {tracing: {endpoint: '${await startCollector()}', protocol: http/protobuf, sample_ratio: ${SAMPLE_RATIO}}}\n`;
  const on = gateway(bench, 'gw (telemetry on)', PROJECT, {
    configuration: observability,
    variables: { LOG_LEVEL: 'info' },
  });
  return [gateway(bench, 'gw (telemetry off)', PROJECT, { variables: { LOG_LEVEL: 'error' } }), scraped(on)];
}

/** Takes spans and forgets them. It ends with this process. */
async function startCollector(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function scraped(subject: Subject): Subject {
  return {
    name: subject.name,
    start: async (upstreamUrl) => {
      const running = await subject.start(upstreamUrl);
      const scrape = async (): Promise<void> => {
        const answer = await fetch(new URL('/metrics', running.baseUrl), { headers: { ...running.headers } });
        await answer.text();
      };
      await scrape();
      const timer = setInterval(() => void scrape().catch(() => {}), SCRAPE_MS); // a scrape that meets the stop fails
      return {
        ...running,
        stop: async () => {
          clearInterval(timer);
          await running.stop();
        },
      };
    },
  };
}
