import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { StopSignal } from '../../host/stop-signal.ts';
import { ask, atEnd, BIN, inSoak, isSoak, startGateway, temporaryFolder } from '../kit/index.ts';

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  readonly until: (words: string) => Promise<void>;
}

function start(args: readonly string[], cwd: string, variables: Record<string, string> = {}): Started {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd,
    env: { PATH, HOME, PORT: '0', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  atEnd(() => {
    child.kill('SIGKILL');
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = once(child, 'close').then(([code, signal]): Ended => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
    stdout,
    stderr,
  }));
  const until = async (words: string): Promise<void> => {
    while (!stderr.includes(words)) await once(child.stderr, 'data');
  };
  return { child, ended, until };
}

/** A folder whose one module takes `ms` milliseconds to load, and says on stderr when it begins. */
async function folderWithSlowModule(ms: number): Promise<string> {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'plugins'));
  await writeFile(join(folder, 'config.yaml'), 'targets: [{virtual_key: echo}]\n');
  await writeFile(
    join(folder, 'plugins', 'slow.ts'),
    `
    import Joi from 'joi';
    import { definePlugin } from 'gw/contract';
    process.stderr.write('the module loads\\n');
    await new Promise((resolve) => { setTimeout(resolve, ${ms}); });
    export default definePlugin({ name: 'slow', type: 'logging', summary: 'Takes its time', stages: ['on_error'], settings: Joi.object({}), create: () => ({ on_error() {} }) });
  `,
  );
  return folder;
}

/** A file that sends the process a signal as soon as something listens for it, or at once. */
async function signalWhileLoading(signal: NodeJS.Signals): Promise<string> {
  const path = join(await temporaryFolder(), 'signal.mjs');
  await writeFile(
    path,
    `const timer = setInterval(() => { if (process.listenerCount('${signal}') > 0) { clearInterval(timer); process.kill(process.pid, '${signal}'); } }, 1);\ntimer.unref();\n`,
  );
  return path;
}

describe('a signal during the start', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const [whileModules, whileProgram] = signal === 'SIGTERM' ? [it, inSoak] : [inSoak, it];
    whileModules(`ends it in good order: ${signal} while a module loads`, async () => {
      const { child, ended, until } = start(['serve'], await folderWithSlowModule(300));
      await until('the module loads');
      child.kill(signal);
      const { code, stdout, stderr } = await ended;
      expect(code).to.equal(0);
      expect(stdout).to.contain('gw stopped before it had started').and.not.contain('"gw started"');
      expect(stderr).not.to.contain('Address:');
    });

    whileProgram(`ends it in good order: ${signal} while the program itself loads`, async () => {
      const { ended } = start(['serve'], await temporaryFolder(), {
        NODE_OPTIONS: `--import ${await signalWhileLoading(signal)}`,
      });
      const { code, stdout } = await ended;
      expect(code).to.equal(0);
      expect(stdout).not.to.contain('"gw started"');
    });

    if (signal === 'SIGINT' || isSoak())
      it(`ends another command as ever: ${signal}`, async () => {
        const loading = start(['validate', 'config.yaml'], await folderWithSlowModule(9000), {
          NODE_OPTIONS: `--import ${await signalWhileLoading(signal)}`,
        });
        expect((await loading.ended).signal).to.equal(signal);
        const running = start(['validate', 'config.yaml'], await folderWithSlowModule(9000));
        await running.until('the module loads');
        running.child.kill(signal);
        expect((await running.ended).signal).to.equal(signal);
      });
  }

  it('waits for a module that hangs no longer than for requests', async () => {
    const { child, ended, until } = start(['serve'], await folderWithSlowModule(9000), {
      GW_SHUTDOWN_TIMEOUT: '200ms',
    });
    await until('the module loads');
    child.kill('SIGTERM');
    expect((await ended).code).to.equal(0);
  });

  it('kills at once when a second one comes', async () => {
    const { child, ended, until } = start(['serve'], await folderWithSlowModule(9000), { GW_SHUTDOWN_TIMEOUT: '60s' });
    await until('the module loads');
    child.kill('SIGTERM');
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    }); // two of one kind at one moment are one
    child.kill('SIGTERM');
    expect((await ended).signal).to.equal('SIGTERM');
  });
});

/** Signals that this process sends itself, which none of them reaches; listeners of signals go with each test. */
function signalsKept(): unknown[][] {
  const sent: unknown[][] = [];
  const kill = process.kill.bind(process);
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  let before: (readonly [NodeJS.Signals, readonly unknown[]])[] = [];
  beforeEach(() => {
    sent.length = 0;
    before = signals.map((signal) => [signal, process.listeners(signal)]);
    process.kill = (...args) => {
      sent.push(args);
      return true;
    };
  });
  afterEach(() => {
    process.kill = kill;
    for (const [signal, kept] of before)
      for (const listener of process.listeners(signal))
        if (!kept.includes(listener)) process.off(signal, listener as NodeJS.SignalsListener);
  });
  return sent;
}

describe('a signal that came before there was a listener', () => {
  const sent = signalsKept();

  it('takes one that is passed on for the one that came, and lets the next end the process', async () => {
    const stop = new StopSignal({ isPassedOn: true, hasTerminal: false });
    let calls = 0;
    stop.onStop(() => {
      calls += 1;
    });
    const before = process.listenerCount('SIGTERM');
    process.emit('SIGTERM', 'SIGTERM');
    process.emit('SIGTERM', 'SIGTERM');
    expect([calls, process.listenerCount('SIGTERM')]).to.deep.equal([1, before]);
    while (process.listenerCount('SIGTERM') === before)
      await new Promise((resolve) => {
        setTimeout(resolve, 10);
      });
    expect([calls, sent]).to.deep.equal([1, []]);
  });

  it('lets the next end the process at once where none is passed on, and another signal anywhere', () => {
    for (const isPassedOn of [false, true]) {
      const before = process.listenerCount('SIGTERM');
      new StopSignal({ isPassedOn, hasTerminal: false }).onStop(() => {});
      process.emit('SIGTERM', 'SIGTERM');
      if (isPassedOn) process.emit('SIGINT', 'SIGINT');
      expect([process.listenerCount('SIGTERM') - before, sent.splice(0)]).to.deep.equal([
        0,
        isPassedOn ? [[process.pid, 'SIGINT']] : [],
      ]);
    }
  });

  it('calls the listener that is added later, and ends nothing', () => {
    const stop = new StopSignal({ isPassedOn: false, hasTerminal: false });
    process.emit('SIGTERM', 'SIGTERM');
    let calls = 0;
    stop.onStop(() => {
      calls += 1;
    });
    stop.settle();
    expect([calls, sent]).to.deep.equal([1, []]);
  });

  it('ends the process once it is known that there will be no listener', () => {
    const stop = new StopSignal({ isPassedOn: false, hasTerminal: false });
    process.emit('SIGTERM', 'SIGTERM');
    expect(sent).to.deep.equal([]);
    stop.settle();
    expect(sent).to.deep.equal([[process.pid, 'SIGTERM']]);
  });
});

describe('SIGHUP', () => {
  const sent = signalsKept();
  const before = process.listenerCount('SIGHUP');
  const hangUp = (): boolean => process.emit('SIGHUP', 'SIGHUP');

  it('without a terminal calls the service that listens, each time, and ends nothing', () => {
    const stop = new StopSignal({ isPassedOn: false, hasTerminal: false });
    const calls: string[] = [];
    hangUp(); // before the service has asked: it reads everything yet
    stop.onStop(() => calls.push('stop'));
    stop.onHangUp(() => calls.push('look'));
    stop.settle();
    hangUp();
    hangUp();
    stop.settle();
    expect([calls, sent]).to.deep.equal([['look', 'look'], []]);
    process.emit('SIGTERM', 'SIGTERM');
    hangUp(); // some service managers send it behind SIGTERM
    expect([calls, sent]).to.deep.equal([['look', 'look', 'stop', 'look'], []]);
  });

  it('without a terminal ends a command that does not listen, as ever', () => {
    const stop = new StopSignal({ isPassedOn: false, hasTerminal: false });
    stop.settle();
    expect(process.listenerCount('SIGHUP')).to.equal(before);
    const early = new StopSignal({ isPassedOn: false, hasTerminal: false });
    hangUp();
    expect(sent).to.deep.equal([]);
    early.settle();
    expect([sent, process.listenerCount('SIGHUP')]).to.deep.equal([[[process.pid, 'SIGHUP']], before]);
  });

  it('with a terminal stops a service once, however often it comes, and lets another signal end the process', () => {
    const terms = process.listenerCount('SIGTERM');
    const stop = new StopSignal({ isPassedOn: false, hasTerminal: true });
    const calls: string[] = [];
    stop.onStop(() => calls.push('stop'));
    stop.onHangUp(() => calls.push('look'));
    stop.settle();
    for (let time = 0; time < 3; time += 1) hangUp();
    expect([calls, sent, process.listenerCount('SIGTERM')]).to.deep.equal([['stop'], [], terms]);
  });

  it('with a terminal ends a command that is not a service', () => {
    const stop = new StopSignal({ isPassedOn: false, hasTerminal: true });
    stop.settle();
    hangUp();
    expect(sent).to.deep.equal([[process.pid, 'SIGHUP']]);
  });

  it('leaves a gateway without a terminal as it is: it serves on, and reads no configuration', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'config.yaml'), 'targets: [{virtual_key: echo}]\n');
    const gateway = await startGateway({ cwd: folder, variables: { GATEWAY_CONFIG: 'config.yaml' } });
    await writeFile(join(folder, 'config.yaml'), 'targets: [{virtual_key: nothing}]\n');
    for (let time = 0; time < 3; time += 1) gateway.child.kill('SIGHUP');
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}` },
      body: JSON.stringify(ask('hi', { model: 'echo' })),
    });
    expect(answer.status).to.equal(200);
    gateway.child.kill('SIGHUP');
    expect(await gateway.stop('SIGTERM')).to.equal(0);
    expect(gateway.lines.map(({ msg }) => msg)).to.include.members(['gw started', 'gw stopped']);
    expect(gateway.lines.filter(({ level }) => level === 'warn' || level === 'error')).to.deep.equal([]);
  });
});

describe('SIGUSR1', () => {
  it('opens no debugger, and ends nothing', async () => {
    const gateway = await startGateway({ cwd: await temporaryFolder() });
    gateway.child.kill('SIGUSR1');
    const headers = { authorization: `Bearer ${gateway.key}` };
    for (let round = 0; round < 10; round += 1) {
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers,
        body: JSON.stringify(ask('hi', { model: 'echo' })),
      });
      expect(answer.status).to.equal(200);
    }
    expect(await gateway.stop('SIGTERM')).to.equal(0);
    expect(gateway.stderr()).not.to.match(/debugger/i);
  });
});
