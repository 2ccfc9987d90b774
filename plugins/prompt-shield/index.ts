import Joi from 'joi';
import { definePlugin, lateFile } from 'gw/contract';
import { observe } from '../_common/settings.ts';
import type * as Screen from './screen.ts';

interface Settings {
  threshold: number;
  observe: boolean;
}

/** Refuses texts that attack the model's instructions. */
export default definePlugin<Settings>({
  name: 'prompt-shield',
  type: 'guardrail',
  summary: 'Rejects prompt injection and jailbreak attempts in user and tool messages',
  stages: ['before_request'],
  settings: Joi.object<Settings, true>({
    threshold: Joi.number()
      .min(0)
      .max(1)
      .default(0.5)
      .description('how sure it must be to refuse, from 0 to 1; a higher threshold refuses less'),
    observe,
  }),
  ...lateFile<typeof Screen>(import.meta, './screen.ts')(['create']),
});
