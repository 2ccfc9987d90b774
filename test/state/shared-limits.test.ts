import { expect } from 'chai';
import { systemClock } from '../../host/common/clock.ts';
import { read } from '../architecture/source.ts';
import {
  ask,
  atEnd,
  chatReply,
  eventually,
  forSuite,
  type RedisServer,
  replyJson,
  runGw,
  startHost,
  startRedis,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { lastPrefix, replicas } from './together.ts';

const CHAT = '/v1/chat/completions';
const LOST = 'the shared state does not answer, this replica holds its share of each limit';
const BACK = 'the shared state answers again';

const EVERYBODY = { accounts: [{ path: '/', rpm: 30 }] };
const PLUGIN = {
  plugins: [
    {
      name: 'rate-limit',
      type: 'guardrail',
      stage: 'before_request',
      enabled: true,
      config: { requests_per_second: 1000, key_rpm: 30 },
    },
  ],
};
/** Requests that 30 a minute gives back since then, and one for what is on its way. */
const comesBack = (begun: number): number => Math.ceil((performance.now() - begun) / 2000) + 1;
const tripsOf = ({ samples }: TestHost): readonly unknown[] =>
  samples.filter(({ name }) => name === 'gateway_state_trips_total');
const linesOf = ({ lines }: TestHost, text: string): number => lines.filter(({ msg }) => msg === text).length;

describe('replicas that hold limits together', function together() {
  this.timeout(60_000);
  const server = forSuite<RedisServer>(() => startRedis());

  for (const [what, config] of [
    ['an account', EVERYBODY],
    ['the plugin rate-limit', PLUGIN],
  ] as const) {
    it(`let through what ${what} may do, and no more, wherever requests go`, async () => {
      const { send } = await replicas(server().url, 3, config);
      const begun = performance.now();
      const { 200: served = 0, 429: refused = 0 } = await send(90);
      expect(served).to.be.within(30, 30 + comesBack(begun));
      expect(served + refused).to.equal(90);
    });
  }

  it('count tokens of answers against one bucket', async () => {
    const { all, send } = await replicas(server().url, 2, { accounts: [{ path: '/', tpm: 1 }] });
    expect(await send(1)).to.deep.equal({ 200: 1 });
    await eventually(() => tripsOf(all[0]!).length >= 2); // the answer's tokens went behind it
    expect(await send(2)).to.deep.equal({ 429: 2 });
  });

  it('take attempts to sign in from one address together', async () => {
    const { all } = await replicas(server().url, 3, {});
    const begun = performance.now();
    const attempts = await Promise.all(
      Array.from(
        { length: 60 },
        async (_, at) =>
          (await all[at % 3]!.post('/admin/session', undefined, { authorization: 'Bearer wrong' })).status,
      ),
    );
    const looked = attempts.filter((status) => status === 401).length;
    expect(looked).to.be.within(20, 20 + Math.ceil((performance.now() - begun) / 6000) + 1);
    expect(attempts.filter((status) => status === 429)).to.have.lengthOf(60 - looked);
  });

  it('know within a moment what an address has used elsewhere', async () => {
    const variables = { RATE_LIMIT_RPS: '0.01', RATE_LIMIT_BURST: '20' };
    const { all, send } = await replicas(server().url, 2, {}, { variables });
    const [one, other] = all as [TestHost, TestHost];
    expect(await send(25, [one])).to.deep.equal({ 200: 20, 429: 5 });
    await eventually(() => tripsOf(one).length > 0);
    let served = 0;
    await eventually(async () => {
      const { 200: more = 0 } = await send(1, [other]);
      served += more;
      return more === 0;
    });
    expect(served).to.be.lessThan(20); // its own bucket was full
    expect(await send(3, [other])).to.deep.equal({ 429: 3 });
  });

  it('ask nothing for requests that nothing limits', async () => {
    const { all, send } = await replicas(server().url, 1, {});
    expect(await send(20)).to.deep.equal({ 200: 20 });
    expect(tripsOf(all[0]!)).to.deep.equal([]);
  });

  it('hold a share each while the server is away from all, and take off what they let through when it is back', async () => {
    const { all, relays, send } = await replicas(server().url, 3, EVERYBODY);
    const begun = performance.now();
    expect(await send(3)).to.deep.equal({ 200: 3 });
    for (const relay of relays) relay.mode = 'cut';
    await eventually(() => all.every(({ host }) => !host.limits.isUp));
    const { 200: served = 0, 429: refused = 0 } = await send(90);
    expect(served).to.be.within(24, 27 + comesBack(begun)); // of the 27 that were left, in whole shares
    expect(served + refused).to.equal(90);
    for (const each of all) expect(linesOf(each, LOST)).to.equal(1);
    for (const relay of relays) relay.mode = 'pass';
    await eventually(async () => {
      await send(3);
      return all.every((each) => linesOf(each, BACK) === 1);
    });
    expect((await send(90))[200] ?? 0).to.be.at.most(comesBack(begun)); // not a new burst
  });

  it('answer every request while the server is silent, and say so in health', async () => {
    const { all, relays, send } = await replicas(
      server().url,
      1,
      { accounts: [{ path: '/', rpm: 6000 }] },
      { clock: systemClock },
    );
    const componentsOf = async (): Promise<{ name: string; status: string }[]> =>
      (await all[0]!.get('/admin/health')).json().components;
    expect((await componentsOf()).at(-1)).to.deep.equal({ name: 'Shared state', status: 'healthy' });
    relays[0]!.mode = 'dark';
    for (let round = 0; round < 5; round += 1) expect(await send(20)).to.deep.equal({ 200: 20 });
    expect((await componentsOf()).at(-1)).to.deep.equal({ name: 'Shared state', status: 'unavailable' });
    expect(linesOf(all[0]!, LOST)).to.equal(1);
  });

  it('begin anew where the server lost everything, and say so', async () => {
    const { all, send } = await replicas(server().url, 2, EVERYBODY);
    const begun = performance.now();
    expect((await send(60))[200]).to.be.within(30, 30 + comesBack(begun));
    await server().client.flushAll();
    expect((await send(60))[200]).to.be.within(30, 30 + comesBack(begun));
    await eventually(() => all.every((each) => linesOf(each, 'the shared state began anew') === 1));
  });

  it('send the server nothing that names a user, a key or a prompt', async () => {
    const { all } = await replicas(server().url, 1, {
      ...PLUGIN,
      plugins: [{ ...PLUGIN.plugins[0], config: { requests_per_second: 1000, key_rpm: 30, user_rpm: 30 } }],
      accounts: [{ path: '/', rpm: 30, tpm: 1000 }],
    });
    const heard: string[] = [];
    const watcher = server().client.duplicate();
    await watcher.connect();
    atEnd(() => watcher.destroy());
    await watcher.monitor((line) => void heard.push(line));
    const body = { ...ask(), user: 'canary-user', messages: [{ role: 'user', content: 'canary-prompt' }] };
    expect((await all[0]!.post(CHAT, body, { 'x-canary': 'canary-header' })).status).to.equal(200);
    await eventually(() => heard.some((line) => line.includes(':1:t:')));
    expect(heard.join('\n')).not.to.match(/canary|Bearer|master/i);
  });
});

describe('a gateway and its server of shared limits', () => {
  it('starts where it is away, serves, and says what it could not ask', async () => {
    const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
    const t = await startHost(
      { targets: [stub.target('a')], ...EVERYBODY },
      { variables: { GW_STATE_URL: 'redis://user:canary-password@127.0.0.1:1', RATE_LIMIT_RPS: '0' } },
    );
    expect((await t.post(CHAT, ask())).status).to.equal(200);
    expect(linesOf(t, 'the shared state did not answer at the start, it is asked again all the time')).to.equal(1);
    expect(t.texts.join('\n')).not.to.include('canary-password');
  });

  it('does not start where it is one of a cluster', async () => {
    const { url } = await startRedis('--cluster-enabled', 'yes');
    const failure = await startHost({}, { variables: { GW_STATE_URL: url } }).then(
      () => undefined,
      (error: unknown) => String(error),
    );
    expect(failure).to.include('Redis Cluster is not supported');
  });

  it('needs no more rights there than the documentation says', async () => {
    const rights = /`(~gw:\* -@all [^`]+)`/.exec(read('docs/stores.md'))?.[1] ?? '';
    const { url, client } = await startRedis();
    await client.sendCommand(['ACL', 'SETUSER', 'gateway', 'on', '>word', ...rights.split(' ')]);
    const limited = new URL(url);
    limited.username = 'gateway';
    limited.password = 'word';
    const { all, send } = await replicas(limited.href, 2, EVERYBODY);
    const begun = performance.now();
    expect((await send(60))[200]).to.be.within(30, 30 + comesBack(begun));
    const doctor = await runGw(['doctor'], { variables: { GW_STATE_URL: limited.href } });
    expect(doctor.stdout)
      .to.match(/Shared state[^]*a server [0-9.]+ answers/)
      .and.not.include('word@');
    for (const each of all) {
      expect(linesOf(each, LOST)).to.equal(0);
      await each.close();
    }
    expect(await client.zCard(`gw:{${lastPrefix()}}:1:m`)).to.equal(0);
  });
});
