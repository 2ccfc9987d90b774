import { expect } from 'chai';
import { Beat, BEAT_MS, FENCE_MS } from '../../builtins/stores/replicas/beat.ts';
import type { BeatAnswer, BeatCall } from '../../builtins/stores/replicas/sql-beat.ts';
import { StoreClock } from '../../host/stores/replicas/store-clock.ts';
import type { JobFamily } from '../../host/stores/replicas/leaders.ts';
import { Replica } from '../../host/stores/replicas/replica.ts';
import { atEnd, fakeClock } from '../kit/index.ts';
import { SILENT } from './backends.ts';

const START = 1_700_000_000_000;
const FACTS = { host: 'web-1', version: 'test', pid: 1, boot: '' };

/** A beat whose database is a script, and a machine's clock that may be wrong. */
async function scene(families: readonly JobFamily[] = ['keys', 'log']) {
  const clock = fakeClock(START);
  const machine = { ...clock, aheadMs: 0, now: () => clock.now() + machine.aheadMs };
  const calls: string[] = [];
  const beats: BeatCall[] = [];
  const warnings: (readonly [string, unknown])[] = [];
  const heard: string[] = [];
  let ids = 0;
  const state = {
    isAway: false,
    isMember: true,
    leads: undefined as readonly string[] | undefined,
    answer: (): Promise<void> => Promise.resolve(),
  };
  const replica = new Replica((size) => Buffer.alloc(size, (ids += 1)));
  const asked = <T>(name: string, value: () => T): Promise<T> => {
    calls.push(name);
    return state.isAway ? Promise.reject(new Error('connection refused')) : state.answer().then(value);
  };
  const time = new StoreClock(machine);
  const beat = new Beat({
    clock: machine,
    log: {
      ...SILENT,
      warn: (message, attributes) => {
        warnings.push([message, attributes]);
      },
    },
    time,
    replica,
    facts: FACTS,
    families,
    store: {
      join: (id) => asked(`join ${id.slice(0, 2)}`, () => undefined),
      beat: (call) => {
        beats.push(call);
        return asked<BeatAnswer>(`beat ${call.id.slice(0, 2)}`, () => ({
          time: clock.now(),
          isMember: state.isMember,
          leads: state.leads ?? call.families,
        }));
      },
      giveLeasesAway: (id) => asked(`give away ${id.slice(0, 2)}`, () => undefined),
      leave: (id) => asked(`leave ${id.slice(0, 2)}`, () => undefined),
    },
    ear: {
      sending: (nonce) => heard.push(`sending ${nonce}`),
      answered: (error) => heard.push(error === undefined ? 'answered' : 'failed'),
      moved: () => heard.push(`moved ${replica.id.slice(0, 2)}`),
    },
  });
  await beat.open();
  atEnd(() => beat.close());
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= BEAT_MS) {
      clock.advance(Math.min(left, BEAT_MS));
      await new Promise(setImmediate);
      clock.advance(0); // what is due at once after it
      await new Promise(setImmediate);
    }
  };
  return { clock, machine, time, beat, calls, beats, warnings, heard, state, pass };
}

describe('the beat of a replica', () => {
  it('joins once, and then renews every two seconds', async () => {
    const { calls, heard, pass } = await scene();
    await pass(2 * BEAT_MS);
    expect(calls).to.deep.equal(['join 01', 'beat 01', 'beat 01', 'beat 01']);
    expect(heard).to.deep.equal(['sending 1', 'answered', 'sending 2', 'answered', 'sending 3', 'answered']);
  });

  it('leads what the database says, for twelve seconds after the sending of the last beat that was answered', async () => {
    const { beat, clock, state, pass } = await scene();
    expect([beat.isLeader('keys'), beat.isLeader('log'), beat.isLeader('config')]).to.deep.equal([true, true, false]);
    state.leads = ['log'];
    await pass(BEAT_MS);
    expect([beat.isLeader('keys'), beat.isLeader('log')]).to.deep.equal([false, true]);
    state.isAway = true;
    await pass(FENCE_MS - 1);
    expect(beat.isLeader('log')).to.equal(true);
    clock.advance(1);
    expect(beat.isLeader('log'), 'a process that was stopped finds so, too').to.equal(false);
    state.isAway = false;
    await pass(2 * BEAT_MS);
    expect(beat.isLeader('log')).to.equal(true);
  });

  it('does not go by an answer that took longer than its limit, but by the moment of its sending', async () => {
    const { beat, clock, state, pass, heard } = await scene();
    let answer = (): void => {};
    state.answer = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    clock.advance(BEAT_MS); // sent
    await pass(BEAT_MS);
    expect(heard.slice(-2), 'given up after two seconds, and sent again').to.deep.equal(['failed', 'sending 3']);
    state.answer = () => Promise.resolve();
    answer();
    await pass(2 * BEAT_MS);
    expect(heard.at(-1)).to.equal('answered');
    expect(beat.isLeader('log')).to.equal(true);
  });

  it('joins under another id once its row is gone, and holds nothing until then', async () => {
    const { beat, calls, warnings, heard, state, pass } = await scene();
    state.isMember = false;
    await pass(BEAT_MS);
    expect(beat.isLeader('log')).to.equal(false);
    state.isMember = true;
    await pass(BEAT_MS);
    expect(calls.slice(-2)).to.deep.equal(['join 02', 'beat 02']);
    expect(heard).to.include('moved 02');
    expect(warnings).to.deep.equal([['this replica was expelled and joins anew', { after_ms: BEAT_MS }]]);
    expect(beat.isLeader('log')).to.equal(true);
  });

  it('gives everything back at a stop', async () => {
    const { beat, calls } = await scene();
    await beat.close();
    expect(calls.at(-1)).to.equal('leave 01');
    expect(beat.isLeader('log')).to.equal(false);
  });

  for (const [aheadMs, isWarned, rests] of [
    [1900, false, false],
    [-1900, false, false],
    [2100, true, false],
    [-2100, true, false],
    [59_000, true, false],
    [61_000, true, true],
    [-61_000, true, true],
    [3_600_000, true, true],
    [400 * 86_400_000, true, true],
  ] as const)
    it(`${isWarned ? 'warns of' : 'overlooks'} a clock that is ${aheadMs} ms ahead${rests ? ', and gives the lead away' : ''}`, async () => {
      const { machine, beat, beats, calls, warnings, time, pass } = await scene();
      machine.aheadMs = aheadMs;
      expect(beat.isLeader('log'), 'at once').to.equal(!rests);
      await pass(3 * BEAT_MS);
      const warning = ["the clock of this machine differs from the database's", { rule: 'WN80', offset_ms: aheadMs }];
      expect(warnings).to.deep.equal(isWarned ? [warning] : []);
      expect(calls.filter((call) => call.startsWith('give'))).to.have.length(rests ? 1 : 0);
      expect(beats.at(-1)?.families).to.deep.equal(rests ? [] : ['keys', 'log']);
      expect(beats.at(-1)?.offsetMs).to.equal(aheadMs);
      expect(beat.isLeader('log')).to.equal(!rests);
      expect(time.now(), 'the time of the store is the same').to.equal(START + 3 * BEAT_MS);
      await pass(3_600_000 - 4 * BEAT_MS);
      expect(warnings).to.have.length(isWarned ? 1 : 0);
      await pass(4 * BEAT_MS);
      expect(warnings, 'once an hour').to.have.length(isWarned ? 2 : 0);
      machine.aheadMs = 0;
      await pass(BEAT_MS);
      expect(beat.isLeader('log')).to.equal(true);
    });
});
