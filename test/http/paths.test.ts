import { expect } from 'chai';
import { MASTER_KEY, rawClient, ROUTES, startHost, stubUpstream } from '../kit/index.ts';

/** Percent signs that encode nothing, or nothing that is text. */
const ODD = [
  '%',
  '%z',
  '%zz',
  '%2',
  '%%',
  '%c3%28',
  '%e0%a4%a',
  '%ff',
  '%u0041',
  '%ed%a0%80',
  '%00',
  '%2e%2e%2f',
  '%252e',
];
const PATHS = [
  ...Object.values(ROUTES),
  '/v1/completions',
  '/v1/models',
  '/v1/capabilities',
  '/v1/files',
  '/v1',
  '/health',
  '/livez',
  '/readyz',
  '/admin',
  '/metrics',
];

describe('a path with percent signs that encode nothing', () => {
  it('is refused or not found, wherever they stand', async () => {
    const stub = await stubUpstream((_request, response) => {
      response.end();
    });
    const t = await startHost({ strategy: { mode: 'fallback' }, targets: [stub.target('a')] });
    const client = await rawClient(t.url);
    const asked: string[] = [];
    for (const path of PATHS) {
      for (const odd of ODD) {
        for (const target of [`${path}/${odd}`, `${path}${odd}`, `/${odd}${path}`, `${path}/a/${odd}/b`]) {
          for (const method of ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS']) {
            asked.push(`${method} ${target}`);
            client.send(
              `${method} ${target} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${MASTER_KEY}\r\nContent-Length: 0\r\n\r\n`,
            );
          }
        }
      }
    }
    client.send('GET /livez HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n');
    const statuses = Array.from((await client.closed()).matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status]) =>
      Number(status),
    );
    expect(statuses).to.have.length(asked.length + 1);
    for (const [at, request] of asked.entries()) expect(statuses[at], request).to.be.oneOf([400, 404, 501]); // files and batches are not configured
    expect(
      t.lines.filter(
        ({ level, msg, status }) => level === 'ERROR' && status !== 501 && msg !== 'pass-through request failed',
      ),
    ).to.deep.equal([]);
    expect(stub.seen).to.have.length(0);
  });

  it('says so where the path names a model', async () => {
    const stub = await stubUpstream((_request, response) => {
      response.end();
    });
    const t = await startHost({ strategy: { mode: 'fallback' }, targets: [stub.target('a')] });
    for (const headers of [{ accept: '*/*' }, { 'x-provider': 'a' }] as Record<string, string>[]) {
      const answer = await t.get('/v1/models/%zz', headers);
      expect([answer.status, answer.json().error.code]).to.deep.equal([400, 'invalid_request']);
    }
    expect((await t.get('/v1/models/m%2Fn')).json().error.message).to.include('"m/n"');
  });
});
