import { expect } from 'chai';
import { chatReply, eventually, fakeClock, isSoak, replyJson, type StubHandler } from '../kit/index.ts';
import { StdioLink } from '../../builtins/mcp/link/stdio-link.ts';
import { calling, isAlive, setUp, type Setup, stdio, toolContents } from './setup.ts';

/** Has the model call its tool once, and gives what it reads. */
async function callOnce(setup: Setup): Promise<string> {
  await setup.chat();
  return toolContents(setup.messages())[0] ?? 'the tool was not called';
}

/** A model that calls a tool in each first turn, and is done in each second. */
const callingAlways = (name: string): readonly StubHandler[] => [
  (request, response) => {
    const { messages } = request.json() as { messages: readonly { role: string }[] };
    replyJson(response, 200, messages.some(({ role }) => role === 'tool') ? chatReply('done') : calling([[name]]));
  },
];

const pidOf = (setup: Setup, at = 0): number => (setup.connections()[at]!.link as StdioLink).pid!;

/** How often the configuration is changed; every fifth change brings a server that the next one takes away. */
const SWAPS = isSoak() ? 50 : 10;

describe('a tool server on standard streams', () => {
  it('gets PATH, HOME, LANG, TMPDIR and its own variables, and nothing else of the gateway', async () => {
    const setup = await setUp([stdio('s', { tools: ['environment'] }, { env: { OWN: 'x-${STUB_API_KEY}' } })], {
      turns: callingAlways('environment'),
      variables: {
        PATH: process.env['PATH']!,
        HOME: '/home/gw',
        LANG: 'C',
        OPENAI_API_KEY: 'sk-secret-of-the-gateway',
      },
    });
    const environment = JSON.parse(await callOnce(setup)) as Record<string, string>;
    const { PATH: _path, __CF_USER_TEXT_ENCODING: _mac, ...rest } = environment;
    expect(rest).to.deep.equal({ HOME: '/home/gw', LANG: 'C', OWN: 'x-stub-key' });
  });

  it('is not ready while it is silent, and the gateway serves', async () => {
    const setup = await setUp([stdio('s', { isSilent: true }, { timeout_seconds: 1 })], { waits: false });
    expect((await setup.chat()).status).to.equal(200);
    await eventually(() => setup.servers()[0]!.lastError.includes('initialize'));
    expect(setup.servers()[0]).to.deep.include({ ready: false, lastError: 'no answer to initialize within 1000 ms' });
  });

  it('is refused with a protocol version that is not known', async () => {
    const setup = await setUp([stdio('s', { version: '1999-01-01' })], { waits: false });
    await eventually(() => setup.servers()[0]!.lastError.includes('1999'));
    expect(setup.servers()[0]!.lastError).to.equal(
      'the server speaks the protocol version "1999-01-01", which is not known here',
    );
  });

  it('may write what is not a message, and have its tools on several pages', async () => {
    const setup = await setUp([stdio('s', { junk: true, pages: true, tools: ['one', 'two'] })], {
      turns: callingAlways('two'),
    });
    expect(await callOnce(setup)).to.equal('two {}');
  });

  it('that cannot be started is tried again, and says why', async () => {
    const setup = await setUp([{ name: 's', command: '/nonexistent/server', args: ['--token=abcdef'] }], {
      waits: false,
    });
    await eventually(() => setup.servers()[0]!.lastError !== 'the handshake is not over yet');
    expect(setup.servers()[0]!.lastError).to.equal('the command could not be started: ENOENT');
    await eventually(() => setup.t.lines.filter(({ msg }) => msg === 'mcp server is not ready').length >= 2);
    expect(
      setup.t.lines
        .filter(({ msg }) => msg === 'mcp server is not ready')
        .map(({ retry_ms: ms }) => ms)
        .slice(0, 2),
    ).to.deep.equal([1000, 2000]);
  });

  it('names the variables that are not set, and the other servers serve', async () => {
    const setup = await setUp(
      [
        stdio('bad', {}, { env: { A: '${NOT_SET_B}', B: '${NOT_SET_A}' }, required: true, max_call_depth: 1 }),
        stdio('good'),
      ],
      { waits: false, turns: [calling([['echo']]), calling([['echo']]), chatReply('done')] },
    );
    await setup.ready('good');
    expect(setup.servers()).to.deep.equal([
      {
        name: 'bad',
        ready: false,
        required: true,
        lastError: 'environment variables are not set: NOT_SET_A, NOT_SET_B',
      },
      { name: 'good', ready: true, required: false, lastError: '' },
    ]);
    expect((await setup.chat()).json().choices[0].message.content, 'its limit does not count').to.equal('done');
    const told = (): unknown[] =>
      setup.t.lines
        .filter(({ msg, server }) => msg === 'mcp server is not ready' && server === 'bad')
        .map(({ level, error }) => [level, error]);
    expect(told()).to.deep.equal([['WARN', 'environment variables are not set: NOT_SET_A, NOT_SET_B']]);
    await setup.t.host.applier.refresh();
    expect(told(), 'once, for as long as it is configured').to.have.lengthOf(1);
  });

  it('that dies in a call is replaced by another process, and the model learns that it was not there', async () => {
    const clock = fakeClock(); // the server stays away for as long as it is looked at
    const setup = await setUp([stdio('s', { tools: ['die', 'pid'] })], { turns: callingAlways('die'), clock });
    const first = pidOf(setup);
    expect(await callOnce(setup)).to.equal('{"error":"the tool server is unavailable"}');
    expect(setup.servers()[0]).to.include({ ready: false });
    expect(setup.servers()[0]!.lastError).to.match(/^(its output ended|it ended with code 3)$/);
    clock.advance(1000);
    await setup.ready();
    expect(pidOf(setup)).to.not.equal(first);
  });

  it('gives its tool names to the next server while it is gone', async () => {
    const clock = fakeClock();
    const setup = await setUp([stdio('one', { tools: ['same', 'die'] }), stdio('two', { tools: ['same'] })], { clock });
    const serverOf = (): string | undefined =>
      setup.t.host
        .current!.hooks.toolServers.call()!
        .tools()
        .find(({ tool }) => tool.name === 'same')?.server;
    expect(serverOf()).to.equal('one');
    process.kill(pidOf(setup), 'SIGKILL');
    await eventually(() => serverOf() === 'two');
    expect(serverOf()).to.equal('two');
    clock.advance(1000);
    await setup.ready();
    expect(serverOf()).to.equal('one');
  });

  it('that hangs has its time, and lives on', async () => {
    const setup = await setUp([stdio('s', { tools: ['hang'] }, { timeout_seconds: 1 })], {
      turns: callingAlways('hang'),
    });
    const pid = pidOf(setup);
    expect(await callOnce(setup)).to.equal('{"error":"the tool call timed out"}');
    expect([setup.servers()[0]!.ready, pidOf(setup)]).to.deep.equal([true, pid]);
  });

  it('that floods is read, and its answer found', async () => {
    const setup = await setUp([stdio('s', { tools: ['flood'] })], { turns: callingAlways('flood') });
    expect(await callOnce(setup)).to.equal('flooded');
  });

  it('that sends a message of 50 MB counts as dead, and is started again', async () => {
    const clock = fakeClock();
    const setup = await setUp([stdio('s', { tools: ['huge'] })], { turns: callingAlways('huge'), clock });
    expect(await callOnce(setup)).to.equal('{"error":"the tool server is unavailable"}');
    expect(setup.servers()[0]!.lastError).to.equal('a message exceeds the limit of 10485760 bytes');
    clock.advance(1000);
    await setup.ready();
  });

  it('that says that its tools have changed is asked for them again', async () => {
    const setup = await setUp([stdio('s', { tools: ['change'] })], { turns: callingAlways('change') });
    await callOnce(setup);
    const names = (): string[] =>
      setup.t.host
        .current!.hooks.toolServers.call()!
        .tools()
        .map(({ tool }) => tool.name);
    await eventually(() => names().length === 2);
    expect(names()).to.deep.equal(['pid', 'fresh']);
  });

  it('keeps the order of its tools, whatever order it lists them in', async () => {
    const clock = fakeClock();
    const names = ['shuffle', 'b', 'a', 'pid'];
    const setup = await setUp(
      [stdio('s', { tools: names }, { timeout_seconds: 30 }), stdio('other', { tools: ['c', 'a'] })],
      { turns: callingAlways('shuffle'), clock },
    );
    for (let turn = 0; turn < 5; turn += 1) {
      const before = setup.connections()[0]!.tools;
      expect(await callOnce(setup)).to.equal('shuffled');
      clock.advance(60_000);
      await eventually(() => setup.connections()[0]!.tools !== before);
    }
    const orders = setup.sent().map(({ tools }) => tools.map((tool: any) => tool.function.name).join());
    expect(new Set(orders)).to.deep.equal(new Set(['shuffle,b,a,pid,c']));
  });

  it('may close its stderr and live', async () => {
    const setup = await setUp([stdio('s', { closesStderr: true, tools: ['pid'] })], { turns: callingAlways('pid') });
    const pid = pidOf(setup);
    await new Promise((resolve) => {
      setTimeout(resolve, 1200);
    }); // a second question after the first
    expect(await callOnce(setup)).to.equal(String(pid));
  });

  it('has what it says of its secrets taken out of every log line, and is not blocked by its stderr', async () => {
    const setup = await setUp([stdio('s', { tools: ['complain'] }, { env: { STUB_SECRET: '${HUSH}' } })], {
      turns: callingAlways('complain'),
      variables: { HUSH: 'a-value-of-its-own' },
    });
    expect(await callOnce(setup)).to.equal('complained');
    await eventually(() => setup.t.texts.some((line) => line.includes('the key is')));
    expect(setup.t.texts.join('\n')).to.include('the key is [REDACTED]').and.not.include('a-value-of-its-own');
  });

  it('tells the model nothing of a JSON-RPC error', async () => {
    const setup = await setUp([stdio('s', { tools: ['refuse'] })], { turns: callingAlways('refuse') });
    expect(await callOnce(setup)).to.equal('{"error":"the tool call failed"}');
  });

  it('ends with the gateway, with all its processes, also those that ignore SIGTERM', async function (this: Mocha.Context) {
    this.timeout(20_000);
    const setup = await setUp([stdio('s', { tools: ['child'], isStubborn: true })], { turns: callingAlways('child') });
    const pids = [pidOf(setup), Number(await callOnce(setup))];
    expect(pids.map(isAlive)).to.deep.equal([true, true]);
    await setup.t.close();
    await eventually(() => !pids.some(isAlive)); // a signal takes a moment
    expect(pids.map(isAlive)).to.deep.equal([false, false]);
  });
});

describe('a gateway that ends without being stopped', () => {
  it('ends its servers on the way out, and listens for that only while it has some', async () => {
    const before = new Set(process.listeners('exit'));
    const setup = await setUp([stdio('s', { isStubborn: true })]);
    const pid = pidOf(setup);
    const added = process.listeners('exit').filter((listener) => !before.has(listener));
    expect(added).to.have.lengthOf(1);
    added[0]!.call(process, 1);
    await eventually(() => !isAlive(pid));
    expect(isAlive(pid)).to.equal(false);
    await setup.t.close();
    expect(process.listeners('exit').filter((listener) => !before.has(listener))).to.deep.equal([]);
  });
});

describe('a swap of the configuration', () => {
  const apply = (setup: Setup, servers: readonly object[], more: object = {}): Promise<void> =>
    setup.t.apply({
      strategy: { mode: 'single' },
      targets: [setup.upstream.target('a')],
      mcp_servers: servers,
      ...more,
    });

  it('keeps the process of a server whose block is unchanged, and its order is the new priority', async () => {
    const setup = await setUp([stdio('a', { tools: ['same'] }), stdio('b', { tools: ['same'] })]);
    const pids = [pidOf(setup, 0), pidOf(setup, 1)];
    await apply(setup, [stdio('b', { tools: ['same'] }), stdio('a', { tools: ['same'] })]);
    expect([pidOf(setup, 1), pidOf(setup, 0)]).to.deep.equal(pids);
    expect(
      setup.t.host
        .current!.hooks.toolServers.call()!
        .tools()
        .map(({ server }) => server),
    ).to.deep.equal(['b']);
    expect(setup.t.lines.filter(({ msg }) => msg === 'mcp server is ready')).to.have.lengthOf(2);
  });

  it('ends a server that is gone or changed after the last request that holds it', async () => {
    const gate = Promise.withResolvers<void>();
    const setup = await setUp([stdio('a')], {
      turns: [
        async (_request, response) => {
          await gate.promise;
          replyJson(response, 200, calling([['echo']]));
        },
        chatReply('done'),
      ],
    });
    const pid = pidOf(setup);
    const pending = setup.chat();
    await eventually(() => setup.upstream.seen.length === 1);
    await apply(setup, []);
    expect(isAlive(pid)).to.equal(true);
    gate.resolve();
    await pending;
    expect(toolContents(setup.messages())).to.deep.equal(['echo {}']);
    await eventually(() => !isAlive(pid));
    expect(isAlive(pid)).to.equal(false);
  });

  it(`may come ${SWAPS} times under running loops: unchanged servers keep their processes, and none is left of the others`, async function (this: Mocha.Context) {
    this.timeout(60_000);
    const setup = await setUp([stdio('stays')], {
      turns: callingAlways('echo'),
      variables: { GW_ADMIN_STDIO: 'true' },
    });
    const pid = pidOf(setup);
    const seen = new Set<number>();
    const over = new AbortController();
    let chats = 0;
    const loops = Array.from({ length: 4 }, async () => {
      while (!over.signal.aborted) {
        expect((await setup.chat()).json().choices[0].message.content).to.equal('done');
        chats += 1;
      }
    });
    for (let swap = 0; swap < SWAPS; swap += 1) {
      await apply(setup, [stdio('stays'), ...(swap % 5 === 4 ? [stdio(`passing${swap}`)] : [])], {
        request_timeout: `${60 + swap}s`,
      });
      if (swap % 5 === 4) await setup.ready();
      const { link } = setup.connections().at(-1)!;
      if (link instanceof StdioLink && link.pid !== undefined && link.pid !== pid) seen.add(link.pid);
      expect(pidOf(setup)).to.equal(pid);
    }
    over.abort();
    await Promise.all(loops);
    expect(chats).to.be.greaterThan(10);
    expect(
      setup.t.lines.filter(({ msg, server }) => msg === 'mcp server is ready' && server === 'stays'),
    ).to.have.lengthOf(1);
    await apply(setup, [stdio('stays')]);
    await eventually(() => ![...seen].some(isAlive));
    expect(seen.size).to.equal(SWAPS / 5);
    expect([...seen].filter(isAlive)).to.deep.equal([]);
  });
});
