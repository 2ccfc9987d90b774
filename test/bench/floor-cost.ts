import { startGenerators } from './generators.ts';
import { exploreMachine } from './machine.ts';
import { measure } from './measure.ts';
import { type Plan, QUICK } from './options.ts';
import { floor } from './subjects.ts';
import { startUpstreams } from './upstreams.ts';
import { createWorkspace } from './workspace.ts';

/** As long as it takes to see what a warm proxy costs. */
const WARM: Plan = {
  ...QUICK,
  rounds: 3,
  warmUps: 3,
  load: { ...QUICK.load, unary: { requests: 6000, connections: 16 } },
};

/** CPU microseconds of the bare proxy of `npm run bench` for one unary request, on this machine, now. */
export async function floorUs(): Promise<number> {
  const bench = { workspace: createWorkspace(), machine: exploreMachine(), isResilient: false };
  try {
    const setting = {
      plan: WARM,
      upstreams: await startUpstreams(bench.workspace, bench.machine),
      generators: startGenerators(bench.workspace, bench.machine),
    };
    const [row] = await measure(setting, [floor(bench)], 'unary', 'same');
    return row?.values.cpuPerRequest ?? Number.NaN;
  } finally {
    await bench.workspace.close();
  }
}
