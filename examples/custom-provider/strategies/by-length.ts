import Joi from 'joi';
import { defineStrategy, type RouteTarget } from 'gw/contract';

interface Settings {
  readonly limit: number;
  readonly short: string;
}

/** Prompts of at most `limit` characters go to the target `short`, longer ones to the others; the rest stays for failures. */
export default defineStrategy<Settings>({
  name: 'by-length',
  summary: 'Sends short prompts to one target and long ones to the others',
  advances: true,
  settings: Joi.object<Settings, true>({
    limit: Joi.number().integer().positive().required(),
    short: Joi.string().required(),
  }),
  check({ short }, targets) {
    if (targets.some(({ virtualKey }) => virtualKey === short)) return [];
    return [
      {
        path: 'strategy.settings.short',
        rule: 'by-length',
        message: `"${short}" is not a target`,
        fix: 'name a virtual_key of targets',
      },
    ];
  },
  create:
    ({ limit, short }) =>
    (targets, query) => {
      const isShort = query.promptCharacters() <= limit;
      const isWanted = ({ virtualKey }: RouteTarget): boolean => (virtualKey === short) === isShort;
      return [...targets.filter(isWanted), ...targets.filter((target) => !isWanted(target))];
    },
});
