import { expect } from 'chai';
import { Dice, fakeClock, isSoak, MASTER_KEY } from '../kit/index.ts';
import {
  BAD_KEY,
  BROKEN,
  chat,
  FORBIDDEN,
  NO_CREDIT,
  RATE,
  providerOf,
  startPool,
  variablesOf,
  type VendorAnswer,
  vendorOf,
} from './vendor.ts';

const INSTANCES = [0, 1, 2, 3, 4];
const KEYS_OF = INSTANCES.map((at) => [0, 1, 2, 3].map((key) => `k${at}${key}`));
const ALL = KEYS_OF.flat();
const MOODS: Readonly<Record<string, VendorAnswer | undefined>> = {
  well: undefined,
  rate: { ...RATE, headers: { 'retry-after': '7' } },
  spent: NO_CREDIT,
  unpaid: { status: 402, body: { error: { message: 'Insufficient Balance' } } },
  revoked: BAD_KEY,
  forbidden: FORBIDDEN,
};

describe('a fleet of five instances with four credentials each, whose vendors fail at random', () => {
  it('answers while a healthy pair is ready, within the bounds of attempts, and its figures add up', async function () {
    this.timeout(120_000);
    const dice = new Dice(11);
    const clock = fakeClock();
    const moods = new Map(ALL.map((key) => [key, 'well']));
    const broken = new Set<number>();
    const vendor = await vendorOf((key) => (broken.has(Number(key[1])) ? BROKEN : MOODS[moods.get(key) ?? 'well']));
    const t = await startPool(vendor, [], {
      clock,
      random: () => dice.below(1000) / 1000,
      variables: variablesOf(ALL),
      config: {
        strategy: { mode: 'fallback', failover_on_status_codes: [401, 403] },
        providers: Object.fromEntries(KEYS_OF.map((keys, at) => [`i${at}`, providerOf(vendor, keys)])),
        targets: INSTANCES.map((at) => ({ virtual_key: `i${at}`, models: ['m'] })),
        plugins: [{ name: 'request-logger' }],
      },
    });
    /** Refusals that may be the request's own are followed by one further credential alone. */
    const isDoubted = (key: string): boolean => moods.get(key) === 'forbidden' || moods.get(key) === 'revoked';
    /** An instance that serves: nothing of it fails by itself, and a key that is ready works. */
    const isHealthy = (at: number): boolean => {
      const { current } = t.host;
      const instance = current?.instances.get(`i${at}`);
      const views = instance ? current?.hooks.credentials.call()?.viewsFor(instance, 'm') : undefined;
      if (broken.has(at) || views?.some(({ name }) => isDoubted(name))) return false;
      return views?.some(({ name, state }) => state === 'ready' && moods.get(name) === 'well') === true;
    };
    const endAt = Date.now() + (isSoak() ? 60_000 : 0);
    let [requests, healthy] = [0, 0];
    for (; requests < 250 || Date.now() < endAt; requests += 1) {
      clock.advance(dice.below(60_000));
      if (dice.below(2) === 0) moods.set(dice.pick(ALL), dice.pick(Object.keys(MOODS)));
      if (dice.below(10) === 0) broken.add(dice.below(5));
      if (dice.below(5) === 0) broken.delete(dice.pick([...broken, 0]));
      const isServed = INSTANCES.some(isHealthy);
      healthy += Number(isServed);
      const before = vendor.keys.length;
      const answer = await t.post('/v1/chat/completions', chat('m'));
      if (isServed) expect(answer.status, `request ${requests}`).to.equal(200);
      const calls = vendor.keys.length - before;
      expect(calls).to.be.at.most(20);
      if (calls > 0) expect(Number(answer.headers.get('x-gateway-attempts'))).to.be.at.least(calls);
      expect(answer.text).not.to.include(MASTER_KEY);
    }
    expect(healthy).to.be.greaterThan(50);
    const sum = (name: string): number =>
      t.samples.filter((sample) => sample.name === name).reduce((total, { value }) => total + value, 0);
    expect(sum('gateway_credential_calls_total')).to.equal(vendor.keys.length);
    expect(sum('gateway_requests_total')).to.equal(requests);
  });
});
