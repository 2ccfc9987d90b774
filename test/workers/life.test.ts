import { expect } from 'chai';
import {
  chatChunks,
  openSse,
  rawClient,
  sseEvent,
  stubUpstream,
  chatReply,
  replyJson,
  type GatewayProcess,
  startGateway,
  runGw,
} from '../kit/index.ts';
import { atOnce, chat, CHAT, counted, instance, makeKey, send, startWorkers, patiently } from './gateway.ts';

interface Started {
  readonly gateway: GatewayProcess;
  /** Answers that are held back until then. */
  readonly release: () => void;
  readonly calls: () => number;
}

async function start(variables: Readonly<Record<string, string>> = {}): Promise<Started> {
  const held = Promise.withResolvers<void>();
  let calls = 0;
  const stub = await stubUpstream(async (request, response) => {
    calls += 1;
    const body = request.json();
    if (body['stream'] === true) {
      openSse(response);
      const chunks = chatChunks(['one', 'two']);
      for (const chunk of chunks.slice(0, 2)) response.write(sseEvent(chunk));
      await held.promise;
      for (const chunk of chunks.slice(2)) response.write(sseEvent(chunk));
      response.end('data: [DONE]\n\n');
      return;
    }
    if (body['user'] === 'held') await held.promise;
    replyJson(response, 200, {
      ...chatReply('hello'),
      usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
    });
  });
  const gateway = await startWorkers(
    {
      strategy: { mode: 'fallback' },
      targets: [{ virtual_key: 'one', models: ['m'], concurrency: { max_concurrency: 4 } }],
      providers: { one: instance(stub.url) },
    },
    variables,
  );
  return { gateway, release: held.resolve, calls: () => calls };
}

const pidsOf = ({ lines }: GatewayProcess): Map<number, number> =>
  new Map(lines.filter(({ msg }) => msg === 'a worker is ready').map(({ worker, pid }) => [worker, pid]));

const readies = ({ lines }: GatewayProcess): number => lines.filter(({ msg }) => msg === 'a worker is ready').length;

describe('the life of workers', () => {
  it('goes on when one is killed: another takes its place, and what it held is free', async () => {
    const { gateway, release, calls } = await start();
    const { key, id } = await makeKey(gateway.url, { budgets: [{ requests: 4, every: 'day' }] });
    const asking = atOnce(4, () =>
      send(`${gateway.url}${CHAT}`, { key, body: chat({ user: 'held' }) }).catch(() => undefined),
    );
    await patiently(() => calls() === 4);
    for (const pid of pidsOf(gateway).values()) process.kill(pid, 'SIGKILL');
    expect((await asking).every((reply) => reply === undefined)).to.equal(true);
    await patiently(() => readies(gateway) === 6);
    release();
    const replies = await atOnce(8, () => send(`${gateway.url}${CHAT}`, { key, body: chat() }));
    expect(counted(replies, 200)).to.equal(4);
    expect(counted(replies, 402)).to.equal(4);
    let json: any;
    await patiently(async () => {
      ({ json } = await send(`${gateway.url}/admin/health`));
      return json.components.some((each: any) => each.name === 'Workers' && each.status === 'healthy');
    });
    expect(json.targets[0]).to.include({ in_flight: 0, waiting: 0 });
    const { text } = await send(`${gateway.url}/metrics`);
    expect(text).to.contain('gateway_worker_restarts_total{reason="signal"} 3');
    expect(id).to.be.a('string');
  });

  it('replaces all of them on SIGUSR2, and streams go on', async () => {
    const { gateway, release } = await start();
    const streams = await atOnce(4, async () => {
      const client = await rawClient(gateway.url);
      const body = JSON.stringify(chat({ stream: true }));
      client.send(
        `POST ${CHAT} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${gateway.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      await client.until(/one/);
      return client;
    });
    gateway.child.kill('SIGUSR2');
    await patiently(() => readies(gateway) >= 4);
    release();
    for (const client of streams) expect(await client.until(/\[DONE\]/)).to.contain('two');
    await patiently(() => readies(gateway) === 6);
    expect(counted(await atOnce(12, () => send(`${gateway.url}${CHAT}`, { body: chat() })), 200)).to.equal(12);
    expect(gateway.lines.filter(({ level }) => level === 'ERROR')).to.deep.equal([]);
    expect(await gateway.stop()).to.equal(0);
  });

  it('finishes what runs before it ends', async () => {
    const { gateway, release, calls } = await start();
    const asking = atOnce(3, () => send(`${gateway.url}${CHAT}`, { body: chat({ user: 'held' }) }));
    await patiently(() => calls() === 3);
    const stopped = gateway.stop();
    await patiently(() => gateway.lines.some(({ msg, worker }) => msg === 'draining' && worker === 3));
    release();
    expect(counted(await asking, 200)).to.equal(3);
    expect(await stopped).to.equal(0);
  });

  it('ends with the primary, whose port is free then', async () => {
    const { gateway } = await start({ GW_SHUTDOWN_TIMEOUT: '1s' });
    const pids = [...pidsOf(gateway).values()];
    gateway.child.kill('SIGKILL');
    await patiently(() => pids.every((pid) => !lives(pid)));
    const { port } = new URL(gateway.url);
    const next = await startGateway({ variables: { PORT: port } });
    expect((await send(`${next.url}/livez`)).status).to.equal(200);
  });

  it('refuses a port that another gateway has, and a number of workers that cannot be read', async () => {
    const { gateway } = await start();
    const { port } = new URL(gateway.url);
    const variables = { PORT: port, GW_WORKERS: '2' };
    const second = await runGw(['serve'], { variables });
    expect(second.code).to.equal(1);
    expect(second.stderr).to.contain(`port ${port} is in use`);
    const wrong = await runGw(['serve'], { variables: { GW_WORKERS: 'many' } });
    expect(wrong.code).to.equal(1);
    expect(wrong.stderr).to.contain('GW_WORKERS is "many"');
  });
});

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
