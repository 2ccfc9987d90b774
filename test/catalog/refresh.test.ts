import { setTimeout as delay } from 'node:timers/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect } from 'chai';
import { isHttp, shownAddress, withShownAddresses } from '../../builtins/catalog/address.ts';
import { readCatalogSettings } from '../../builtins/catalog/settings.ts';
import { defineBuiltin } from '../../host/builtin.ts';
import type { Hints } from '../../host/stores/replicas/hints.ts';
import {
  eventually,
  fakeClock,
  replyJson,
  startHost,
  stubUpstream,
  type StubHandler,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { atEnd } from '../kit/cleanup.ts';
import { arrival, logged } from './catalogs.ts';

const CONFIG = { strategy: { mode: 'single' }, targets: [{ virtual_key: 'echo' }] };
const DAY_MS = 24 * 60 * 60 * 1000;
const REMOTE = { 'echo/remote-model': { pricing: { input_per_m_tokens: 3 }, updated_at: '2030-01-01' } };
const NOT_USED = 'the remote model catalog is not used; the current one stays';

const answering =
  (body: unknown): StubHandler =>
  (_request, response) =>
    replyJson(response, 200, body);
const redirecting =
  (location: string, status = 302): StubHandler =>
  (_request, response) => {
    response.writeHead(status, { location }).end('elsewhere');
  };

function start(url: string, variables: Record<string, string> = {}, clock = fakeClock()): Promise<TestHost> {
  return startHost(CONFIG, { clock, variables: { GW_MODEL_CATALOG_URL: url, ...variables } });
}

const loads = ({ samples }: TestHost): string[] =>
  samples
    .filter(({ name }) => name === 'gateway_catalog_loads_total')
    .map(({ labels }) => `${labels['source']} ${labels['result']}`);
const isRemote = ({ host }: TestHost): boolean => host.services.catalog.entry('echo', 'remote-model') !== undefined;

/** What the gateway said about a remote catalog it could not use. */
async function refusal(remote: StubUpstream | string, variables: Record<string, string> = {}): Promise<string> {
  const gateway = await start(typeof remote === 'string' ? remote : remote.url, variables);
  const { error } = await logged(gateway, NOT_USED);
  expect(gateway.host.services.catalog.modelsOf('openai')).to.not.be.empty;
  expect(loads(gateway)).to.deep.equal(['fallback success', 'remote error']);
  return String(error);
}

describe('a remote catalog', () => {
  it('replaces the shipped one, and the configuration is rebuilt with it', async () => {
    const remote = await stubUpstream(answering(REMOTE));
    const gateway = await start(remote.url);
    const line = await logged(gateway, 'model catalog loaded', 2);
    expect(line).to.include({ source: 'remote', url: `${remote.url}/`, models: 1, skipped: 0 });
    await gateway.host.applier.refresh(); // runs after the one that the new catalog asked for
    expect(gateway.host.current?.number).to.equal(3);
    expect(gateway.host.current?.models.isKnown('remote-model')).to.equal(true);
    expect(gateway.host.services.catalog.modelsOf('openai')).to.deep.equal([]);
    expect(loads(gateway)).to.deep.equal(['fallback success', 'remote success']);
  });

  it('may hold malformed entries: they are skipped and counted in one line', async () => {
    const remote = await stubUpstream(
      answering({
        ...REMOTE,
        'no-slash': {},
        'echo/list': [],
        'echo/odd': { pricing: { input_per_m_tokens: -1 }, future: true },
      }),
    );
    const gateway = await start(remote.url);
    expect(await logged(gateway, 'model catalog loaded', 2)).to.include({ models: 2, skipped: 2, ignored_fields: 2 });
  });

  it('is asked for again every day, and rebuilds nothing while it is the same', async () => {
    const remote = await stubUpstream(answering(REMOTE));
    const clock = fakeClock();
    const gateway = await start(remote.url, {}, clock);
    await logged(gateway, 'model catalog loaded', 2);
    clock.advance(DAY_MS - 1);
    expect(remote.seen).to.have.lengthOf(1);
    clock.advance(1);
    await arrival(gateway.samples, ({ labels }) => labels['source'] === 'remote' && labels['result'] === 'success', 2);
    await gateway.host.applier.refresh();
    expect(remote.seen).to.have.lengthOf(2);
    expect(gateway.host.current?.number, 'start, the first refresh, and this one').to.equal(3);
  });

  it('stays in force when the next one fails', async () => {
    let body: unknown = REMOTE;
    const remote = await stubUpstream((request, response) => answering(body)(request, response));
    const clock = fakeClock();
    const gateway = await start(remote.url, {}, clock);
    const { version } = await logged(gateway, 'model catalog loaded', 2);
    body = [];
    clock.advance(DAY_MS);
    expect(await logged(gateway, NOT_USED)).to.include({ version });
    expect(isRemote(gateway)).to.equal(true);
  });
});

describe('redirects of a remote catalog', () => {
  async function chain(length: number): Promise<StubUpstream> {
    return stubUpstream((request, response) => {
      const hop = Number(request.url.slice(1));
      const answer =
        hop === length ? answering(REMOTE) : redirecting(`/${hop + 1}`, [301, 302, 303, 307, 308][hop % 5]);
      return answer(request, response);
    });
  }

  it('are followed ten times', async () => {
    const remote = await chain(10);
    const gateway = await start(`${remote.url}/0`);
    await logged(gateway, 'model catalog loaded', 2);
    expect(remote.seen).to.have.lengthOf(11);
  });

  it('are not followed an eleventh time', async () => {
    expect(await refusal(`${(await chain(11)).url}/0`)).to.equal('more than 10 redirects');
  });

  it('do not carry the userinfo of the address, and take none from where they point', async () => {
    const target = await stubUpstream(answering(REMOTE));
    const first = await stubUpstream(redirecting(target.url.replace('//', '//other:secret-word-two@')));
    const gateway = await start(first.url.replace('//', '//us%40er:secret-word-one@'));
    await logged(gateway, 'model catalog loaded', 2);
    expect(first.seen[0]?.headers['authorization']).to.equal(
      `Basic ${Buffer.from('us@er:secret-word-one').toString('base64')}`,
    );
    expect(target.seen[0]?.headers['authorization']).to.equal(undefined);
  });

  it('lead to http and https only', async () => {
    expect(await refusal(await stubUpstream(redirecting('file:///etc/passwd')))).to.contain('file:');
  });

  it('need a place to lead to', async () => {
    expect(
      await refusal(
        await stubUpstream((_request, response) => {
          response.writeHead(302).end();
        }),
      ),
    ).to.equal('it answers 302');
  });
});

describe('a remote catalog that cannot be used', () => {
  for (const status of [201, 204, 304, 404, 500]) {
    it(`answers ${status}`, async () => {
      const remote = await stubUpstream((_request, response) => {
        response.writeHead(status).end(status === 201 ? JSON.stringify(REMOTE) : '');
      });
      expect(await refusal(remote)).to.equal(`it answers ${status}`);
    });
  }

  it('is not JSON', async () => {
    expect(
      await refusal(
        await stubUpstream((_request, response) => {
          response.end('<html>');
        }),
      ),
    ).to.match(/JSON/);
  });

  it('is not an object, or an empty one', async () => {
    expect(await refusal(await stubUpstream(answering([REMOTE])))).to.match(/not an object/);
    expect(await refusal(await stubUpstream(answering({})))).to.match(/no entry/);
  });

  it('is larger than 8 MiB', async () => {
    const remote = await stubUpstream((_request, response) => {
      response.write(JSON.stringify(REMOTE));
      response.end(' '.repeat(8 * 1024 * 1024));
    });
    expect(await refusal(remote)).to.equal('it is larger than 8388608 bytes');
  });

  it('breaks off', async () => {
    const remote = await stubUpstream((_request, response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('{"echo/');
      setImmediate(() => response.destroy());
    });
    expect(await refusal(remote)).to.not.equal('');
  });

  it('is not there at all', async () => {
    const gone = await stubUpstream(answering(REMOTE));
    await gone.close();
    expect(await refusal(gone)).to.match(/ECONNREFUSED/);
  });
});

describe('a slow remote catalog', () => {
  async function silent(): Promise<{ remote: StubUpstream; asked: Promise<void> }> {
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    return { remote: await stubUpstream(() => resolve()), asked };
  }

  it('delays nothing, and is given up after its time', async () => {
    const { remote, asked } = await silent();
    const clock = fakeClock();
    const gateway = await start(remote.url, { GW_MODEL_CATALOG_TIMEOUT: ' 3s ' }, clock);
    await asked;
    expect((await gateway.get('/readyz')).status).to.equal(200);
    clock.advance(2999);
    expect(loads(gateway)).to.deep.equal(['fallback success']);
    clock.advance(1);
    expect(await logged(gateway, NOT_USED)).to.include({ error: 'no whole answer within 3000 ms' });
  });

  it('ends with the gateway, without a word', async () => {
    const { remote, asked } = await silent();
    const clock = fakeClock();
    const gateway = await start(remote.url, {}, clock);
    await asked;
    await gateway.close();
    expect(clock.waiting).to.equal(0);
    expect(gateway.lines.some(({ msg }) => msg === NOT_USED)).to.equal(false);
    expect(loads(gateway)).to.deep.equal(['fallback success']);
  });
});

describe('the settings of the catalog', () => {
  it('have no address of their own: without one nothing is fetched', () => {
    expect(readCatalogSettings({})).to.deep.equal({
      url: undefined,
      timeoutMs: 10_000,
      overlayPath: undefined,
      rulesUrl: undefined,
      rulesPath: undefined,
      warnings: [],
    });
    expect(readCatalogSettings({ GW_MODEL_CATALOG_URL: ' ', GW_MODEL_CATALOG_OVERLAY: ' ' })).to.include({
      url: undefined,
      overlayPath: undefined,
    });
  });

  for (const timeout of ['0', '0s', '-5s']) {
    it(`fetch nothing with a timeout of ${timeout}`, async () => {
      const remote = await stubUpstream(answering(REMOTE));
      const clock = fakeClock();
      const gateway = await start(remote.url, { GW_MODEL_CATALOG_TIMEOUT: timeout }, clock);
      expect(clock.waiting).to.equal(0);
      clock.advance(2 * DAY_MS);
      await gateway.close();
      expect(remote.seen).to.be.empty;
    });
  }

  it('warn of a timeout that is none, and use ten seconds', () => {
    const { timeoutMs, url, warnings } = readCatalogSettings({
      GW_MODEL_CATALOG_TIMEOUT: 'soon',
      GW_MODEL_CATALOG_URL: 'https://a.example/c.json',
    });
    expect({ timeoutMs, url }).to.deep.equal({ timeoutMs: 10_000, url: 'https://a.example/c.json' });
    expect(warnings.join()).to.contain('"soon"');
  });

  for (const url of [
    'catalog.json',
    'ftp://a.example/c',
    'http://',
    'http:///c.json',
    'https://?a',
    'http://[::1',
    'file:///etc/passwd',
    '//a.example/c',
  ]) {
    it(`warn of the address ${url}, and use the shipped catalog`, async () => {
      const gateway = await start(url);
      expect(gateway.lines.filter(({ level, rule }) => level === 'WARN' && rule === 'WN16')).to.have.lengthOf(1);
      expect(gateway.host.services.catalog.modelsOf('openai')).to.not.be.empty;
    });
  }
});

describe('a catalog address', () => {
  const secret = 'https://user:pass-word-1@a.example:8443/dir/c.json?token=query-word#fragment-word';

  it('is shown without userinfo, query, fragment and line breaks', () => {
    expect(shownAddress(secret)).to.equal('https://a.example:8443/dir/c.json');
    expect(shownAddress('https://a.example/a\r\nb%0d%0ac')).to.equal('https://a.example/ab%0d%0ac');
    expect(shownAddress('user:pass-word-1@a.example')).to.equal('<invalid address>');
    expect(isHttp('https:a.example')).to.equal(false);
  });

  it('is shown that way inside of other texts too', () => {
    expect(withShownAddresses(`cannot reach ${secret}\r\nor HTTP://x:y@b.example`)).to.equal(
      'cannot reach https://a.example:8443/dir/c.json or http://b.example/',
    );
  });

  it('tells no secret in any log line', async () => {
    const gone = await stubUpstream(answering(REMOTE));
    await gone.close();
    const gateway = await start(
      `${gone.url.replace('//', '//user:pass-word-1@')}/c.json?token=query-word#fragment-word`,
    );
    expect(await logged(gateway, NOT_USED)).to.include({ url: `${gone.url}/c.json` });
    expect(JSON.stringify(gateway.lines)).to.not.match(/pass-word-1|query-word|fragment-word/);
  });
});

describe('the proxy variables', () => {
  /** A proxy that tunnels, and remembers what it was asked for. */
  async function proxy(): Promise<{ url: string; asked: string[] }> {
    const asked: string[] = [];
    const server: Server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      replyJson(response, 200, REMOTE);
    });
    server.on('connect', (request, client) => {
      asked.push(`CONNECT ${request.url}`);
      const [host, port] = String(request.url).split(':');
      const upstream = connect(Number(port), host, () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n');
        upstream.pipe(client).pipe(upstream);
      });
      upstream.on('error', () => client.destroy());
      client.on('error', () => upstream.destroy());
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    atEnd(() => {
      server.close();
      server.closeAllConnections();
    });
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
  }

  it('are honoured', async () => {
    const [remote, { url, asked }] = [await stubUpstream(answering(REMOTE)), await proxy()];
    const gateway = await start(remote.url, { HTTP_PROXY: url });
    await logged(gateway, 'model catalog loaded', 2);
    expect(asked).to.have.lengthOf(1);
    expect(asked[0]).to.contain(new URL(remote.url).host);
  });

  it('are not, for hosts in NO_PROXY', async () => {
    const [remote, { url, asked }] = [await stubUpstream(answering(REMOTE)), await proxy()];
    const gateway = await start(remote.url, { HTTP_PROXY: url, NO_PROXY: '127.0.0.1' });
    await logged(gateway, 'model catalog loaded', 2);
    expect(asked).to.be.empty;
  });

  it('come from the variables of the gateway, not from those of the process', async () => {
    const [remote, { url, asked }] = [await stubUpstream(answering(REMOTE)), await proxy()];
    const { HTTP_PROXY: before } = process.env;
    process.env['HTTP_PROXY'] = url;
    try {
      await logged(await start(remote.url), 'model catalog loaded', 2);
    } finally {
      if (before === undefined) delete process.env['HTTP_PROXY'];
      else process.env['HTTP_PROXY'] = before;
    }
    expect(asked).to.be.empty;
  });
});

describe('the catalogs of replicas', () => {
  const catalog = (price: number): object => ({
    'echo/remote-model': { pricing: { input_per_m_tokens: price }, updated_at: `2030-01-0${price}` },
  });

  /** Replicas that hear each other, each with an address of its own for the catalog. */
  function fleet() {
    const listeners: ((value: string) => void)[] = [];
    let answered = 0;
    const hints: Hints = {
      send: (_kind, value) => listeners.forEach((heard) => heard(value)),
      on: (_kind, heard) => listeners.push(heard),
    };
    const builtin = defineBuiltin({
      name: 'hints',
      apply: ({ hooks }) => hooks.open.tapPromise('hints', async ({ stores }) => stores.hints.supply('test', hints)),
    });
    return async (price: number) => {
      const state = { price, asked: 0, alternates: false };
      const remote = await stubUpstream((_request, response) => {
        state.asked += 1;
        if (state.alternates) state.price = 2 + (answered++ % 3);
        replyJson(response, 200, catalog(state.price));
      });
      const clock = fakeClock();
      const variables = { GW_MODEL_CATALOG_URL: remote.url };
      return { state, clock, t: await startHost(CONFIG, { clock, variables, builtins: [builtin] }) };
    };
  }
  const price = ({ host }: TestHost): unknown =>
    host.services.catalog.entry('echo', 'remote-model')?.pricing?.input_per_m_tokens;
  const warnings = ({ lines }: TestHost): object[] => lines.filter(({ msg }) => msg === 'catalogs differ');

  it('become the newest that one of them has fetched, at once', async () => {
    const replica = fleet();
    const [one, two] = [await replica(1), await replica(1)];
    await eventually(() => price(one.t) === 1 && price(two.t) === 1);
    one.state.price = 2;
    two.state.price = 2;
    one.clock.advance(DAY_MS);
    await eventually(() => price(two.t) === 2);
    expect([price(one.t), price(two.t)]).to.deep.equal([2, 2]);
    expect([one.state.asked, two.state.asked]).to.deep.equal([2, 2]);
    expect([...warnings(one.t), ...warnings(two.t)]).to.deep.equal([]);
    two.clock.advance(DAY_MS);
    await eventually(() => two.state.asked === 3);
    expect(two.state.asked, 'it is fetched each day as before').to.equal(3);
  });

  it('do not set each other off where one address serves three versions in turn', async () => {
    const replica = fleet();
    const [one, two] = [await replica(1), await replica(1)];
    await eventually(() => price(one.t) === 1 && price(two.t) === 1);
    one.state.alternates = true;
    two.state.alternates = true;
    one.clock.advance(DAY_MS);
    const asked = (): number => one.state.asked + two.state.asked;
    for (let before = 0; before !== asked() && before < 40; await delay(100)) before = asked();
    expect(asked(), 'fetches of both, until they end').to.be.lessThan(12);
  });

  it('that differ although both have been fetched are warned of', async () => {
    const replica = fleet();
    const [one, two] = [await replica(1), await replica(1)];
    await eventually(() => price(one.t) === 1 && price(two.t) === 1);
    one.state.price = 2;
    one.clock.advance(DAY_MS);
    await eventually(() => warnings(two.t).length > 0);
    expect([two.state.asked, warnings(one.t)]).to.deep.equal([2, []]);
    const { version, other, level } = warnings(two.t)[0] as Record<string, unknown>;
    expect([level, version, other]).to.deep.equal([
      'WARN',
      two.t.host.services.catalog.version,
      one.t.host.services.catalog.version,
    ]);
  });
});
