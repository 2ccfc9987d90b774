import { expect } from 'chai';
import { forSuite, some } from '../kit/index.ts';
import { CLIENTS } from './clients.ts';
import { meaningOf } from './history.ts';
import { converse, openScene, talk } from './scene.ts';
import { VENDORS, type VendorName } from './vendors.ts';

/** Every way in which the vendors may take turns. */
const ORDERS = VENDORS.flatMap((first) =>
  VENDORS.flatMap((second) => VENDORS.map((third): readonly VendorName[] => [first, second, third])),
);
const WAYS = CLIENTS.flatMap((client) => [false, true].map((isStreamed) => ({ client, isStreamed })));

describe('a conversation whose turns are served by vendors of a group', () => {
  const scene = forSuite(() => openScene());

  for (const { client, isStreamed } of WAYS)
    it(`gets to each as a history that it takes, which means what it would directly: ${client.name}, ${isStreamed ? 'streamed' : 'whole'}`, async () => {
      const { played } = scene();
      for (const vendor of VENDORS) {
        played.answered.length = 0;
        await converse(scene(), talk(scene(), client, isStreamed, `only-${vendor}`), undefined);
        const direct = played.answered.map(({ body }) => meaningOf(vendor, body));
        for (const order of some(
          ORDERS.filter((one) => one[2] === vendor),
          { every: 4 },
        )) {
          played.answered.length = 0;
          await converse(scene(), talk(scene(), client, isStreamed), order);
          expect(played.refusals, order.join(', ')).to.deep.equal([]);
          const turns = played.answered.map(({ vendor: name, body }) => meaningOf(name, body));
          expect(turns, order.join(', ')).to.deep.equal(direct);
        }
      }
    });
});
