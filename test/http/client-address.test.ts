import { createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { createAddressFinder, limiterKey } from '../../host/http/client-address.ts';
import { readEnvironment } from '../../host/environment/settings.ts';
import { startHost, stubUpstream, type TestHost } from '../kit/index.ts';

interface Given {
  readonly peer?: string;
  readonly forwarded?: string;
  readonly real?: string;
  readonly trusted?: string;
}

/** The client's address of a request as it came in. */
function addressOf({ peer = '127.0.0.1', forwarded, real, trusted }: Given): string {
  const { trustedProxies } = readEnvironment(trusted === undefined ? {} : { TRUSTED_PROXIES: trusted });
  const headers = {
    ...(forwarded !== undefined && { 'x-forwarded-for': forwarded }),
    ...(real !== undefined && { 'x-real-ip': real }),
  };
  return createAddressFinder(trustedProxies)({
    socket: { remoteAddress: peer },
    headers,
  } as unknown as IncomingMessage);
}

describe('client address', () => {
  // docs/reference/server.md#the-clients-address: an entry that is not an address ends the search, as in the second row.
  const vectors: [given: Given, expected: string][] = [
    [{ forwarded: '9.9.9.9, 203.0.113.7' }, '203.0.113.7'],
    [{ forwarded: '203.0.113.7, not-an-ip, 127.0.0.1' }, '127.0.0.1'],
    [{ forwarded: '127.0.0.1, 127.0.0.2' }, '127.0.0.1'],
    [{ forwarded: '127.0.0.1, 127.0.0.2', real: '203.0.113.9' }, '203.0.113.9'],
    [{ forwarded: 'not-an-ip' }, '127.0.0.1'],
    [{ peer: '::1', forwarded: '2001:db8::1' }, '2001:db8::1'],
    [{ peer: '203.0.113.1', forwarded: '198.51.100.1', real: '198.51.100.2' }, '203.0.113.1'],
    [{}, '127.0.0.1'],
    [{ forwarded: '' }, '127.0.0.1'],
    [{ forwarded: ' , ,' }, '127.0.0.1'],
    [{ real: '203.0.113.9' }, '203.0.113.9'],
    [{ real: 'not-an-ip' }, '127.0.0.1'],
    [{ forwarded: '203.0.113.7', real: '203.0.113.9' }, '203.0.113.7'],
    [{ forwarded: '203.0.113.7:4711' }, '203.0.113.7'],
    [{ forwarded: '[2001:db8::1]:4711' }, '2001:db8::1'],
    [{ forwarded: '[2001:db8::1]' }, '2001:db8::1'],
    [{ forwarded: '2001:0DB8:0:0:0:0:0:1' }, '2001:db8::1'],
    [{ forwarded: '::ffff:203.0.113.7' }, '203.0.113.7'],
    [{ forwarded: '203.0.113.7, ::ffff:127.0.0.1' }, '203.0.113.7'],
    [{ forwarded: '0x7f.1, 010.0.0.1, 3405803783, 1.2.3, 1.2.3.4.5, 256.1.1.1' }, '127.0.0.1'],
    [{ peer: '::ffff:127.0.0.1', forwarded: '203.0.113.7' }, '203.0.113.7'],
    [{ peer: '::ffff:203.0.113.1', forwarded: '198.51.100.1' }, '203.0.113.1'],
    [{ peer: '10.1.2.3', forwarded: '203.0.113.7, 10.9.9.9', trusted: '10.0.0.0/8' }, '203.0.113.7'],
    [{ peer: '10.1.2.3', forwarded: '10.7.7.7, 10.9.9.9', trusted: '10.0.0.0/8' }, '10.1.2.3'],
    [{ peer: '127.0.0.1', forwarded: '203.0.113.7', trusted: '10.0.0.0/8' }, '127.0.0.1'],
    [{ peer: '2001:db8:1::5', forwarded: '2001:db8:2::1, 2001:db8:1::9', trusted: '2001:db8:1::/48' }, '2001:db8:2::1'],
    [{ peer: '127.0.0.1', forwarded: '203.0.113.7', trusted: ' , ,' }, '203.0.113.7'],
    [{ forwarded: '203.0.113.7, not-an-ip', real: '203.0.113.9' }, '203.0.113.9'],
    [{ forwarded: '203.0.113.7,' }, '127.0.0.1'],
    [{ forwarded: ',203.0.113.7' }, '203.0.113.7'],
    [{ forwarded: ',127.0.0.1' }, '127.0.0.1'],
    [{ forwarded: `203.0.113.7${', 127.0.0.1'.repeat(49)}` }, '203.0.113.7'],
    [{ forwarded: `203.0.113.7${', 127.0.0.1'.repeat(50)}` }, '127.0.0.1'],
    [{ forwarded: `203.0.113.7${' '.repeat(200)}`, real: `203.0.113.9${' '.repeat(200)}` }, '127.0.0.1'],
    [{ forwarded: '[fe80::1%eth0]:4711' }, 'fe80::1%eth0'],
  ];
  for (const [given, expected] of vectors)
    it(`is ${expected} for ${JSON.stringify(given).slice(0, 200)}`, () => {
      expect(addressOf(given)).to.equal(expected);
    });

  it("is the socket's own when there is none to read", () => {
    expect(createAddressFinder([])({ socket: {}, headers: {} } as unknown as IncomingMessage)).to.equal('');
  });
});

describe('the key of the per-address limit', () => {
  it('is the address of IPv4 and the network of 64 bits of IPv6', () => {
    expect(limiterKey('203.0.113.7')).to.equal('203.0.113.7');
    expect(limiterKey('')).to.equal('');
    expect(limiterKey('2001:db8:1:2:3:4:5:6')).to.equal(limiterKey('2001:db8:1:2::'));
    expect(limiterKey('2001:db8:1:2::1')).not.to.equal(limiterKey('2001:db8:1:3::1'));
    expect(limiterKey('::1')).not.to.equal(limiterKey('2001:db8::1'));
  });
});

describe('forwarded headers', () => {
  async function plainHost(variables: Record<string, string> = {}): Promise<TestHost> {
    const stub = await stubUpstream((_request, response) => {
      response.end();
    });
    return startHost({ strategy: { mode: 'fallback' }, targets: [stub.target('a')] }, { variables });
  }
  const remotes = (t: TestHost): unknown[] =>
    t.lines.filter(({ msg }) => msg === 'http request').map(({ remote }) => remote as unknown);

  it('name the client in the access log behind a trusted proxy', async () => {
    const t = await plainHost();
    await t.get('/x', { 'x-forwarded-for': '198.51.100.4, 203.0.113.7, 127.0.0.1' });
    await t.get('/x');
    expect(remotes(t)).to.deep.equal(['203.0.113.7', '127.0.0.1']);
  });

  it('count for nothing from a peer that is not trusted', async () => {
    const t = await plainHost({ TRUSTED_PROXIES: '10.0.0.0/8' });
    await t.get('/x', { 'x-forwarded-for': '203.0.113.7', 'x-real-ip': '203.0.113.8' });
    expect(remotes(t)).to.deep.equal(['127.0.0.1']);
  });

  it('are read over all their lines', async () => {
    const t = await plainHost();
    const lines = [
      'Host',
      'h',
      'X-Forwarded-For',
      '198.51.100.4',
      'X-Forwarded-For',
      '203.0.113.7',
      'X-Forwarded-For',
      '127.0.0.1',
    ];
    await new Promise<void>((resolve, reject) => {
      httpRequest(t.url, { path: '/x', headers: lines, agent: false }, (response) =>
        response.resume().on('end', resolve),
      )
        .on('error', reject)
        .end();
    });
    expect(remotes(t)).to.deep.equal(['203.0.113.7']);
  });

  it('are judged for each connection by itself', async () => {
    const finder = createAddressFinder(readEnvironment({}).trustedProxies);
    const seen: string[] = [];
    const server = createServer((request, response) => {
      seen.push(finder(request));
      response.end();
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const { port } = server.address() as { port: number };
    for (const forwarded of ['203.0.113.7', '203.0.113.8', '']) {
      await (await fetch(`http://127.0.0.1:${port}`, { headers: { 'x-forwarded-for': forwarded } })).text();
    }
    server.closeAllConnections();
    server.close();
    expect(seen).to.deep.equal(['203.0.113.7', '203.0.113.8', '127.0.0.1']);
  });
});
