import { expect } from 'chai';
import { Dice, forSuite, inSoak } from '../kit/index.ts';
import { CLIENTS } from './clients.ts';
import { converse, openScene, rowsOf, talk } from './scene.ts';
import { VENDORS, type VendorName } from './vendors.ts';

const WAYS = CLIENTS.flatMap((client) => [false, true].map((isStreamed) => ({ client, isStreamed })));
type Body = Readonly<Record<string, any>>;

/** What stands in front of the conversation, and its turns, as a cache of prefixes reads them. */
const headOf = ({ system, systemInstruction, tools }: Body): string =>
  JSON.stringify([system, systemInstruction, tools]);
const turnsOf = ({ messages, contents }: Body): readonly string[] =>
  ((messages ?? contents) as readonly unknown[]).map((turn) => JSON.stringify(turn));

describe('what a vendor of a group gets of one conversation', () => {
  const scene = forSuite(() => openScene());

  for (const { client, isStreamed } of WAYS)
    it(`begins with what it got before, to the byte: ${client.name}, ${isStreamed ? 'streamed' : 'whole'}`, async () => {
      const { played } = scene();
      for (const vendor of VENDORS) {
        played.answered.length = 0;
        await converse(scene(), talk(scene(), client, isStreamed, `only-${vendor}`), undefined);
        played.answered.forEach(({ body }, at) => {
          const before = played.answered[at - 1]?.body;
          if (!before) return;
          expect(headOf(body), vendor).to.equal(headOf(before));
          expect(turnsOf(body).slice(0, turnsOf(before).length), vendor).to.deep.equal(turnsOf(before));
        });
      }
    });

  for (const { client, isStreamed } of WAYS)
    it(`comes with one key for as long as that serves, and rows say where it went: ${client.name}, ${isStreamed ? 'streamed' : 'whole'}`, async () => {
      for (const [order, results] of ORDERS) {
        const own = await openScene();
        await converse(own, talk(own, client, isStreamed), order);
        const { answered } = own.played;
        expect(answered.map(({ vendor }) => vendor)).to.deep.equal(order);
        for (const vendor of VENDORS)
          expect(new Set(answered.filter((one) => one.vendor === vendor).map(({ key }) => key)).size).to.be.at.most(1);
        expect((await rowsOf(own, 3)).map((row) => row['affinity'])).to.deep.equal(results);
        await own.gateway.close();
      }
    });
});

/** A session that had to move stays where it went. The declared first vendor is its home. */
const ORDERS: readonly (readonly [readonly VendorName[], readonly string[]])[] = [
  [
    ['pool', 'pool', 'pool'],
    ['new', 'followed', 'followed'],
  ],
  [
    ['claude', 'claude', 'claude'],
    ['moved', 'followed', 'followed'],
  ],
  [
    ['pool', 'gemini', 'gemini'],
    ['new', 'moved', 'followed'],
  ],
];

/** What three organisations have read of prompts, each behind a key of its own. A conversation is read again up to where it is known. */
function cachedShare(asked: readonly { readonly key: string; readonly body: Body }[]): number {
  const known = new Set<string>();
  let [hits, later] = [0, 0];
  for (const { key, body } of asked) {
    const turns = turnsOf(body);
    const before = [key, headOf(body), ...turns.slice(0, -2)].join('\0');
    if (turns.length > 3) {
      later += 1;
      if (known.has(before)) hits += 1;
    }
    known.add([key, headOf(body), ...turns].join('\0'));
  }
  return hits / later;
}

describe('caches of prefixes behind three keys', () => {
  inSoak('know 95 of 100 later turns with sessions, and a third without', async () => {
    const dice = new Dice(7);
    const shares: Record<string, number> = {};
    for (const affinity of ['session', 'off']) {
      const { gateway, played, key } = await openScene({ affinity });
      const talks = Array.from({ length: 40 }, (_each, at) => ({
        session: `s-${at}`,
        messages: [{ role: 'user', content: `question ${at}` }] as object[],
      }));
      for (let turn = 0; turn < 300; turn += 1) {
        const { session, messages } = dice.pick(talks);
        const answer = await gateway.post(
          '/v1/chat/completions',
          { model: 'smart', messages },
          { 'x-gateway-session': session, authorization: `Bearer ${key}` },
        );
        expect(answer.status, answer.text).to.equal(200);
        messages.push(
          { role: 'assistant', content: 'I look.' },
          { role: 'user', content: `and then, for the ${messages.length}th time?` },
        );
      }
      shares[affinity] = cachedShare(played.answered);
      await gateway.close();
    }
    const shown = Object.entries(shares).map(([name, share]) => `${name} ${(share * 100).toFixed(1)} %`);
    process.stdout.write(`      read from a cache: affinity ${shown.join(', affinity ')}\n`);
    expect(shares['session']).to.be.at.least(0.95);
    expect(shares['off']).to.be.within(0.2, 0.5);
  });
});
