import { expect } from 'chai';
import { Dice } from '../kit/index.ts';
import { type Body, requestOf } from './generate/request.ts';
import { type Found, Judge } from './judge.ts';
import { Schemas } from './schema-samples.ts';
import { shrunk } from './shrink.ts';
import { ourSide } from './sides/ours.ts';
import { SIDES } from './sides/sides.ts';

/** What one failure costs to shrink is much, so that only a few are. */
const MOST_FAILURES = 5;

/**
 * Compares what both toolkits send for conversations of these seeds, at every side. Fails with the smallest requests that
 * differ in a way no line of the tables speaks for. Returns the judge, who knows which lines were needed.
 */
export async function compareRequests(from: number, count: number): Promise<Judge> {
  const judge = new Judge(await ourSide(), new Schemas());
  const failures: string[] = [];
  for (let seed = from; seed < from + count && failures.length < MOST_FAILURES; seed += 1) {
    const request = requestOf(new Dice(seed));
    for (const side of SIDES) {
      const [found] = await judge.differences(side, request);
      if (found) failures.push(await failureText(judge, seed, request, found));
    }
  }
  expect(failures.join('\n\n'), 'differences that no line of accepted.ts speaks for').to.equal('');
  return judge;
}

async function failureText(judge: Judge, seed: number, request: Body, { side: name, at }: Found): Promise<string> {
  const side = SIDES.find((one) => one.name === name)!;
  const same = async (smaller: Body): Promise<Found | undefined> =>
    (await judge.differences(side, smaller)).find((found) => found.at === at);
  const small = await shrunk(request, async (smaller) => (await same(smaller)) !== undefined);
  const { ours, theirs } = (await same(small))!;
  return [
    `seed ${seed}, ${name}: ${at}`,
    `  asked:  ${JSON.stringify(small)}`,
    `  ours:   ${JSON.stringify(ours)}`,
    `  theirs: ${JSON.stringify(theirs)}`,
  ].join('\n');
}
