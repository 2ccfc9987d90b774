import { bearer, defineProvider } from 'gw/contract';
import { converse } from './converse.ts';
import { toFault } from './errors.ts';
import { images } from './images.ts';
import { configuredModels } from './models.ts';
import { params, toUpstream } from './request.ts';
import { fromUpstream } from './response.ts';
import { openStream } from './stream.ts';

/** Every call is a prediction: created, then asked for until it ends, or read as a stream. Source: providers reference 5.6. */
export default defineProvider({
  name: 'replicate',
  wire: 'native',
  connection: {
    env: ['REPLICATE_API_TOKEN'],
    optionalEnv: ['REPLICATE_TEXT_MODELS', 'REPLICATE_IMAGE_MODELS'],
    baseUrl: 'https://api.replicate.com/v1',
    authorize: bearer('REPLICATE_API_TOKEN'),
    models: configuredModels,
  },
  params,
  translators: { chat: { toUpstream, fromUpstream, openStream }, images },
  imageFormats: ['url'],
  converse,
  toFault,
});
