import { join } from 'node:path';
import { expect } from 'chai';
import { logger } from '../admin/logs-kit.ts';
import { cases, Dice, eventually, MASTER_KEY, startHost, temporaryFolder, type TestHost } from '../kit/index.ts';
import {
  configOf,
  ENDS,
  endingVendor,
  NAMES,
  VARIABLES,
  type Vendor,
  WIRES,
  type World,
  worldOf,
} from './combinations.ts';

const WORLDS = 100;
const REQUESTS = 30;
const PLUGINS = [
  { name: 'pii-redact' },
  { name: 'word-filter', config: { words: ['zzz'] } },
  { name: 'response-cache' },
];

const sum = ({ samples }: TestHost, name: string): number =>
  samples.filter((sample) => sample.name === name).reduce((total, { value }) => total + value, 0);

async function inFlight(t: TestHost): Promise<number> {
  const { targets } = (await t.get('/admin/health')).json();
  return targets.reduce((total: number, each: any) => total + (each.in_flight ?? 0), 0);
}

/** Asks in every wire; from some requests the client leaves. */
async function askAll(
  t: TestHost,
  vendor: Vendor,
  { isGroup, pool }: World,
  dice: Dice,
): Promise<ReadonlyMap<string, number>> {
  const told = new Map<string, number>();
  const ends = Object.keys(ENDS);
  for (let at = 0; at < REQUESTS; at += 1) {
    for (const key of ['xa', 'xb', 'xc', 'ya']) vendor.ends.set(key, dice.below(2) ? 'served' : dice.pick(ends));
    const [wire, ask] = dice.pick(Object.entries(WIRES));
    const [isStream, isLeft] = [dice.below(2) === 0, dice.below(8) === 0];
    const text = `question ${at}.`;
    const [path, body] = ask(isGroup ? 'g' : 'm', isStream, text);
    const headers: Record<string, string> = dice.below(2) ? { 'x-gateway-session': `s-${dice.below(4)}` } : {};
    const label = `${at} ${wire} ${isStream ? 'stream' : 'whole'} pool ${pool} ${JSON.stringify([...vendor.ends])}`;
    if (isLeft) {
      const signal = AbortSignal.timeout(dice.below(30));
      const options = {
        method: 'POST',
        headers: { ...headers, authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal,
      };
      await fetch(`${t.url}${path}`, options)
        .then((reply) => reply.text())
        .catch(() => {});
      await eventually(() => t.host.activity.count === 0);
      continue;
    }
    const answer = await t.post(path, body, headers).catch(() => undefined); // bytes that go on as they are may break off
    if (!answer) continue;
    const seen = answer.text + JSON.stringify([...answer.headers]);
    for (const name of [...NAMES, ...Object.values(VARIABLES)]) expect(seen, label).not.to.include(name);
    const calls = vendor.texts.filter((each) => each.includes(text)).length;
    const attempts = Number(answer.headers.get('x-gateway-attempts') ?? 0);
    if (calls > 0 && answer.headers.has('x-gateway-attempts'))
      expect(attempts, `${label} ${answer.status} ${answer.text}`).to.be.at.least(calls);
    if (answer.headers.has('x-gateway-attempts')) told.set(answer.headers.get('x-request-id') ?? '', attempts);
    if (answer.status === 200) expect(answer.headers.get('x-gateway-target'), label).to.be.oneOf(['x', 'y', null]);
    expect(answer.status, label).to.be.oneOf([200, 400, 404, 429, 502, 503, 504, 401, 402, 403, 500, 501]);
  }
  return told;
}

describe('requests of every wire against pools whose vendor ends calls in every way', function suite() {
  this.timeout(600_000);

  for (let seed = 0; seed < cases(WORLDS); seed += 1)
    it(`tell the client, rows, figures and slots alike: seed ${seed}`, async () => {
      const dice = new Dice(seed);
      const [vendor, world] = [await endingVendor(), worldOf(dice)];
      const variables = {
        ...VARIABLES,
        REQUEST_LOG_STORE_BACKEND: 'sqlite',
        REQUEST_LOG_STORE_DSN: join(await temporaryFolder(), 'requests.db'),
      };
      const plugins = [...logger(), ...PLUGINS.filter(() => dice.below(2) === 0)];
      const t = await startHost(configOf(vendor, world, plugins), { variables, random: () => dice.below(1000) / 1000 });
      const told = await askAll(t, vendor, world, dice);
      await eventually(async () => t.host.activity.count === 0 && (await inFlight(t)) === 0);
      expect(await inFlight(t)).to.equal(0);
      const views = [...(t.host.current?.instances.values() ?? [])].flatMap(
        (each) => t.host.current?.hooks.credentials.call()?.views(each) ?? [],
      );
      expect(
        views.map((each) => each.inFlight),
        'slots of credentials',
      ).to.deep.equal(views.map(() => 0));
      expect(sum(t, 'gateway_credential_calls_total')).to.be.at.least(vendor.texts.length);
      for (const text of t.texts) for (const value of Object.values(VARIABLES)) expect(text).not.to.include(value);
      const { data } = (await t.get('/admin/logs?limit=100')).json();
      const refused = sum(t, 'gateway_refused_requests_total'); // before they were exchanges
      expect(sum(t, 'gateway_requests_total') + refused).to.equal(data.length);
      for (const [id, attempts] of told)
        expect(data.find(({ trace_id }: any) => trace_id === id)?.attempts, id).to.equal(attempts);
      expect(told.size).to.be.greaterThan(0);
      expect(data.length).to.be.within(REQUESTS / 2, REQUESTS);
    });
});
