import { expect } from 'chai';
import {
  accountWords,
  credentialWords,
  digestOf,
  rendezvous,
  wordsOf,
} from '../../builtins/routing/affinity/rendezvous.ts';
import { chat, startPool, vendorOf } from '../credentials/vendor.ts';
import { startFleet } from '../groups/fleet.ts';
import { MASTER_ID } from '../kit/index.ts';
import { askIn } from './world.ts';

const question = (more: object = {}): object => ({ request: chat('m'), session: 's', key_id: 'key_1', ...more });

describe('an explanation with a session', () => {
  it('says its source, eight digits of its digest, and its home, and counts and remembers nothing', async () => {
    const vendor = await vendorOf();
    const t = await startPool(vendor, ['a', 'b', 'c'], {
      config: { strategy: { mode: 'fallback', affinity: 'session' } },
      credentials: { c: { vendor_account: 'acme' } },
    });
    const digest = digestOf('gw-affinity-1', 'key_1', 'm', 'header', 's');
    const [home] = rendezvous(
      wordsOf(digest),
      [
        { name: 'a', words: credentialWords('acme', 'a'), weight: 1 },
        { name: 'b', words: credentialWords('acme', 'b'), weight: 1 },
        { name: 'c', words: accountWords('openai', 'acme'), weight: 1 },
      ],
      (place) => place,
    );
    const explained = (await t.post('/admin/explain', question())).json();
    expect(explained.affinity).to.deep.equal({
      source: 'header',
      digest: digest.slice(0, 8),
      home: { target: 'acme', ...(home?.name === 'c' ? { vendor_account: 'acme' } : { credential: home?.name }) },
    });
    expect(explained.order[0].credentials[0]).to.include({ name: home?.name, first: true });
    expect(t.samples.map(({ name }) => name)).to.not.include('gateway_affinity_requests_total');
    expect(vendor.keys).to.deep.equal([]);
    const other = (await t.post('/admin/explain', question({ key_id: 'key_2' }))).json();
    expect(other.affinity.digest).to.not.equal(explained.affinity.digest);
    const off = (await t.post('/admin/explain', { request: chat('m') })).json();
    expect(off.affinity.source, 'by its beginning').to.equal('text');
  });

  it('says where it was served in place of its home', async () => {
    const fleet = await startFleet(['a', 'b'], {
      models: [
        {
          name: 'm',
          routes: ['a', 'b'].map((target) => ({ target, model: 'x', weight: 1 })),
          strategy: { mode: 'loadbalance', affinity: 'session' },
        },
      ],
    });
    const first = await askIn(fleet.host, 's');
    fleet.does.set(first.target ?? '', 503);
    const second = await askIn(fleet.host, 's');
    const asked = { request: chat('m'), session: 's', key_id: MASTER_ID };
    const { affinity } = (await fleet.host.post('/admin/explain', asked)).json();
    expect(affinity.home).to.deep.equal({ target: first.target });
    expect(affinity.override).to.deep.equal({ target: second.target });
  });

  it('is absent without affinity', async () => {
    const t = await startPool(await vendorOf(), ['a', 'b'], {});
    expect((await t.post('/admin/explain', question())).json()).to.not.have.property('affinity');
  });
});
