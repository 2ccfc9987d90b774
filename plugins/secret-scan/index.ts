import Joi from 'joi';
import { definePlugin, lateFile, type PluginHandlers } from 'gw/contract';
import { Screening } from '../_common/screening.ts';
import { observeMasks, stream, type StreamSettings } from '../_common/settings.ts';
import type * as Detector from './detector.ts';

interface Settings extends StreamSettings {
  action: 'reject' | 'mask';
  entropy: number;
}

const { secretDetector } = lateFile<typeof Detector>(import.meta, './detector.ts')(['secretDetector']);

const WHAT = 'a secret';
/** A character of this plugin's tokens carries no more. */
const MOST_BITS = 8;

/** Refuses or masks credentials: by the forms that vendors give them, and by how random a token is. */
export default definePlugin<Settings>({
  name: 'secret-scan',
  type: 'guardrail',
  summary: 'Rejects or masks keys, tokens and other credentials',
  stages: ['before_request', 'after_request'],
  settings: Joi.object<Settings, true>({
    action: Joi.string()
      .valid('reject', 'mask')
      .default('reject')
      .description('what becomes of what is found: `reject` refuses the request or the answer, `mask` replaces it'),
    entropy: Joi.number()
      .min(0)
      .max(MOST_BITS)
      .default(4)
      .description('bits per character from which on a token counts as a secret; 0 switches this off'),
    observe: observeMasks,
    stream,
  }),
  create: scan,
});

function scan(settings: Settings): PluginHandlers {
  const screening = new Screening(settings, secretDetector(settings.entropy), WHAT);
  return {
    before_request: (exchange) => screening.screen(exchange),
    after_request: (exchange) => screening.screen(exchange),
    stream: (exchange) => screening.guardStream(exchange),
  };
}
