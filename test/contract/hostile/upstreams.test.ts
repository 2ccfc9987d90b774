import { expect } from 'chai';
import { Dice, some } from '../../kit/index.ts';
import { answerProblem } from './answers.ts';
import type { Edit } from './edits.ts';
import { hostOf, PROVIDERS, wiresOf } from './wires.ts';

/** Changes per golden answer; all of them are made in the soak. */
const SAMPLE = 3;
const SEED = 11;

function sample(dice: Dice, edits: readonly Edit[]): Edit[] {
  return Array.from({ length: SAMPLE }, () => dice.pick(edits));
}

describe('hostile JSON from an upstream', () => {
  for (const [at, module] of some([...PROVIDERS.entries()], { every: 2, from: 1 })) {
    it(`is answered in a documented way, and harms no other request: ${module.name}`, async function providers() {
      this.timeout(60_000);
      const wires = wiresOf(module);
      expect(
        wires.map(({ stream }) => stream),
        'golden answers, whole and streamed',
      ).to.include.members([false, true]);
      const dice = new Dice(SEED + at);
      const hosts = [await hostOf(module, false), await hostOf(module, true)];
      const problems: string[] = [];
      for (const wire of wires) {
        for (const edit of sample(dice, wire.edits())) {
          const answer = await dice.pick(hosts).send(wire, edit);
          const problem = answerProblem(answer, wire.surface, wire.stream);
          if (problem !== undefined) problems.push(`${wire.what}, ${edit.what}: ${problem}`);
        }
      }
      expect(problems.slice(0, 20)).to.deep.equal([]);
      for (const { host } of hosts) {
        expect(
          host.lines.filter(({ msg }) => /panic|uncaught|was not handled|plugin failed/.test(String(msg))),
        ).to.deep.equal([]);
        expect((await host.get('/v1/models')).status).to.equal(200);
      }
    });
  }
});
