import Joi from 'joi';
import {
  definePlugin,
  editTexts,
  type Exchange,
  filterGuard,
  lateFile,
  type PluginHandlers,
  rewrite,
  type StreamGuard,
  type Verdict,
} from 'gw/contract';
import { restoreFilter } from '../_common/masking.ts';
import type { Placeholders } from '../_common/placeholders.ts';
import { Screening } from '../_common/screening.ts';
import { observeMasks, stream, type StreamSettings } from '../_common/settings.ts';
import { ENTITIES, type Entity } from './entities.ts';
import type * as Detector from './detector.ts';

interface Settings extends StreamSettings {
  entities: Entity[];
  action: 'mask' | 'reject';
  restore: boolean;
}

const { piiDetector } = lateFile<typeof Detector>(import.meta, './detector.ts')(['piiDetector']);

const WHAT = 'personal data';

/** Masks or refuses personal data; with `restore` the client gets its own data back in the answer. */
export default definePlugin<Settings>({
  name: 'pii-redact',
  type: 'guardrail',
  summary: 'Masks or rejects personal data; with restore puts it back into the answer',
  stages: ['before_request', 'after_request'],
  settings: Joi.object<Settings, true>({
    entities: Joi.array()
      .items(Joi.string().valid(...ENTITIES))
      .min(1)
      .default([...ENTITIES])
      .description('kinds of personal data that are looked for; all of them unless said'),
    action: Joi.string()
      .valid('mask', 'reject')
      .default('mask')
      .description('what becomes of what is found: `mask` replaces it, `reject` refuses the request or the answer'),
    restore: Joi.boolean()
      .default(false)
      .description('put what was masked back into the answer; list it at both stages'),
    observe: observeMasks,
    stream,
  }),
  create: redact,
});

function redact(settings: Settings): PluginHandlers {
  const screening = new Screening(settings, piiDetector(settings.entities), WHAT);
  const { masked } = screening;
  const restores = settings.restore && settings.action === 'mask' && !settings.observe;
  return {
    before_request: (exchange) => screening.screen(exchange),
    after_request: (exchange) => (restores ? restoreReply(exchange, masked.get(exchange)) : screening.screen(exchange)),
    stream: (exchange) => (restores ? restoreStream(exchange, masked.get(exchange)) : screening.guardStream(exchange)),
  };
}

function restoreReply(exchange: Exchange, placeholders: Placeholders | undefined): Verdict | undefined {
  const body = placeholders && editTexts(exchange, (text) => placeholders.restored(text));
  if (!body) return undefined;
  exchange.keepPrivate();
  return rewrite(body);
}

function restoreStream(exchange: Exchange, placeholders: Placeholders | undefined): StreamGuard | undefined {
  return (
    placeholders &&
    filterGuard(
      () => restoreFilter(placeholders, () => exchange.keepPrivate()),
      'the answer ended within a placeholder',
    )
  );
}
