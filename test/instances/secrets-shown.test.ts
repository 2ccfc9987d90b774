import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { OPERATIONS } from '../../builtins/openapi/operations.ts';
import { as, startAdmin } from '../admin/kit.ts';
import { replyJson, stubUpstream, temporaryFolder } from '../kit/index.ts';
import { chat } from './support.ts';

const VALUES = {
  key: 'zq-value-of-key-0123456789',
  file: 'zq-value-of-file-0123456789',
  header: 'zq-value-of-header-0123456789',
  proxy: 'zq-value-of-proxy-0123456789',
};

describe('what is kept secret of instances', () => {
  it('stands in no answer of a route that reads, in no error and in no line', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'key'), VALUES.file);
    // A vendor that repeats what it was sent, as some do in their errors.
    const upstream = await stubUpstream((request, response) =>
      replyJson(response, request.text.includes('"m"') ? 401 : 400, {
        error: { message: `refused: ${JSON.stringify(request.headers)}` },
      }),
    );
    const near = {
      kind: 'openai-compatible',
      base_url: upstream.url,
      models: ['m', 'repeats'],
      headers: { 'X-Api-Token': 'Bearer ${HEADER_KEY}' },
      credentials: [
        { name: 'a', api_key: '${KEY_A}' },
        { name: 'b', api_key: `\${file:${folder}/key}` },
      ],
    };
    const proxied = { ...near, proxy: { url: 'http://127.0.0.1:9', username: 'gw', password: '${PROXY_KEY}' } };
    const t = await startAdmin(
      {
        variables: {
          GW_SECRET_DIRS: folder,
          KEY_A: VALUES.key,
          HEADER_KEY: VALUES.header,
          PROXY_KEY: VALUES.proxy,
          GW_RATE_LIMIT_RPS: '1000',
          LOG_LEVEL: 'debug',
        },
      },
      {
        providers: { near, proxied },
        targets: [{ virtual_key: 'near' }, { virtual_key: 'proxied' }],
        models: [
          {
            name: 'group',
            routes: [
              { target: 'near', model: 'm' },
              { target: 'proxied', model: 'm' },
            ],
          },
        ],
      },
    );
    const reader = await t.makeKey({ name: 'reader', scopes: ['read_only'] });
    const texts: string[] = [];
    for (const model of ['repeats', 'm', 'group']) texts.push((await t.post('/v1/chat/completions', chat(model))).text);
    texts.push((await t.post('/v1/anything', { model: 'repeats' }, { 'x-provider': 'near' })).text);
    expect(upstream.seen.length).to.be.greaterThan(1);
    expect(texts.join(''), 'the vendor repeats its headers').to.include('refused: ');
    const paths = OPERATIONS.filter(({ method, path }) => method === 'get' && !path.includes('{')).map(
      ({ path }) => path,
    );
    expect(paths).to.include.members(['/admin/providers', '/admin/config', '/metrics', '/admin/providers/catalog']);
    for (const path of [...paths, '/admin/config/history', '/admin/providers/catalog?include=settings', '/admin/audit'])
      for (const headers of [{}, as(reader.key)]) {
        if (path.startsWith('/debug/pprof/')) continue; // profiles take their time
        const answer = await t.get(path, headers);
        texts.push(answer.text);
      }
    expect((await t.get('/admin/config')).text, 'references are shown').to.include('${KEY_A}');
    const said = `${texts.join('\n')}${JSON.stringify(t.lines)}`;
    for (const [what, value] of Object.entries(VALUES)) expect(said.includes(value), what).to.equal(false);
  });
});
