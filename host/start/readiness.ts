import { hasCredential } from '../pipeline/credentials/credential-desk.ts';
import type { CircuitState } from '../pipeline/hooks.ts';
import type { Generation } from '../generation/generation.ts';

/** What callers may have judged as fine. */
export const IGNORABLE = ['targets', 'mcp'] as const;
export type Ignorable = (typeof IGNORABLE)[number];

/** A target as readiness sees it. */
export interface TargetState {
  readonly name: string;
  readonly routable: boolean;
  readonly circuit: CircuitState;
}

/** Why a configuration that is in force can serve nothing; `undefined` where it can. See docs/reference/data-plane.md#probes. */
export function unroutable(generation: Generation, ignored: readonly Ignorable[] = []): string | undefined {
  if (!ignored.includes('targets') && !targetStates(generation).some(({ routable }) => routable))
    return 'no routable targets';
  const servers = generation.hooks.toolServers.call()?.servers() ?? [];
  return !ignored.includes('mcp') && servers.some(({ ready, required }) => required && !ready)
    ? 'required mcp server unavailable'
    : undefined;
}

/** A half-open circuit counts as routable: without traffic it would never close. */
export function targetStates(generation: Generation): readonly TargetState[] {
  return generation.targetList.map((target) => {
    const { virtualKey: name } = target;
    const circuit = circuitOf(generation, name);
    return { name, routable: circuit !== 'open' && hasCredential(target, generation.hooks), circuit };
  });
}

export function circuitOf(generation: Generation | undefined, virtualKey: string): CircuitState {
  return generation?.hooks.circuit.call(virtualKey) ?? 'closed';
}
