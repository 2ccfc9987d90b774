import Joi from 'joi';
import { defineStrategy, type RouteQuery, type RouteTarget } from 'gw/contract';

interface Settings {
  readonly rest_seconds: number;
}

/**
 * Keeps everybody at one target: the same user, else the same key, gets the same target for as long as the targets are the
 * same. A target with `settings: {share: 2}` gets twice as many of them. One that fails rests for a while, and its guests go to their second choice.
 */
export default defineStrategy<Settings>({
  name: 'sticky',
  summary: 'Keeps each user at one target, and away from one that failed',
  advances: true,
  settings: Joi.object<Settings, true>({ rest_seconds: Joi.number().positive().default(30) }),
  targetSettings: Joi.object({ share: Joi.number().positive().default(1) }),
  create({ rest_seconds }, { carryover, now, log }) {
    // Outlives a change of the configuration: what has failed has failed.
    const restsUntil = carryover.lease('sticky rests', () => new Map<string, number>());
    return {
      rank(targets, query, notes) {
        const who = guestOf(query);
        const standing = (target: RouteTarget): number => {
          const isResting = (restsUntil.get(target.virtualKey) ?? 0) > now();
          notes?.target?.(target.virtualKey, isResting ? 'resting after a failure' : `for ${who}`);
          return (isResting ? -1 : 0) + drawFor(who, target);
        };
        const standings = new Map(targets.map((target) => [target, standing(target)]));
        return [...targets].sort((a, b) => (standings.get(b) ?? 0) - (standings.get(a) ?? 0));
      },
      settled({ virtualKey, outcome }) {
        if (outcome === 'success') restsUntil.delete(virtualKey);
        if (outcome !== 'failure') return;
        restsUntil.set(virtualKey, now() + rest_seconds * 1000);
        log.info('target rests', { target: virtualKey, seconds: rest_seconds });
      },
    };
  },
});

const guestOf = ({ user, principal, metadata }: RouteQuery): string =>
  user ?? metadata['session'] ?? principal?.id ?? 'everybody';

/** Between 0 and 1, the same for the same guest and target. A share moves it upwards (weighted rendezvous hashing). */
function drawFor(who: string, { virtualKey, settings }: RouteTarget): number {
  return ((hash(`${who}\u0000${virtualKey}`) + 1) / 2 ** 32) ** (1 / Number(settings?.['share'] ?? 1));
}

/** FNV-1a, then mixed: equal ends of texts must not give equal draws. */
function hash(text: string): number {
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
  sum = Math.imul(sum ^ (sum >>> 16), 0x45d9f3b);
  return (sum ^ (sum >>> 16)) >>> 0;
}
