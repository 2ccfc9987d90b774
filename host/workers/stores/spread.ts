import type { Spread } from '../../stores/store-deps.ts';
import { STORE_TOPIC } from './remote-stores.ts';
import type { PrimaryTeam } from '../team.ts';

/** Milliseconds that workers have to forget what has ended. */
const FORGET_MS = 5000;

/** Tells all workers, and ends those that do not answer: nothing that has ended is served anywhere once this has resolved. */
export const spreadTo =
  (team: PrimaryTeam): Spread =>
  async (what, id) => {
    await team.askAll(STORE_TOPIC.changed, {
      value: { what, id },
      limitMs: FORGET_MS,
      late: (seat, waitedMs) => team.replace(seat, waitedMs),
    });
  };
