import { expect } from 'chai';
import { Dice } from '../kit/index.ts';
import { isPending } from '../kit/strict/check.ts';
import { ownFaults, refusalsOf } from '../kit/strict/index.ts';
import { type Body, requestOf } from './generate/request.ts';
import { shrunk } from './shrink.ts';
import { type OurSide, ourSide } from './sides/ours.ts';
import { type Side, SIDES } from './sides/sides.ts';

const MOST_FAILURES = 5;

/**
 * Sends conversations of these seeds through the gateway to every side, with parameters dropped that a vendor does not
 * know. Fails with the smallest requests that the real vendors would refuse. Requests that are wrong by themselves are left out.
 */
export async function askStrictly(from: number, count: number): Promise<void> {
  const ours = await ourSide();
  const failures: string[] = [];
  for (let seed = from; seed < from + count && failures.length < MOST_FAILURES; seed += 1) {
    const request = requestOf(new Dice(seed));
    for (const side of SIDES) {
      const [refusal] = await refusals(ours, side, request);
      if (refusal !== undefined) failures.push(await failureText(ours, side, seed, request, refusal));
    }
  }
  expect(failures.join('\n\n'), 'requests that the vendors refuse').to.equal('');
}

async function refusals(ours: OurSide, side: Side, request: Body): Promise<string[]> {
  if (ownFaults(request).length > 0) return [];
  const { body, path } = await ours.send(side, request);
  if (!body) return [];
  return refusalsOf({ provider: side.provider, model: side.model, path: path.split('?')[0] ?? '', body }).filter(
    (problem) => !isPending(side.provider, problem),
  );
}

/** What a problem is, without where in the body it is. */
const kindOf = (problem: string): string => problem.replaceAll(/\d+/g, '#');

async function failureText(ours: OurSide, side: Side, seed: number, request: Body, refusal: string): Promise<string> {
  const same = async (smaller: Body): Promise<boolean> =>
    (await refusals(ours, side, smaller)).some((problem) => kindOf(problem) === kindOf(refusal));
  const small = await shrunk(request, same);
  const { body } = await ours.send(side, small);
  return [
    `seed ${seed}, ${side.name}: ${refusal}`,
    `  asked: ${JSON.stringify(small)}`,
    `  sent:  ${JSON.stringify(body)}`,
  ].join('\n');
}
