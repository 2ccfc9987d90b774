import { bearer, defineProvider, lateFile } from 'gw/contract';
import { configuredModels } from './models.ts';
import { params } from './params.ts';
import type * as Wire from './wire.ts';

const late = lateFile<typeof Wire>(import.meta, './wire.ts');

/** Every call is a prediction: created, then asked for until it ends, or read as a stream. See docs/providers.md#replicate-predictions. */
export default defineProvider({
  name: 'replicate',
  wire: 'native',
  chatTraits: { errorsInResults: false },
  connection: {
    env: ['REPLICATE_API_TOKEN'],
    optionalEnv: ['REPLICATE_TEXT_MODELS', 'REPLICATE_IMAGE_MODELS'],
    baseUrl: 'https://api.replicate.com/v1',
    authorize: bearer('REPLICATE_API_TOKEN'),
    models: configuredModels,
  },
  params,
  // Source: Portkey-AI/gateway, src/globals.ts, 2026-11-22.
  elsewhere: { portkey: { names: ['replicate-ai'] } },
  translators: {
    chat: late('chat', ['toUpstream', 'fromUpstream', 'openStream']),
    images: late('images', ['toUpstream', 'fromUpstream']),
  },
  imageFormats: ['url'],
  ...late(['converse', 'toFault']),
});
