import { createServer } from 'node:http';
import { expect } from 'chai';
import { TextScrubber } from '../../host/config/scrub-text.ts';
import { expectSoon, localServer, startHost, type TestHost } from '../kit/index.ts';

const BASE = { strategy: { mode: 'single' }, targets: [{ virtual_key: 'echo' }] };
const R = '[REDACTED]';
const same = (text: string): string => text;

/** Addresses, and how they are shown. */
const SHOWN: readonly (readonly [written: string, shown: string])[] = [
  ['https://hooks.slack.com/services/T0A/B0B/x9kQ2', `https://hooks.slack.com/services/${R}/${R}/${R}`],
  ['https://mcp.example/api/mcp/s/6f1c2a34-88b1-4c0e-9d3f-0a1b2c3d4e5f/mcp', `https://mcp.example/api/mcp/s/${R}/mcp`],
  ['https://mcp.example/api/mcp/s/${ZAP}/mcp', 'https://mcp.example/api/mcp/s/${ZAP}/mcp'],
  ['https://mcp.example/s/a${ZAP}/mcp', `https://mcp.example/s/${R}/mcp`],
  ['https://api.example.com/v1/mcp', 'https://api.example.com/v1/mcp'],
  ['https://h/sse', 'https://h/sse'],
  ['https://h', 'https://h'],
  ['https://h/', 'https://h/'],
  ['https://h//a/./../b/', 'https://h//a/./../b/'],
  ['https://h/2026-03-26/mcp', `https://h/${R}/mcp`],
  ['https://h/a1234/a12345', `https://h/a1234/${R}`],
  ['https://h/aaaaaaaaaaaaaaaaaaaa/aaaaaaaaaaaaaaaaaaaaa', `https://h/aaaaaaaaaaaaaaaaaaaa/${R}`],
  ['https://h/a%20b/a;b/A', `https://h/${R}/${R}/${R}`],
  ['https://u:p@h/x?key=v&r=${R}', `https://u:${R}@h/x?key=${R}&r=\${R}`],
  ['https://h/x#frag', 'https://h/x#frag'],
  ['https://h/x#Frag-12345', `https://h/x#${R}`],
  ['${WHOLE}', '${WHOLE}'],
  ['', ''],
];

/** Credentials as services put them into paths. */
const SECRETS = [
  'T024BE7LD',
  'xoxbAbCdEfGhIjKlMnOpQrStUv',
  '1234567890123456789',
  'aBcDeFgHiJkLmNoPqRsTuVwXyZ012345',
  '6f1c2a34-88b1-4c0e-9d3f-0a1b2c3d4e5f',
  '0123456789abcdef0123456789abcdef',
  'deadbeef01234567',
  'AKIAIOSFODNN7EXAMPLE',
  'eyJhbGciOiJIUzI1NiJ9.e30.abc',
  'c2VjcmV0LXZhbHVlLWhlcmU',
  'hunter2hunter2hunter2',
  'IncomingWebhook',
  'p%40ssw0rd',
  'tok_live-99887',
];

async function refusing(): Promise<string> {
  return localServer(
    createServer((_request, response) => {
      response.writeHead(302, { location: '/moved/Secret-Of-The-Server-99/on' }).end();
    }),
  );
}

const health = async (t: TestHost): Promise<{ name: string; ready: boolean; last_error?: string }[]> =>
  (await t.get('/admin/health')).json().mcp_servers;

describe('secrets in the paths of addresses', () => {
  it('are not shown, and words are', () => {
    const texts = new TextScrubber({ redact: same, redactName: same });
    for (const [written, shown] of SHOWN) expect(texts.address(written), written).to.equal(shown);
    for (const secret of SECRETS)
      expect(texts.address(`https://h/a/${secret}/b`), secret).to.equal(`https://h/a/${R}/b`);
  });

  it('are in no answer, no line and no error, whichever field they stand in', async () => {
    const place = await refusing();
    const documentOf = (secret: string): object => ({
      ...BASE,
      mcp_servers: [{ name: 'a', url: `${place}/s/${secret}/mcp` }],
      plugins: [
        {
          name: 'webhook',
          stage: 'before_request',
          enabled: true,
          config: { url: `${place}/w/${secret}`, fail: 'open' },
        },
      ],
    });
    const t = await startHost(BASE);
    for (const secret of SECRETS) {
      const document = documentOf(secret);
      expect((await t.post('/admin/config/diff', document)).text).not.to.include(secret);
      expect((await t.request('PUT', '/admin/config', document)).status).to.equal(200);
      const shown = await t.get('/admin/config');
      expect(shown.json().mcp_servers[0].url).to.equal(`${place}/s/${R}/mcp`);
      expect(shown.json().plugins[0].config.url).to.equal(`${place}/w/${R}`);
      expect((await t.get('/admin/config/history')).text).not.to.include(secret);
      await expectSoon(async () => expect((await health(t))[0]?.last_error ?? '').to.include('redirect'));
      expect((await t.get('/admin/health')).text)
        .not.to.include(secret)
        .and.not.include('Secret-Of-The-Server');
      await t.post('/v1/chat/completions', { model: 'echo', messages: [{ role: 'user', content: 'hi' }] });
    }
    const lines = t.texts.join('');
    for (const secret of SECRETS) expect(lines).not.to.include(secret);
    const again = await t.request('PUT', '/admin/config', (await t.get('/admin/config')).json());
    expect([again.status, again.json().error.code]).to.deep.equal([400, 'redacted_secret']);
  });

  it('may be references, which are replaced when the server is connected to', async () => {
    const paths: string[] = [];
    const url = await localServer(
      createServer((request, response) => {
        paths.push(request.url ?? '');
        response.writeHead(404).end();
      }),
    );
    const port = new URL(url).port;
    const t = await startHost(
      {
        ...BASE,
        mcp_servers: [
          { name: 'set', url: `http://127.0.0.1:${port}/\${ZAP}/\${ZAP}x` },
          { name: 'unset', url: 'http://127.0.0.1:9/${NOT_SET}' },
          { name: 'no address', url: '${ZAP}' },
        ],
      },
      { variables: { ZAP: 'zap-value-of-the-environment' } },
    );
    await expectSoon(() => expect(paths[0]).to.equal('/zap-value-of-the-environment/zap-value-of-the-environmentx'));
    await expectSoon(async () => {
      const [, unset, other] = await health(t);
      expect(unset?.last_error).to.equal('an environment variable is not set: NOT_SET');
      expect(other?.last_error).to.equal('its url is not an http or https address');
    });
    expect((await t.get('/admin/health')).text).not.to.include('zap-value');
    expect(t.texts.join('')).not.to.include('zap-value');
    expect((await t.get('/admin/config')).json().mcp_servers[0].url).to.include('${ZAP}/');
  });
});
