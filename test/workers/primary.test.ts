import { expect } from 'chai';
import type { Frame } from '../../host/workers/channel.ts';
import { Primary } from '../../host/workers/life/primary.ts';
import type { ProcessEnd, WorkerProcess } from '../../host/workers/life/worker-process.ts';
import { fakeClock, type FakeClock } from '../kit/index.ts';
import { failureOf } from './fake-team.ts';

/** A worker that does what a test says. */
interface FakeProcess extends WorkerProcess {
  readonly heard: string[];
  say(topic: string, value?: unknown): void;
  end(end: ProcessEnd): void;
  isKilled: boolean;
}

function fakeProcess(pid: number): FakeProcess {
  const heard: string[] = [];
  let hear: (frames: readonly Frame[]) => void = () => {};
  const ends: ((end: ProcessEnd) => void)[] = [];
  let number = 0;
  const self: FakeProcess = {
    pid,
    heard,
    isKilled: false,
    port: {
      send: (frames) => {
        for (const frame of frames) if (frame.kind === 'tell' || frame.kind === 'ask') heard.push(frame.topic);
        return true;
      },
      listen: (listener) => {
        hear = listener;
      },
    },
    say: (topic, value) => hear([{ kind: 'ask', topic, value, number: (number += 1) }]),
    onEnd: (listener) => void ends.push(listener),
    end: (end) => ends.forEach((listener) => listener(end)),
    kill: () => {
      self.isKilled = true;
      self.end({ code: null, signal: 'SIGKILL' });
    },
  };
  return self;
}

const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

interface Setup {
  readonly clock: FakeClock;
  readonly primary: Primary;
  readonly made: FakeProcess[];
  readonly lines: string[];
  readonly restarts: Record<string, number>;
  readonly givenUp: () => boolean;
  readonly begin: () => Promise<void>;
}

function setup(size: number): Setup {
  const clock = fakeClock();
  const made: FakeProcess[] = [];
  const lines: string[] = [];
  const restarts: Record<string, number> = {};
  let isGivenUp = false;
  const write = (message: string): void => void lines.push(message);
  const primary = new Primary({
    size,
    clock,
    fork: () => {
      const process = fakeProcess(100 + made.length);
      made.push(process);
      return process;
    },
  });
  const begin = (): Promise<void> =>
    primary.begin({
      log: { debug: write, info: write, warn: write, error: write },
      counters: {
        add: (_name: string, labels: Record<string, string> = {}) => {
          const { reason = '' } = labels;
          Object.assign(restarts, { [reason]: (restarts[reason] ?? 0) + 1 });
        },
        observe: () => {},
      } as never,
      given: (number) => ({ number }) as never,
      giveUp: () => {
        isGivenUp = true;
      },
    });
  return { clock, primary, made, lines, restarts, givenUp: () => isGivenUp, begin };
}

async function started(size: number): Promise<Setup> {
  const all = setup(size);
  const beginning = all.begin();
  for (const process of all.made) {
    process.say('given');
    process.say('ready');
  }
  await beginning;
  return all;
}

describe('the primary', () => {
  it('begins once every worker serves, and says why where one cannot', async () => {
    const { made, begin } = setup(2);
    const beginning = begin();
    made[0]!.say('ready');
    made[1]!.say('refused', 'the port is closed');
    expect((await failureOf(beginning)).message).to.equal('a worker could not start: the port is closed');
  });

  it('waits 30 s for a worker to serve', async () => {
    const { clock, made, begin } = setup(1);
    const beginning = begin();
    clock.advance(30_000);
    expect((await failureOf(beginning)).message).to.contain('did not serve within 30000 ms');
    expect(made[0]!.isKilled).to.equal(true);
  });

  it('makes another worker of the same number, later the more have ended within a minute, and gives up at the sixth', async () => {
    const { clock, primary, made, lines, restarts, givenUp } = await started(2);
    const gone: number[] = [];
    primary.onGone(({ number }) => gone.push(number));
    for (const [at, waitMs] of [0, 1000, 2000, 4000, 8000].entries()) {
      made.at(-1)!.end({ code: 1, signal: null });
      await turn();
      const before = made.length;
      if (waitMs > 0) {
        clock.advance(waitMs - 1);
        await turn();
        expect(made, `end ${at}`).to.have.lengthOf(before);
      }
      clock.advance(1);
      await turn();
      expect(made, `end ${at}`).to.have.lengthOf(before + 1);
      made.at(-1)!.say('given');
      made.at(-1)!.say('ready');
      await turn();
    }
    expect(givenUp()).to.equal(false);
    made.at(-1)!.end({ code: null, signal: 'SIGSEGV' });
    await turn();
    expect(givenUp()).to.equal(true);
    expect(gone).to.deep.equal([2, 2, 2, 2, 2, 2]);
    expect(restarts).to.deep.equal({ exit: 5, signal: 1 });
    expect(lines.filter((line) => line === 'a worker ended')).to.have.lengthOf(6);
    expect(lines.at(-1)).to.equal('workers end again and again');
  });

  it('asks a worker without a sign to end after 30 s, and kills it 5 s later', async () => {
    const { clock, primary, made, restarts } = await started(1);
    for (let second = 0; second < 31; second += 1) clock.advance(1000);
    await turn();
    expect(made[0]!.heard).to.include('drain');
    expect(primary.isUp(1)).to.equal(false);
    clock.advance(5000);
    await turn();
    expect(made[0]!.isKilled).to.equal(true);
    expect(restarts).to.deep.equal({ silent: 1 });
  });

  it('goes on without the answer of a worker that is late, or has ended', async () => {
    const { clock, primary, made } = await started(3);
    const late: number[] = [];
    const asking = primary.askAll('anything', { limitMs: 100, late: ({ number }) => late.push(number) });
    await turn();
    made[0]!.end({ code: 1, signal: null });
    await turn();
    clock.advance(100);
    const answers = await asking;
    expect(late).to.deep.equal([2, 3]);
    expect([...answers.values()].map((answer) => (answer as Error).message)).to.deep.equal(['worker 1 has ended']);
  });

  it('replaces workers one by one, and stays with the old ones where a new one cannot start', async () => {
    const { primary, made, lines, restarts } = await started(2);
    const rolling = primary.roll();
    await turn();
    expect(made).to.have.lengthOf(3);
    made[2]!.say('given');
    made[2]!.say('ready');
    await turn();
    await turn();
    expect(made[0]!.heard).to.include('drain');
    made[0]!.end({ code: 0, signal: null });
    await turn();
    expect(made).to.have.lengthOf(4);
    made[3]!.say('refused', 'no memory');
    await rolling;
    await turn();
    expect(made[1]!.heard).not.to.include('drain');
    expect(made[3]!.isKilled).to.equal(true);
    expect(restarts).to.deep.equal({ replaced: 1 });
    expect(lines).to.include('a worker could not be replaced, the others stay');
  });

  it('lets all of them finish, and kills who does not within its time', async () => {
    const { clock, primary, made } = await started(2);
    const draining = primary.drain(1000);
    await turn();
    expect(made.map(({ heard }) => heard.includes('drain'))).to.deep.equal([true, true]);
    made[0]!.end({ code: 0, signal: null });
    await turn();
    clock.advance(8000);
    await draining;
    expect(made.map(({ isKilled }) => isKilled)).to.deep.equal([false, true]);
    expect(made).to.have.lengthOf(2);
  });
});
