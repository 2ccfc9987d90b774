import { createServer } from 'node:net';
import { expect } from 'chai';
import {
  ask,
  eventually,
  expectGivenBack,
  heldBy,
  type Holdings,
  holdings,
  kept,
  MASTER_KEY,
  NOTHING_HELD,
  slotsOf,
  startGateway,
  startHost,
  stubUpstream,
  temporaryFolder,
} from './index.ts';

const failure = (work: Promise<unknown>): Promise<string | undefined> =>
  work.then(
    () => undefined,
    (error: Error) => error.message,
  );

describe('what is counted before and after', () => {
  const turn = (): Promise<void> =>
    new Promise((resolve) => {
      setImmediate(resolve);
    });

  it('sees timers, servers and listeners that stay, and none that went', async () => {
    await turn();
    const before = holdings();
    const timer = setTimeout(() => {}, 60_000);
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const listener = (): void => {};
    process.on('SIGUSR2', listener);
    expect(kept(before, holdings())).to.deep.include({ Timeout: 1, TCPServerWrap: 1, 'listener of SIGUSR2': 1 });
    clearTimeout(timer);
    process.off('SIGUSR2', listener);
    server.close();
    await expectGivenBack(before);
  });

  it('sees a lease that is never released, and what it keeps', async () => {
    const stub = await stubUpstream(() => {});
    const host = await startHost({ targets: [stub.target('a', { retry: { attempts: 2 } })] });
    const lease = host.host.slot.lease();
    await host.host.close();
    expect(heldBy(host.host)).to.deep.equal({ ...NOTHING_HELD, leases: 1, generations: 1, carried: 8 });
    lease?.release();
    await eventually(() => host.host.carryover.size === 0);
    expect(heldBy(host.host)).to.deep.equal(NOTHING_HELD);
  });

  it('sees who holds a slot and who waits for one', async () => {
    const stub = await stubUpstream(() => {});
    const host = await startHost({ targets: [stub.target('a', { concurrency: { max_concurrency: 1 } })] });
    const slots = slotsOf(host.host);
    const asked = [0, 1, 2].map(() => failure(host.post('/v1/chat/completions', ask())));
    await eventually(() => heldBy(host.host, slots).waiting === 2);
    expect(heldBy(host.host, slots)).to.deep.equal({
      leases: 3,
      generations: 1,
      carried: 7,
      requests: 3,
      running: 0,
      origins: 1,
      slots: 1,
      waiting: 2,
    });
    host.server.closeAllConnections();
    await Promise.all(asked);
    await eventually(() => heldBy(host.host, slots).leases === 0);
    expect(heldBy(host.host, slots)).to.include({ leases: 0, requests: 0, slots: 0, waiting: 0 });
  });

  it('sees what another process holds while a request hangs', async () => {
    const gateway = await startGateway({ cwd: await temporaryFolder() });
    expect(await gateway.leftover()).to.deep.equal({});
    const leaving = new AbortController();
    const body = JSON.stringify(
      ask('one two three four five six seven eight nine ten', { model: 'echo-slow', stream: true }),
    );
    const asked = failure(
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        body,
        headers: { authorization: `Bearer ${MASTER_KEY}` },
        signal: leaving.signal,
      }).then((response) => response.text()),
    );
    let held: Holdings = {};
    await eventually(async () => Object.keys((held = await gateway.held())).length > 0);
    expect(held).to.have.property('Timeout');
    leaving.abort();
    await asked;
    expect(await gateway.leftover()).to.deep.equal({});
  });
});
