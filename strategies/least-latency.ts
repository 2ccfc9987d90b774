import Joi from 'joi';
import { defineStrategy, type RankNotes, type RouteTarget, SURFACES } from 'gw/contract';

interface Measured {
  readonly target: RouteTarget;
  readonly ms: number;
}

/**
 * Fastest first by recent median. A target without samples goes first, so that it is measured; several of them in random
 * order on chat, so that none waits for the others. See docs/reference/governance.md#measured-latency.
 */
export default defineStrategy({
  name: 'least-latency',
  summary: 'Tries the target with the lowest recent median latency first',
  advances: true,
  settings: Joi.object({}),
  settingsFrom: [],
  create:
    (_settings, { medianMs, random }) =>
    (targets, { surface }, notes) => {
      const unmeasured: RouteTarget[] = [];
      const measured: Measured[] = [];
      const rest: RouteTarget[] = [];
      for (const target of targets) {
        const ms = target.serves ? medianMs(target.virtualKey) : undefined;
        if (ms !== undefined) measured.push({ target, ms });
        else (target.serves ? unmeasured : rest).push(target);
      }
      if (SURFACES[surface].isChat) shuffle(unmeasured, random);
      measured.sort((a, b) => a.ms - b.ms);
      if (notes?.target) explain(unmeasured, measured, notes);
      return [...unmeasured, ...measured.map(({ target }) => target), ...rest];
    },
});

/** Every order equally likely (Fisher and Yates). */
function shuffle(targets: RouteTarget[], random: () => number): void {
  for (let last = targets.length - 1; last > 0; last -= 1) {
    const at = Math.floor(random() * (last + 1));
    [targets[at], targets[last]] = [targets[last] as RouteTarget, targets[at] as RouteTarget];
  }
}

function explain(unmeasured: readonly RouteTarget[], measured: readonly Measured[], notes: RankNotes): void {
  for (const { virtualKey } of unmeasured) notes.target?.(virtualKey, 'not measured yet, so it goes first');
  for (const { target, ms } of measured) notes.target?.(target.virtualKey, 'by recent median', { median_ms: ms });
}
