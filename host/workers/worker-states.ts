import type { Generation } from '../generation/generation.ts';
import type { CircuitState } from '../pipeline/hooks.ts';
import type { PrimaryTeam, Team } from './team.ts';

export const STATE = 'state';

/** Milliseconds that a view of the gateway waits for what workers say of themselves. */
const STATE_MS = 1000;

/** What a target does in one worker. */
export interface TargetLoad {
  readonly held: number;
  readonly waiting: number;
  readonly circuit: CircuitState;
}

export type TargetLoads = Readonly<Record<string, TargetLoad>>;

/** Calls of each target of a configuration, in this process. */
export function loadsOf(current: Generation | undefined): TargetLoads {
  return Object.fromEntries(
    (current?.targetList ?? []).map(({ virtualKey }) => {
      const { held = 0, waiting = 0 } = current?.hooks.load.call(virtualKey) ?? {};
      return [virtualKey, { held, waiting, circuit: current?.hooks.circuit.call(virtualKey) ?? 'closed' }];
    }),
  );
}

/** Those of all workers that answer in time; none where there are no workers. */
export async function loadsOfWorkers(team: Team): Promise<readonly TargetLoads[]> {
  if (team?.role !== 'primary') return [];
  const answers = await team.askAll<TargetLoads>(STATE, { limitMs: STATE_MS });
  return [...answers.values()].flatMap((answer) => (answer instanceof Error ? [] : [answer]));
}

const WORST: readonly CircuitState[] = ['closed', 'half-open', 'open'];

/** The calls of all processes together, and the worst circuit. */
export function summed(name: string, own: TargetLoad, others: readonly TargetLoads[]): TargetLoad {
  let { held, waiting, circuit } = own;
  for (const { [name]: load } of others) {
    if (!load) continue;
    held += load.held;
    waiting += load.waiting;
    if (WORST.indexOf(load.circuit) > WORST.indexOf(circuit)) circuit = load.circuit;
  }
  return { held, waiting, circuit };
}

/** How many workers serve, as people read it, where that is not all of them. */
export function missingWorkers(team: PrimaryTeam): string | undefined {
  const up = Array.from({ length: team.size }, (_, at) => team.isUp(at + 1)).filter(Boolean).length;
  return up === team.size ? undefined : `${up} of ${team.size}`;
}
