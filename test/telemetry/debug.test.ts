import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { Profile } from 'pprof-format';
import { type CallNode, pprofBytes } from '../../builtins/telemetry/debug/pprof-format.ts';
import { forSuite, MASTER_KEY, startGateway, startHost, temporaryFolder, type TestHost, inSoak } from '../kit/index.ts';

const config = { targets: [{ virtual_key: 'echo' }] };
const profiling = (): Promise<TestHost> => startHost(config, { variables: { ENABLE_PPROF: ' Yes ' } });

/** A profile as another reader of the format sees it. */
function decoded(bytes: Uint8Array): {
  readonly types: string[];
  readonly stacks: { readonly names: string[]; readonly values: number[] }[];
  readonly profile: Profile;
} {
  const profile = Profile.decode(bytes);
  const text = (at: number | bigint): string => profile.stringTable.strings[Number(at)]!;
  const functions = new Map(profile.function.map((each) => [Number(each.id), text(each.name)]));
  const names = new Map(
    profile.location.map((each) => [Number(each.id), functions.get(Number(each.line[0]!.functionId))!]),
  );
  return {
    types: profile.sampleType.map(({ type, unit }) => `${text(type)}/${text(unit)}`),
    stacks: profile.sample.map((sample) => ({
      names: sample.locationId.map((id) => names.get(Number(id))!),
      values: sample.value.map(Number),
    })),
    profile,
  };
}

/** A gateway of its own: a profile names all code of its process, and that of the tests takes the longest. */
async function profiledProcess(): Promise<{
  readonly url: string;
  readonly get: (path: string, signal?: AbortSignal) => Promise<Response>;
}> {
  const { url, key } = await startGateway({ cwd: await temporaryFolder(), variables: { ENABLE_PPROF: ' Yes ' } });
  const headers = { authorization: `Bearer ${key}` };
  return { url, get: (path, signal) => fetch(url + path, { headers, ...(signal && { signal }) }) };
}

async function bytesOf(host: TestHost, path: string): Promise<Buffer> {
  const response = await fetch(host.url + path, { headers: { authorization: `Bearer ${MASTER_KEY}` } });
  expect([path, response.status]).to.deep.equal([path, 200]);
  return Buffer.from(await response.arrayBuffer());
}

describe('/debug/vars', () => {
  it('holds at least the command line and the memory, for GET and HEAD', async () => {
    const host = await startHost(config);
    const answer = await host.get('/debug/vars');
    expect([answer.status, answer.headers.get('content-type')]).to.deep.equal([200, 'application/json']);
    const { cmdline, memstats, requests, connections } = answer.json();
    expect(cmdline).to.be.an('array').that.includes(process.argv[1]);
    expect(memstats.heapUsed).to.be.above(0);
    expect([requests, connections.active]).to.deep.equal([1, 1]);
    expect((await host.request('HEAD', '/debug/vars')).status).to.equal(200);
    const posted = await host.post('/debug/vars', {});
    expect([posted.status, posted.headers.get('allow')]).to.deep.equal([405, 'GET, HEAD']);
  });
});

describe('/debug/pprof', () => {
  const gateway = forSuite(profiledProcess);

  it('is an ordinary 404 unless it is switched on', async () => {
    const host = await startHost(config);
    for (const path of ['/debug/pprof/', '/debug/pprof/heap', '/debug/pprof/profile'])
      expect([path, (await host.get(path)).status, (await host.get(path)).text]).to.deep.equal([
        path,
        404,
        '404 page not found',
      ]);
  });

  it('has an index of what there is, the command line and no symbols', async () => {
    const { get, url } = gateway();
    const index = await get('/debug/pprof/');
    expect([index.status, index.headers.get('content-type')]).to.deep.equal([200, 'text/html; charset=utf-8']);
    for (const [, path = ''] of (await index.text()).matchAll(/href="([^"]+)"/g))
      expect([path, (await get(`${path}?seconds=0.01`)).status]).to.deep.equal([path, 200]);
    expect((await (await get('/debug/pprof/cmdline')).text()).split('\0')).to.include('serve');
    const headers = { authorization: `Bearer ${MASTER_KEY}` };
    for (const method of ['GET', 'POST'])
      expect(await (await fetch(`${url}/debug/pprof/symbol`, { method, headers })).text()).to.equal('num_symbols: 0\n');
    expect(await (await get('/debug/pprof/eventloop')).json()).to.have.keys('utilization', 'delay_ms');
  });

  inSoak('takes a profile of the CPU that another reader opens', async () => {
    const host = await profiling();
    const burning = setInterval(() => burn(30), 1); // most of the time: work as short as a step of the sampling could lie between two samples each time
    const { types, stacks, profile } = decoded(gunzipSync(await bytesOf(host, '/debug/pprof/profile?seconds=0.3')));
    const { nodes } = JSON.parse((await bytesOf(host, '/debug/pprof/cpuprofile?seconds=0.4')).toString()) as {
      nodes: { callFrame: { functionName: string } }[];
    };
    clearInterval(burning);
    expect(types).to.deep.equal(['samples/count', 'cpu/nanoseconds']);
    const burnt = stacks.filter(({ names }) => names.includes('burn'));
    expect(burnt.reduce((sum, { values }) => sum + values[1]!, 0)).to.be.above(0);
    expect(stacks.flatMap(({ names }) => names)).to.not.include('(idle)');
    expect(Number(profile.durationNanos)).to.be.above(0.2e9);
    expect(nodes.map(({ callFrame }) => callFrame.functionName)).to.include('burn');
  });

  it('takes one of the heap, of what was made since the start', async () => {
    const host = await profiling();
    const kept = hoard();
    const { types, stacks } = decoded(gunzipSync(await bytesOf(host, '/debug/pprof/heap')));
    expect(kept).to.have.lengthOf(64);
    expect(types).to.deep.equal(['inuse_objects/count', 'inuse_space/bytes']);
    expect(
      stacks.filter(({ names }) => names.includes('hoard')).reduce((sum, { values }) => sum + values[1]!, 0),
    ).to.be.above(1024 * 1024);
  });

  it('takes one profile of the CPU at a time, and ends it when its client leaves', async () => {
    const { get } = gateway();
    const leaving = new AbortController();
    const first = get('/debug/pprof/profile?seconds=300', leaving.signal).catch(() => 'left');
    const another = async (): Promise<number> => {
      const answer = await get('/debug/pprof/profile?seconds=0.01');
      await answer.arrayBuffer();
      return answer.status;
    };
    let status = 200;
    while (status === 200) status = await another();
    expect(status).to.equal(409);
    leaving.abort();
    expect(await first).to.equal('left');
    while (status !== 200) status = await another();
  });

  it('refuses a time that is none', async () => {
    const host = await profiling();
    for (const seconds of ['0', '-1', 'x', '', '301', 'NaN'])
      expect([seconds, (await host.get(`/debug/pprof/profile?seconds=${seconds}`)).status]).to.deep.equal([
        seconds,
        400,
      ]);
  });
});

/** Calls itself, because V8 puts a function that does not into its caller, and then no profile shows it. */
function burn(depth: number): number {
  return depth < 2 ? depth : burn(depth - 1) + burn(depth - 2);
}

function hoard(): string[][] {
  return Array.from({ length: 64 }, (_row, row) =>
    Array.from({ length: 16 * 1024 }, (_cell, cell) => `${row} ${cell}`),
  );
}

describe('the format of profiles', () => {
  it('holds numbers of any size, names of any language and deep stacks', () => {
    let deep: CallNode = {
      frame: { functionName: 'größe', url: 'file:///a.ts', lineNumber: 41 },
      values: [1, 2 ** 52],
      children: [],
    };
    for (let depth = 0; depth < 20_000; depth += 1)
      deep = { frame: { functionName: `f${depth % 300}`, url: '', lineNumber: -1 }, values: [0, 0], children: [deep] };
    const root: CallNode = {
      frame: { functionName: '(root)', url: '', lineNumber: -1 },
      values: [0, 0],
      children: [deep],
    };
    const { stacks, profile } = decoded(
      pprofBytes(root, {
        valueTypes: [
          ['a', 'count'],
          ['b', 'bytes'],
        ],
        period: 300,
        periodType: ['b', 'bytes'],
        at: 1_700_000_000_000,
        durationMs: 0,
      }),
    );
    expect(stacks).to.have.lengthOf(1);
    expect([stacks[0]!.names[0], stacks[0]!.names.length, stacks[0]!.values]).to.deep.equal([
      'größe',
      20_001,
      [1, 2 ** 52],
    ]);
    expect(String(profile.timeNanos)).to.equal('1700000000000000000');
    expect(Number(profile.function[0]!.startLine)).to.be.oneOf([0, 42]);
  });
});
