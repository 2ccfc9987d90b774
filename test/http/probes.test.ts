import { expect } from 'chai';
import { ask, chatReply, fakeClock, replyJson, startHost, stubUpstream, type StubUpstream } from '../kit/index.ts';

const fallback = { strategy: { mode: 'fallback' } };
const upstream = (): Promise<StubUpstream> =>
  stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));

/** A provider whose credential this environment lacks. */
const absent = { connection: { env: ['ABSENT_API_KEY'], baseUrl: 'http://127.0.0.1:1' } };

describe('probes', () => {
  it('say that the process lives, whatever else is wrong', async () => {
    const stub = await upstream();
    const t = await startHost({ ...fallback, targets: [stub.target('a')] }, { variables: { STUB_API_KEY: '' } });
    const answer = await t.get('/livez');
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('content-type')).to.equal('application/json');
    expect(answer.text).to.equal('{"status":"ok"}');
  });

  it('report every registered provider as health, with or without a target, and no target without a provider', async () => {
    const stub = await upstream();
    const targets = [
      stub.target('b', { models: ['m', 'n'] }),
      stub.target('a'),
      stub.target('c', {}, absent),
      { virtual_key: 'echo' },
    ];
    const t = await startHost({ ...fallback, targets }, { modules: [stub.provider('spare')] });
    const answer = await t.get('/health');
    expect(answer.status).to.equal(200);
    const { providers, ...head } = answer.json();
    expect(head).to.deep.equal({ status: 'ok', version: 'test', commit: 'none', built: 'unknown' });
    expect(providers.map(({ name }: { name: string }) => name)).to.have.members(['a', 'b', 'spare', 'echo']);
    expect(providers).to.deep.include({ name: 'a', status: 'available', circuit: 'closed', models: 1 });
    expect(providers).to.deep.include({ name: 'b', status: 'available', circuit: 'closed', models: 2 });
    expect(providers).to.deep.include({ name: 'spare', status: 'available', circuit: 'closed', models: 0 });
  });

  it('answer 503 for health when no provider is registered', async () => {
    const stub = await upstream();
    const t = await startHost({ ...fallback, targets: [stub.target('a')] }, { variables: { STUB_API_KEY: '' } });
    const answer = await t.get('/health');
    expect(answer.status).to.equal(503);
    expect(answer.json()).to.deep.equal({
      status: 'no_providers',
      version: 'test',
      commit: 'none',
      built: 'unknown',
      providers: [],
    });
  });

  it('are ready with one routable target, and name those that are not', async () => {
    const stub = await upstream();
    const t = await startHost({ ...fallback, targets: [stub.target('a', {}, absent), stub.target('b')] });
    const answer = await t.get('/readyz');
    expect(answer.status).to.equal(200);
    expect(answer.json()).to.deep.equal({
      status: 'ready',
      providers: [{ name: 'b', circuit: 'closed' }],
      targets: [
        { name: 'a', routable: false, circuit: 'closed' },
        { name: 'b', routable: true, circuit: 'closed' },
      ],
    });
  });

  it('are not ready without a routable target', async () => {
    const stub = await upstream();
    const t = await startHost(
      { ...fallback, targets: [stub.target('a', {}, absent)] },
      { modules: [stub.provider('spare')] },
    );
    const answer = await t.get('/readyz');
    expect(answer.status).to.equal(503);
    expect(answer.json()).to.deep.equal({
      status: 'not_ready',
      reason: 'no routable targets',
      targets: [{ name: 'a', routable: false, circuit: 'closed' }],
    });
  });

  it('are not ready without a configuration, and chat is then refused', async () => {
    const stub = await upstream();
    const t = await startHost({ ...fallback, targets: [stub.target('a')] });
    await t.host.slot.close();
    const answer = await t.get('/readyz');
    expect(answer.status).to.equal(503);
    expect(answer.json()).to.deep.equal({ status: 'not_ready', reason: 'gateway not configured', targets: [] });
    expect((await t.post('/v1/chat/completions', ask())).status).to.equal(503);
  });

  it('answer HEAD like GET without a body', async () => {
    const stub = await upstream();
    const t = await startHost({ ...fallback, targets: [stub.target('a')] });
    for (const path of ['/livez', '/health', '/readyz']) {
      const whole = await t.get(path);
      const head = await t.request('HEAD', path);
      expect(head.status).to.equal(whole.status);
      expect(head.text).to.equal('');
      for (const name of ['content-type', 'content-length', 'cache-control'])
        expect(head.headers.get(name), `${path} ${name}`).to.equal(whole.headers.get(name));
    }
  });

  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    it(`refuse ${method} with 405 and the methods they take`, async () => {
      const stub = await upstream();
      const t = await startHost({ ...fallback, targets: [stub.target('a')] });
      for (const path of ['/livez', '/health', '/readyz']) {
        const response = await fetch(`${t.url}${path}`, { method });
        expect(response.status).to.equal(405);
        expect(response.headers.get('allow')).to.equal('GET, HEAD');
        const { error } = (await response.json()) as { error: Record<string, string> };
        expect(error).to.include({ type: 'invalid_request_error', code: 'method_not_supported' });
        expect(error['message']).to.include(path).and.include('GET');
      }
    });
  }

  it('need no credential, cost no rate and leave no access line', async () => {
    const stub = await upstream();
    const t = await startHost(
      { ...fallback, targets: [stub.target('a')] },
      { clock: fakeClock(), variables: { RATE_LIMIT_RPS: '1', RATE_LIMIT_BURST: '1' } },
    );
    for (let round = 0; round < 5; round += 1) {
      for (const path of ['/livez', '/health', '/readyz'])
        expect((await fetch(`${t.url}${path}`)).status, path).to.equal(200);
      expect((await fetch(`${t.url}/livez`, { method: 'POST' })).status).to.equal(405);
    }
    expect(t.lines.filter(({ msg }) => msg === 'http request')).to.deep.equal([]);
    expect((await t.get('/somewhere')).status).to.equal(404);
    expect((await t.get('/somewhere')).status).to.equal(429);
  });

  it('match their path exactly', async () => {
    const stub = await upstream();
    const t = await startHost({ ...fallback, targets: [stub.target('a')] });
    expect((await t.get('/livez?verbose=1')).status).to.equal(200);
    for (const path of ['/livez/', '/LIVEZ', '/livez/x', '//livez', '/%6civez'])
      expect((await t.get(path)).status, path).to.equal(404);
  });
});

describe('readiness', () => {
  it('is kept for one second, whether good or bad', async () => {
    const clock = fakeClock();
    const stub = await upstream();
    const good = { ...fallback, targets: [stub.target('a'), stub.target('b', {}, absent)] };
    const bad = { ...fallback, targets: [{ virtual_key: 'b', models: ['m'] }] };
    const t = await startHost(good, { clock });
    const statusAfter = async (ms: number): Promise<number> => {
      clock.advance(ms);
      return (await t.get('/readyz')).status;
    };
    expect(await statusAfter(0)).to.equal(200);
    await t.apply(bad);
    expect(await statusAfter(999)).to.equal(200);
    expect(await statusAfter(1)).to.equal(503);
    await t.apply(good);
    expect(await statusAfter(999)).to.equal(503);
    expect(await statusAfter(1)).to.equal(200);
  });

  it('turns to draining at once, past what is kept, while the other probes go on', async () => {
    const stub = await upstream();
    const t = await startHost({ ...fallback, targets: [stub.target('a')] }, { clock: fakeClock() });
    expect((await t.get('/readyz')).status).to.equal(200);
    t.host.isDraining = true;
    const answer = await t.get('/readyz');
    expect(answer.status).to.equal(503);
    expect(answer.json()).to.deep.equal({
      status: 'not_ready',
      reason: 'draining',
      targets: [{ name: 'a', routable: true, circuit: 'closed' }],
    });
    expect(answer.headers.get('connection')).to.equal('close');
    expect((await t.get('/livez')).status).to.equal(200);
    expect((await t.get('/health')).status).to.equal(200);
  });

  it('says draining before any other reason', async () => {
    const stub = await upstream();
    const t = await startHost({ ...fallback, targets: [stub.target('a')] }, { variables: { STUB_API_KEY: '' } });
    expect((await t.get('/readyz')).json().reason).to.equal('no routable targets');
    t.host.isDraining = true;
    expect((await t.get('/readyz')).json().reason).to.equal('draining');
  });

  it('judges as fine what ?ignore= names, and overlooks other words', async () => {
    const stub = await upstream();
    const t = await startHost({ ...fallback, targets: [stub.target('a', {}, absent)] });
    for (const [query, status, ignored] of [
      ['', 503, undefined],
      ['?ignore=', 503, undefined],
      ['?ignore=mcp', 503, ['mcp']],
      ['?ignore=Targets', 503, undefined],
      ['?targets', 503, undefined],
      ['?ignore=targets', 200, ['targets']],
      ['?ignore=mcp,targets,draining', 200, ['targets', 'mcp']],
      ['?x=1&ignore=mcp&ignore=targets', 200, ['targets', 'mcp']],
    ] as const) {
      const answer = await t.get(`/readyz${query}`);
      expect([answer.status, answer.json().ignored], query).to.deep.equal([status, ignored]);
      expect(answer.json().targets).to.deep.equal([{ name: 'a', routable: false, circuit: 'closed' }]);
    }
  });

  it('ignores a required tool server only where that is asked', async () => {
    const stub = await upstream();
    const t = await startHost({
      ...fallback,
      targets: [stub.target('a')],
      mcp_servers: [{ name: 'away', url: 'http://127.0.0.1:1/mcp', required: true }],
    });
    const statusOf = async (query: string): Promise<unknown[]> => {
      const answer = await t.get(`/readyz${query}`);
      return [answer.status, answer.json().reason];
    };
    expect(await statusOf('')).to.deep.equal([503, 'required mcp server unavailable']);
    expect(await statusOf('?ignore=targets')).to.deep.equal([503, 'required mcp server unavailable']);
    expect(await statusOf('?ignore=mcp')).to.deep.equal([200, undefined]);
  });

  it('never ignores draining, or that there is no configuration', async () => {
    const stub = await upstream();
    const t = await startHost({ ...fallback, targets: [stub.target('a')] }, { clock: fakeClock() });
    const reasonOf = async (): Promise<unknown> => (await t.get('/readyz?ignore=targets,mcp')).json().reason;
    expect(await reasonOf()).to.equal(undefined);
    t.host.isLeaving = true;
    expect(await reasonOf()).to.equal('draining');
    t.host.isLeaving = false;
    await t.host.slot.close();
    expect((await t.get('/readyz?ignore=targets')).json()).to.deep.equal({
      status: 'not_ready',
      reason: 'gateway not configured',
      targets: [],
      ignored: ['targets'],
    });
  });
});
