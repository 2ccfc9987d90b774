import { bearer, type CallInfo, defineProvider } from 'gw/contract';
import { commonTranslators, invalidRequest, listedModels } from 'gw/common-wire';

const AUDIO_HOSTS: ReadonlyMap<string, string> = new Map([
  ['whisper-v3', 'https://audio-prod.api.fireworks.ai'],
  ['whisper-v3-turbo', 'https://audio-turbo.api.fireworks.ai'],
]);

/** Address of an audio task; a model without a host of its own is refused. */
const audioAt =
  (task: string) =>
  ({ model }: CallInfo): string => {
    const host = AUDIO_HOSTS.get(model);
    if (host === undefined)
      throw invalidRequest(
        `model "${model}" transcribes nothing at fireworks, use ${[...AUDIO_HOSTS.keys()].join(' or ')}`,
      );
    return `${host}/v1/audio/${task}`;
  };

/** Common wire; audio is served elsewhere, model by model, whatever the configured root. See docs/providers.md#what-differs. */
export default defineProvider({
  name: 'fireworks',
  wire: 'common',
  connection: {
    env: ['FIREWORKS_API_KEY'],
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    authorize: bearer('FIREWORKS_API_KEY'),
  },
  params: {},
  // Source: docs.litellm.ai, "Providers", 2026-11-05; Portkey-AI/gateway, src/globals.ts, 2026-11-22.
  elsewhere: { litellm: { names: ['fireworks_ai'] }, portkey: { names: ['fireworks-ai'] } },
  translators: commonTranslators(
    ['chat', 'embeddings', 'audio.transcriptions', 'audio.translations'],
    {},
    {
      chat: { drops: ['web_search_options'] },
      'audio.transcriptions': { address: audioAt('transcriptions') },
      'audio.translations': { address: audioAt('translations') },
    },
  ),
  passthrough: true,
  responses: true,
  discovery: listedModels,
});
