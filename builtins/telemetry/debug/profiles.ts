import type { Profiler } from 'node:inspector';
import type { CallNode, Frame, ProfileFacts, ValueType } from './pprof-format.ts';

/** Bytes between two samples of the heap, and microseconds between two of the CPU: what Go and V8 take by themselves. */
export const HEAP_INTERVAL_BYTES = 512 * 1024;
export const CPU_INTERVAL_US = 1000;

/** What V8 answers; Node's types leave the samples out. Source: chromedevtools.github.io/devtools-protocol, HeapProfiler, read 2026-11-22. */
export interface SampledHeap {
  readonly head: SampledNode;
  /** One for each sampled object that is still there. */
  readonly samples: readonly { readonly nodeId: number }[];
}

interface SampledNode {
  readonly callFrame: Frame;
  readonly id: number;
  /** Bytes of this node alone. */
  readonly selfSize: number;
  readonly children: readonly SampledNode[];
}

interface Profile {
  readonly root: CallNode;
  readonly facts: ProfileFacts;
}

const CPU: readonly ValueType[] = [
  ['samples', 'count'],
  ['cpu', 'nanoseconds'],
];
const HEAP: readonly ValueType[] = [
  ['inuse_objects', 'count'],
  ['inuse_space', 'bytes'],
];

/** Where the time went, without that in which nothing ran. `at` is the end, in Unix milliseconds. */
export function cpuProfile(
  { nodes, samples = [], timeDeltas = [], startTime, endTime }: Profiler.Profile,
  at: number,
): Profile {
  const time = new Map<number, { count: number; ns: number }>();
  const untilEnd = endTime - startTime - timeDeltas.reduce((sum, us) => sum + us, 0);
  samples.forEach((id, index) => {
    const known = time.get(id) ?? { count: 0, ns: 0 };
    const us = timeDeltas[index + 1] ?? untilEnd; // each delta is the time since the sample before it
    time.set(id, { count: known.count + 1, ns: known.ns + Math.max(us, 0) * 1000 });
  });
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const treeOf = (node: Profiler.ProfileNode): CallNode => {
    const { count, ns } = time.get(node.id) ?? { count: 0, ns: 0 };
    const isIdle = node.callFrame.functionName === '(idle)';
    return {
      frame: node.callFrame,
      values: isIdle ? [0, 0] : [count, ns],
      children: (node.children ?? []).flatMap((id) => {
        const child = byId.get(id);
        return child ? [treeOf(child)] : [];
      }),
    };
  };
  const [first] = nodes;
  if (!first) throw new Error('the profile has no root');
  const durationMs = (endTime - startTime) / 1000;
  return {
    root: treeOf(first),
    facts: {
      valueTypes: CPU,
      period: CPU_INTERVAL_US * 1000,
      periodType: ['cpu', 'nanoseconds'],
      at: at - durationMs,
      durationMs,
    },
  };
}

/** What is on the heap, by the place that made it. Only what was made since the sampling began. */
export function heapProfile({ head, samples }: SampledHeap, at: number): Profile {
  const objects = new Map<number, number>();
  for (const { nodeId } of samples) objects.set(nodeId, (objects.get(nodeId) ?? 0) + 1);
  const treeOf = ({ callFrame, selfSize, id, children }: SampledNode): CallNode => ({
    frame: callFrame,
    values: [objects.get(id) ?? 0, selfSize],
    children: children.map(treeOf),
  });
  return {
    root: treeOf(head),
    facts: { valueTypes: HEAP, period: HEAP_INTERVAL_BYTES, periodType: ['space', 'bytes'], at, durationMs: 0 },
  };
}
