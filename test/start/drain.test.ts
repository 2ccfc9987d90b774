import { expect } from 'chai';
import { BUILTINS, MODULES } from '../../builtins/manifest.ts';
import { createHost } from '../../host/create-host.ts';
import { type RunningGateway, startGateway } from '../../host/start/start-gateway.ts';
import { atEnd, eventually, fakeClock, type FakeClock, MASTER_KEY, temporaryFolder } from '../kit/index.ts';

interface Draining {
  readonly clock: FakeClock;
  readonly lines: readonly Record<string, unknown>[];
  readonly get: (path: string) => Promise<Response>;
  /** Ends as after a first signal. */
  readonly stop: () => Promise<void>;
}

/** A whole gateway in this process, on a clock that stands still. */
async function startWith(variables: Readonly<Record<string, string>>): Promise<Draining> {
  const folder = await temporaryFolder();
  const lines: Record<string, unknown>[] = [];
  const clock = fakeClock();
  const host = createHost({
    variables: { PORT: '0', MASTER_KEY, RATE_LIMIT_RPS: '0', ...variables },
    workingDirectory: folder,
    installDirectory: folder,
    build: { version: 'test', commit: 'none', built: 'unknown' },
    argv: process.argv,
    platform: { node: process.version, os: process.platform, arch: process.arch },
    clock,
    random: Math.random,
    modules: MODULES,
    builtins: BUILTINS,
    lines: {
      write: (line) => {
        lines.push(JSON.parse(line) as Record<string, unknown>);
      },
    },
  });
  const gateway = (await startGateway(host)) as RunningGateway;
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= gateway.stop());
  atEnd(async () => {
    const over = stop();
    let isOver = false;
    void over.then(() => (isOver = true));
    await eventually(() => {
      clock.advance(60_000);
      return isOver;
    });
    await over;
  });
  const get = (path: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${gateway.port}${path}`, { headers: { authorization: `Bearer ${MASTER_KEY}` } });
  return { clock, lines, get, stop };
}

describe('the delay before a process drains', () => {
  it('has readiness at 503 at once, and requests served as before', async () => {
    const { clock, lines, get, stop } = await startWith({ GW_DRAIN_DELAY: '20s' });
    const stopping = stop();
    expect(lines.find(({ msg }) => msg === 'draining')).to.include({
      requests: 0,
      delay_ms: 20_000,
      timeout_ms: 15_000,
    });
    clock.advance(19_999);
    for (const [path, status] of [
      ['/readyz', 503],
      ['/readyz?ignore=targets,mcp', 503],
      ['/health', 200],
      ['/livez', 200],
      ['/v1/models', 200],
    ] as const) {
      const answer = await get(path);
      expect([path, answer.status, answer.headers.get('connection')]).to.deep.equal([path, status, 'keep-alive']);
      if (status === 503) expect(((await answer.json()) as { reason: string }).reason).to.equal('draining');
      else await answer.text();
    }
    expect(lines.some(({ msg }) => msg === 'gw stopped')).to.equal(false);
    clock.advance(1);
    await stopping;
    expect(lines.at(-1)).to.include({ msg: 'gw stopped' });
  });

  it('is none unless said', async () => {
    const { lines, stop } = await startWith({});
    await stop();
    expect(lines.find(({ msg }) => msg === 'draining')).to.include({ delay_ms: 0 });
  });
});
