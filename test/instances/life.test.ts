import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { bearer } from 'gw/contract';
import {
  chatReply,
  eventually,
  fakeClock,
  replyJson,
  startHost,
  stubUpstream,
  type StubUpstream,
  temporaryFolder,
  type TestHost,
} from '../kit/index.ts';
import { keyOf, listed, rules, statusOf } from './support.ts';

const KEY = 'sk-of-these-tests-0123456789';
const VARIABLES = { KEY_A: KEY, STUB_API_KEY: 'stub-key-0123456789' };

/** Answers with the number of the connection that a request came by. */
async function numbered(): Promise<StubUpstream> {
  const sockets = new Map<unknown, number>();
  return stubUpstream((request, response) => {
    const { socket } = response;
    if (!sockets.has(socket)) sockets.set(socket, sockets.size);
    replyJson(response, 200, chatReply(`${sockets.get(socket)} ${request.headers.authorization}`));
  });
}

const inits = ({ samples }: TestHost): object[] =>
  samples.filter(({ name }) => name === 'gateway_provider_init_failures_total').map(({ labels }) => labels);

describe('a change of one of ten instances', () => {
  const NAMES = Array.from({ length: 10 }, (_, at) => `n-${at}`);

  it('leaves the others their connections, breaker, medians and values', async () => {
    const upstreams = await Promise.all(NAMES.map(() => numbered()));
    const opened: string[] = [];
    const closed: string[] = [];
    const kind = (upstreams[0] as StubUpstream).provider('counted', {
      connection: {
        env: ['COUNTED_API_KEY'],
        baseUrl: 'https://counted.test/v1',
        open: (credentials, { root }) => {
          opened.push(root);
          const authorize = bearer('COUNTED_API_KEY');
          return {
            authorize: (request) => authorize(request, credentials),
            dispose: () => {
              closed.push(root);
            },
          };
        },
      },
    });
    const config = (weight: number): object => ({
      strategy: { mode: 'fallback' },
      providers: Object.fromEntries(
        NAMES.map((name, at) => [
          name,
          {
            kind: 'counted',
            base_url: upstreams[at]?.url,
            credentials: [{ name: 'one', api_key: '${KEY_A}', weight: at === 3 ? weight : 1 }],
          },
        ]),
      ),
      targets: NAMES.map((name) => ({ virtual_key: name, models: [name], circuit_breaker: { failure_threshold: 1 } })),
    });
    const t = await startHost(config(1), { variables: VARIABLES, modules: [kind] });
    for (const name of NAMES) expect(await keyOf(t, name), name).to.equal(`0 Bearer ${KEY}`);
    const before = t.host.current;
    await t.apply(config(2));
    for (const name of NAMES) expect(await keyOf(t, name), name).to.equal(`0 Bearer ${KEY}`);
    expect(opened).to.have.lengthOf(11);
    expect(opened.at(-1)).to.equal(`${upstreams[3]?.url}/v1`);
    expect(closed).to.deep.equal([`${upstreams[3]?.url}/v1`]);
    for (const [name, target] of t.host.current?.targets ?? [])
      expect(target.provider === before?.targets.get(name)?.provider, name).to.equal(name !== 'n-3');
    expect(t.host.current?.hooks.median.call('n-0')).to.be.a('number');
    expect(t.lines.filter(({ msg }) => msg === 'credential refreshed')).to.deep.equal([]);
  });

  it('lets requests in flight end with the instance they began with', async () => {
    const held = Promise.withResolvers<void>();
    const slow = await stubUpstream(async (request, response) => {
      await held.promise;
      replyJson(response, 200, chatReply(String(request.headers.authorization)));
    });
    const quick = await numbered();
    const config = (url: string): object => ({
      providers: { mine: { kind: 'openai', base_url: url, api_key: '${KEY_A}' } },
      targets: [{ virtual_key: 'mine', models: ['m'] }],
    });
    const t = await startHost(config(slow.url), { variables: VARIABLES });
    const pending = keyOf(t, 'm');
    await eventually(() => slow.seen.length === 1);
    await t.apply(config(quick.url));
    expect(await keyOf(t, 'm')).to.equal(`0 Bearer ${KEY}`);
    await t.apply({ targets: [{ virtual_key: 'echo' }] });
    held.resolve();
    expect(await pending).to.equal(`Bearer ${KEY}`);
    await eventually(() => t.host.slot.live === 1);
    expect(t.host.carryover.size).to.be.lessThan(10);
  });
});

describe('opening an instance', () => {
  it('that hangs ends after half a minute, while the others serve; the write is accepted', async () => {
    const clock = fakeClock();
    const upstream = await numbered();
    const hangs = upstream.provider('hangs', {
      connection: { env: ['HANGS_KEY'], baseUrl: 'https://hangs.test/v1', open: () => new Promise(() => {}) },
    });
    const mine = { kind: 'openai', base_url: upstream.url, api_key: '${KEY_A}' };
    const targets = [{ virtual_key: 'mine', models: ['m'] }];
    const variables = { ...VARIABLES, GW_CONFIG_ENV: 'KEY_A' };
    const t = await startHost({ providers: { mine }, targets }, { variables, modules: [hangs], clock });
    const providers = { stuck: { kind: 'hangs', api_key: '${KEY_A}' }, mine };
    const written = t.request('PUT', '/admin/config', {
      strategy: { mode: 'fallback' },
      providers,
      targets: [...targets, { virtual_key: 'stuck', models: ['s'] }],
    });
    await eventually(() => clock.next === 30_000 || clock.waiting > 1);
    expect(await keyOf(t, 'm'), 'while it opens').to.equal(`0 Bearer ${KEY}`);
    clock.advance(30_000);
    expect((await written).status).to.equal(200);
    expect(await keyOf(t, 'm')).to.equal(`0 Bearer ${KEY}`);
    expect(await statusOf(t, 's')).to.equal(404);
    expect(rules(t, 'WN13')).to.have.lengthOf(1);
    expect(rules(t, 'WN13')[0]).to.include({ provider: 'stuck', credential: 'default' });
    expect(inits(t)).to.deep.equal([{ provider: 'stuck' }]);
    expect(t.host.current?.warnings.map(({ rule, path }) => ({ rule, path }))).to.deep.equal([
      { rule: 'WN13', path: 'providers.stuck' },
    ]);
  });

  it('that fails is tried again with the next configuration', async () => {
    let isBroken = true;
    const upstream = await numbered();
    const kind = upstream.provider('moody', {
      connection: {
        env: ['MOODY_KEY'],
        baseUrl: upstream.url,
        authorize: bearer('MOODY_KEY'),
        open: (credentials) => {
          if (isBroken) throw new Error('not today');
          const authorize = bearer('MOODY_KEY');
          return { authorize: (request) => authorize(request, credentials) };
        },
      },
    });
    const config = {
      providers: { mine: { kind: 'moody', api_key: '${KEY_A}' } },
      targets: [{ virtual_key: 'mine', models: ['m'] }],
    };
    const t = await startHost(config, { variables: VARIABLES, modules: [kind] });
    expect(await statusOf(t, 'm')).to.equal(404);
    await t.host.applier.refresh();
    expect(inits(t)).to.have.lengthOf(1);
    isBroken = false;
    await t.apply(config);
    expect(await keyOf(t, 'm')).to.equal(`0 Bearer ${KEY}`);
    expect(t.host.current?.warnings).to.deep.equal([]);
  });
});

describe('the file of a secret', () => {
  const started = async (): Promise<{ t: TestHost; path: string; clock: ReturnType<typeof fakeClock> }> => {
    const upstream = await numbered();
    const folder = await temporaryFolder();
    const clock = fakeClock();
    const path = join(folder, 'key');
    const t = await startHost(
      {
        strategy: { mode: 'fallback' },
        providers: { mine: { kind: 'openai', base_url: upstream.url, api_key: `\${file:${path}}`, models: ['m'] } },
        targets: [{ virtual_key: 'mine' }],
      },
      { variables: { ...VARIABLES, GW_SECRET_DIRS: folder }, clock },
    );
    return { t, path, clock };
  };

  it('that appears registers the instance and its models, without a restart', async () => {
    const { t, path, clock } = await started();
    expect(await statusOf(t, 'm')).to.equal(404);
    expect(await listed(t)).to.deep.equal([]);
    expect(rules(t, 'WN17').map(({ reason }) => reason)).to.deep.equal(['no such file']);
    await writeFile(path, `${KEY}\n`);
    clock.advance(30_000);
    await eventually(async () => (await statusOf(t, 'm')) === 200);
    expect(await keyOf(t, 'm')).to.equal(`0 Bearer ${KEY}`);
    expect(await listed(t)).to.deep.equal(['m']);
    expect(t.host.current?.warnings).to.deep.equal([]);
    expect((await t.get('/health')).json().providers[0]).to.include({ name: 'mine', models: 1 });
  });

  it('that changes gives new calls its value, in the configuration that serves; one that goes leaves the last', async () => {
    const { t, path, clock } = await started();
    await writeFile(path, KEY);
    clock.advance(30_000);
    await eventually(async () => (await statusOf(t, 'm')) === 200);
    const { number } = t.host.current ?? {};
    await writeFile(path, 'sk-another-value-0123456789');
    clock.advance(30_000);
    await eventually(async () => (await keyOf(t, 'm')) === '0 Bearer sk-another-value-0123456789');
    expect(t.host.current?.number).to.equal(number);
    await rm(path);
    clock.advance(30_000);
    await eventually(() => rules(t, 'WN18').length > 0);
    expect(await keyOf(t, 'm')).to.equal('0 Bearer sk-another-value-0123456789');
    const refreshed = t.samples.filter(({ name }) => name === 'gateway_secret_refreshes_total');
    expect(refreshed.map(({ labels }) => labels)).to.deep.equal([
      { provider: 'mine', credential: 'default', result: 'changed' },
      { provider: 'mine', credential: 'default', result: 'changed' },
      { provider: 'mine', credential: 'default', result: 'failed' },
    ]);
  });
});
