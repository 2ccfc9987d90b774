import { expect } from 'chai';
import { Dice, ROUTES, some } from '../../kit/index.ts';
import { answerProblem } from './answers.ts';
import { editsOf } from './edits.ts';
import { requestsFor, translationProblems } from './requests.ts';
import { hostOf, PROVIDERS, wiresOf } from './wires.ts';

/** Changed requests per wire; many more of them are sent in the soak. */
const SAMPLE = 4;
const SEED = 23;

/** Which changes to a request of everything every run makes: what is left out, or empty, and every so many others. */
const STEP = 300;

describe('hostile JSON from a client', () => {
  for (const [at, module] of some([...PROVIDERS.entries()], { every: 2 })) {
    it(`is answered in a documented way: ${module.name}`, async function providers() {
      this.timeout(60_000);
      const dice = new Dice(SEED + at);
      const { host, sendText } = await hostOf(module, dice.below(2) === 0);
      const problems: string[] = [];
      const wires = new Map(wiresOf(module).map((wire) => [`${wire.surface} ${wire.model} ${wire.stream}`, wire]));
      for (const wire of wires.values()) {
        const requests = requestsFor(wire);
        if (ROUTES[wire.surface] === undefined || requests.length === 0) continue;
        for (let count = 0; count < SAMPLE; count += 1) {
          const edit = dice.pick(editsOf(dice.pick(requests)));
          const problem = answerProblem(await sendText(wire, edit.text()), wire.surface, wire.stream);
          if (problem !== undefined) problems.push(`${wire.what}, ${edit.what}: ${problem}`);
        }
      }
      expect(problems.slice(0, 20)).to.deep.equal([]);
      expect(
        host.lines.filter(({ msg }) => /panic|uncaught|was not handled|plugin failed/.test(String(msg))),
      ).to.deep.equal([]);
    });
  }
});

describe('a chat request that the gateway lets through', () => {
  for (const module of some(
    PROVIDERS.filter(({ name, wire }) => wire === 'native' || name === 'openai'),
    { every: 2 },
  )) {
    it(`is translated or refused, never a fault: ${module.name}`, function translators() {
      this.timeout(60_000);
      expect(
        translationProblems(module, (what, at) => /missing$|is (\{\}|\[\])$/.test(what) || at % STEP === 0).slice(
          0,
          20,
        ),
      ).to.deep.equal([]);
    });
  }
});
