import { writeFile } from 'node:fs/promises';
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { residentMb } from '../bench/usage.ts';
import {
  ask,
  faultUpstream,
  type GatewayProcess,
  loadScript,
  seeded,
  startGateway,
  temporaryFolder,
} from '../kit/index.ts';

/** What comes before the first reading: code is compiled, pools and heap have found their size. */
const WARM_UP = 12_000;
const REQUESTS = 20_000;
const READINGS = 5;
const CLIENTS = 24;
const ABORTED_STREAMS = 0.1;
/** What the readings of a process that keeps nothing differ by. */
const NOISE_MB = 20;

const CONFIG = `strategy: { mode: fallback }
request_timeout: 2s
targets:
  - virtual_key: openai
    models: [lab]
    request_timeout: 1s
    retry: { attempts: 2, initial_backoff_ms: 1 }
    circuit_breaker: { failure_threshold: 50, timeout: 100ms }
    concurrency: { max_concurrency: 20 }
  - virtual_key: echo
    models: [lab]
plugins:
  - { name: word-filter, stage: before_request, enabled: true, config: { blocked_words: [forbidden] } }
`;

const FAULTS = `steps:
  - mix: { ok: 80, slow-chunks: 4, split-chunks: 2, status: 4, reset-before: 2, reset-in-body: 2, close-in-body: 2, error-event: 2, garbage: 1, gzip: 2, noise: 2, no-end: 2 }
    wait_ms: 3
then: repeat
`;

async function scene(): Promise<GatewayProcess> {
  const folder = await temporaryFolder();
  await Promise.all([writeFile(join(folder, 'config.yaml'), CONFIG), writeFile(join(folder, 'faults.yaml'), FAULTS)]);
  const upstream = await faultUpstream({ script: loadScript(join(folder, 'faults.yaml')), seed: 5, remembers: false });
  const variables = {
    GATEWAY_CONFIG: join(folder, 'config.yaml'),
    OPENAI_API_KEY: 'lab',
    OPENAI_BASE_URL: `${upstream.url}/v1`,
  };
  const gateway = await startGateway({ cwd: folder, variables });
  setInterval(() => {
    gateway.lines.length = 0;
  }, 1000).unref();
  return gateway;
}

/** Asks once; a stream that is to be aborted is left after its first bytes. */
function call({ url, key }: GatewayProcess, agent: Agent, isStream: boolean, isAborted: boolean): Promise<void> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const onReply = (response: IncomingMessage): void => {
      response.on('close', resolve);
      response.on('error', () => {});
      response.on('data', () => {
        if (isAborted) response.destroy();
      });
    };
    const request = httpRequest(`${url}/v1/chat/completions`, { method: 'POST', agent, headers }, onReply);
    request.on('error', () => resolve()).end(JSON.stringify(ask('hi', { model: 'lab', stream: isStream })));
  });
}

async function load(gateway: GatewayProcess, agent: Agent, requests: number, random: () => number): Promise<void> {
  let left = requests;
  const client = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const isAborted = random() < ABORTED_STREAMS;
      await call(gateway, agent, isAborted || random() < 0.4, isAborted);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}

describe('memory under faults', () => {
  it(`does not grow over ${REQUESTS} requests of which a tenth are streams that the client leaves`, async function memory() {
    this.timeout(600_000);
    const gateway = await scene();
    const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
    const random = seeded(5);
    await load(gateway, agent, WARM_UP, random);
    const readings = [residentMb(Number(gateway.child.pid))];
    for (let turn = 0; turn < READINGS; turn += 1) {
      await load(gateway, agent, REQUESTS / READINGS, random);
      readings.push(residentMb(Number(gateway.child.pid)));
    }
    agent.destroy();
    const figures = readings.map((mb) => mb.toFixed(0)).join(', ');
    // The heap grows and shrinks between collections; memory that is never given back raises its lowest point too.
    expect(Math.min(...readings.slice(-3)) - Number(readings[0]), `MB resident: ${figures}`).to.be.below(NOISE_MB);
    expect((await fetch(`${gateway.url}/livez`)).status).to.equal(200);
    if (process.env['SOAK_VERBOSE']) process.stdout.write(`      MB resident: ${figures}\n`);
  });
});
