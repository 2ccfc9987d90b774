import { expect } from 'chai';
import { SURFACES } from '../../host/contract/index.ts';
import { answerProblem } from '../contract/hostile/answers.ts';
import { translationProblems } from '../contract/hostile/requests.ts';
import { hostOf, PROVIDERS, wiresOf } from '../contract/hostile/wires.ts';

/** Changes that are made to the answers of one provider, spread evenly over all there are. */
const MOST = 2500;

describe('hostile JSON from a client, all of it', function suite() {
  this.timeout(600_000);

  for (const module of PROVIDERS.filter(
    ({ name, wire }) => wire === 'native' || /^(ai21|mistral|openai)$/.test(name),
  )) {
    it(`is translated or refused, never a fault: ${module.name}`, () => {
      expect(translationProblems(module, () => true).slice(0, 50)).to.deep.equal([]);
    });
  }
});

describe('hostile JSON from an upstream, at length', function suite() {
  this.timeout(600_000);

  for (const module of PROVIDERS) {
    for (const isGuarded of [false, true]) {
      it(`is answered in a documented way: ${module.name}${isGuarded ? ', under guards' : ''}`, async () => {
        const { host, send } = await hostOf(module, isGuarded);
        const all = wiresOf(module).flatMap((wire) => wire.edits().map((edit) => ({ wire, edit })));
        const step = Math.ceil(all.length / MOST);
        const problems: string[] = [];
        for (let at = isGuarded ? step >> 1 : 0; at < all.length; at += step) {
          const { wire, edit } = all[at] as (typeof all)[number];
          const other = SURFACES[wire.surface].isChat && !wire.stream && at % 3 === 0 ? 'completions' : undefined;
          const problem = answerProblem(await send(wire, edit, other), other ?? wire.surface, wire.stream);
          if (problem !== undefined) problems.push(`${wire.what}, ${edit.what}: ${problem}`);
        }
        expect(problems.slice(0, 50), `${problems.length} problems`).to.deep.equal([]);
        expect(
          host.lines.filter(({ msg }) => /panic|uncaught|was not handled|plugin failed/.test(String(msg))),
        ).to.deep.equal([]);
        expect(host.host.slot.leases).to.equal(0);
      });
    }
  }
});
