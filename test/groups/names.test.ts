import { expect } from 'chai';
import { chat, startPool, vendorOf } from '../credentials/vendor.ts';

/** Names that objects have members of, and that need care in paths, figures and lines. */
const NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'a/b/../c',
  'a%2Fb',
  '%',
  'naïve 模型 🦜',
  'x'.repeat(256),
  '"quoted"',
  'a\\b',
];

const KEYS = ['constructor', 'valueof', 'prototype'];

describe('names that objects have members of', () => {
  for (const name of NAMES)
    it(`name a group, a model and an alias: ${name.slice(0, 20)}`, async () => {
      const vendor = await vendorOf();
      const t = await startPool(vendor, KEYS, {
        config: {
          models: [{ name, routes: [{ target: 'acme', model: `${name}-up` }] }],
          aliases: { [`alias ${name}`]: name },
        },
      });
      for (const asked of [name, `alias ${name}`]) {
        const answer = await t.post('/v1/chat/completions', chat(asked));
        expect(answer.status, answer.text).to.equal(200);
      }
      const listed = (await t.get('/v1/models')).json().data.map(({ id }: { id: string }) => id);
      expect(listed).to.include(name);
      expect((await t.get(`/v1/models/${encodeURIComponent(name)}`)).status).to.equal(200);
      expect((await t.post('/v1/chat/completions', chat(`${name}?`))).status).to.equal(404);
    });

  it('stand for no group, alias, instance or target that is not configured', async () => {
    const vendor = await vendorOf();
    const t = await startPool(vendor, ['a'], {
      config: { models: [{ name: 'g', routes: [{ target: 'acme', model: 'm' }] }] },
    });
    for (const name of NAMES) {
      expect((await t.post('/v1/chat/completions', chat(name))).status, name).to.equal(404);
      if (/^[\w]+$/.test(name)) {
        expect((await t.get('/v1/anything', { 'x-provider': name })).status, name).to.equal(404);
        expect((await t.post(`/admin/providers/${name}/credentials/a/reset`, {})).status, name).to.equal(404);
        expect((await t.post(`/admin/providers/acme/credentials/${name}/reset`, {})).status, name).to.equal(404);
      }
    }
    expect(vendor.keys).to.deep.equal([]);
  });

  it('name an instance and its credentials', async () => {
    const vendor = await vendorOf();
    const t = await startPool(vendor, KEYS, {
      config: {
        providers: {
          constructor: {
            kind: 'openai',
            base_url: `${vendor.url}/v1`,
            credentials: KEYS.map((name) => ({
              name,
              api_key: `\${KEY_${name.toUpperCase()}}`,
              vendor_account: 'constructor',
            })),
          },
        },
        targets: [{ virtual_key: 'constructor', models: ['m'] }],
      },
    });
    for (let at = 0; at < 20; at += 1) expect((await t.post('/v1/chat/completions', chat())).status).to.equal(200);
    expect(new Set(vendor.keys)).to.deep.equal(new Set(KEYS));
    expect((await t.post('/admin/providers/constructor/credentials/constructor/reset', undefined)).status).to.equal(
      204,
    );
    expect((await t.get('/health')).status).to.equal(200);
    expect((await t.get('/admin/providers')).text).to.include('"name":"constructor"');
    expect((await t.post('/admin/explain', { request: chat() })).json().order[0]).to.include({ target: 'constructor' });
  });
});
