import { expect } from 'chai';
import { some } from '../kit/index.ts';
import { CLIENTS } from './clients.ts';
import { CONTENT, FAULTS, type Fault } from './faults.ts';
import { ASKED, converse, expectInvoice, expectTurn, nextOf, openScene, type Scene, talk, TURNS } from './scene.ts';
import type { Talk } from './clients.ts';

const WAYS = CLIENTS.flatMap((client) => [false, true].map((isStreamed) => ({ client, isStreamed })));

/** Has a conversation whose turns each meet this fault at the vendor that is asked first, and asks once more where the client learnt of it. */
async function converseThrough({ played }: Scene, open: Talk, { fault, isItsError }: Meeting): Promise<number> {
  let heard: Awaited<ReturnType<Talk['ask']>> | undefined;
  let failures = 0;
  for (const number of TURNS.keys()) {
    played.faults.push(fault);
    const said = heard ? nextOf(heard) : ASKED;
    heard = await open.ask(said).catch((error: unknown) => {
      expect(isItsError(error), String(error)).to.equal(true);
      failures += 1;
      return open.ask(said);
    });
    expectTurn(heard, number);
  }
  return failures;
}

interface Meeting {
  readonly fault: Fault;
  readonly isItsError: (error: unknown) => boolean;
}

describe('a conversation with a group whose vendors fail in turn', () => {
  for (const [at, { client, isStreamed }] of WAYS.entries())
    it(`comes to its end, and is billed as it was answered: ${client.name}, ${isStreamed ? 'streamed' : 'whole'}`, async () => {
      for (const fault of some(FAULTS, { every: 4, from: at % 4 })) {
        const scene = await openScene();
        const open = talk(scene, client, isStreamed);
        const failures = await converseThrough(scene, open, { fault, isItsError: client.isItsError });
        expect(failures, fault.title).to.equal(isStreamed && fault.breaks === 'streamed' ? TURNS.length : 0);
        expect(scene.played.refusals, fault.title).to.deep.equal([]);
        await expectInvoice(scene);
        await scene.gateway.close();
      }
    });

  for (const { client, isStreamed } of WAYS)
    it(`gets a refusal of content in its own format, and goes on: ${client.name}, ${isStreamed ? 'streamed' : 'whole'}`, async () => {
      const scene = await openScene();
      scene.played.faults.push(CONTENT);
      const open = talk(scene, client, isStreamed);
      const error: unknown = await open.ask(ASKED).catch((thrown: unknown) => thrown);
      expect(client.isItsError(error), String(error)).to.equal(true);
      expect(scene.played.asked.length, 'asked once').to.equal(1);
      await converse(scene, open, undefined);
      expect(new Set(scene.played.answered.map(({ vendor, key }) => `${vendor} ${key}`)).size).to.equal(1);
      expect(scene.played.refusals).to.deep.equal([]);
    });
});
