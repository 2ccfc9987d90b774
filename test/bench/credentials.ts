/**
 * Cost of one choice of a credential, in a pool of 64: `node test/bench/credentials.ts`. Choice, end and what is remembered of both,
 * without and with some that rest or are benched.
 */
import { fileURLToPath } from 'node:url';
import { seeded } from '../kit/random.ts';
import { credentialOf, failure, PoolWorld } from '../upstream/credentials/pool-world.ts';

const CREDENTIALS = 64;
const DECISIONS = 20_000;
const ROUNDS = 5;

export interface ChoiceCost {
  readonly name: string;
  /** Microseconds of the best round, of a choice and the end of its call. */
  readonly us: number;
}

const poolOf = (): PoolWorld =>
  new PoolWorld(
    Array.from({ length: CREDENTIALS }, (_each, at) => credentialOf(`c${at}`, { weight: 1 + (at % 4) })),
    seeded(1),
  );

function disturbed(): PoolWorld {
  const world = poolOf();
  for (const [at, { credential, states }] of world.pool.entries.entries()) {
    if (at % 3 === 0) states.rest(credential, 'm', 600_000);
    if (at % 7 === 0) states.bench(credential, 'invalid_key', { model: 'm', hintMs: undefined });
  }
  const call = world.begin('m');
  if (typeof call !== 'string') world.end(call, failure({ status: 500 }));
  return world;
}

function measured(name: string, world: PoolWorld): ChoiceCost {
  let us = Infinity;
  for (let round = 0; round < ROUNDS; round += 1) {
    const startedAt = performance.now();
    for (let at = 0; at < DECISIONS; at += 1) {
      const call = world.begin('m');
      if (typeof call !== 'string') world.end(call);
    }
    us = Math.min(us, ((performance.now() - startedAt) * 1000) / DECISIONS);
    world.results.length = 0;
  }
  return { name, us };
}

export const choiceCosts = (): readonly ChoiceCost[] => [
  measured(`${CREDENTIALS} credentials, all ready`, poolOf()),
  measured(`${CREDENTIALS} credentials, a third rests and a seventh is benched`, disturbed()),
];

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const { name, us } of choiceCosts()) process.stdout.write(`${us.toFixed(2)} us  ${name}\n`);
