import { defineProvider, parseJson, type ProviderFault, type WireReply } from 'gw/contract';
import { commonTranslators, isFields, listedModels } from 'gw/common-wire';
import { modelNames, OLLAMA_PARAMS, ollamaEmbeddings } from '../_common/ollama.ts';

const DEFAULT_MODELS = ['gpt-oss:120b', 'gpt-oss:20b', 'qwen3-coder:480b', 'deepseek-v3.1:671b'];

/** An error object may hold no more than a type or a code. See docs/reference/providers.md#error-bodies. */
function toFault({ body }: WireReply): ProviderFault | undefined {
  if (!(body instanceof Uint8Array)) return undefined;
  const envelope: unknown = parseJson(new TextDecoder().decode(body));
  const error: unknown = isFields(envelope) ? envelope['error'] : undefined;
  if (!isFields(error)) return undefined;
  const message = [error['message'], error['type'], error['code']].find(
    (text) => typeof text === 'string' && text.trim() !== '',
  );
  return typeof message === 'string' ? { message: message.trim() } : undefined;
}

/** Chat on the common wire, embeddings on Ollama's own beside it; other paths are not forwarded. See docs/providers.md#what-differs. */
export default defineProvider({
  name: 'ollama-cloud',
  wire: 'common',
  connection: {
    env: ['OLLAMA_API_KEY'],
    optionalEnv: ['OLLAMA_CLOUD_MODELS'],
    baseUrl: 'https://ollama.com/v1',
    authorize: (_request, { OLLAMA_API_KEY: key = '' }) => ({ authorization: `Bearer ${key.trim()}` }),
    settings: {}, // `models` of an instance stands for the variable
    models: ({ OLLAMA_CLOUD_MODELS: names }) => modelNames(names, DEFAULT_MODELS),
  },
  params: OLLAMA_PARAMS,
  // See docs/catalog.md#which-entry-is-a-targets.
  names: { catalog: ['ollama_cloud'] },
  translators: {
    ...commonTranslators(['chat'], OLLAMA_PARAMS, { chat: { drops: ['web_search_options'] } }),
    embeddings: ollamaEmbeddings(),
  },
  discovery: listedModels,
  toFault,
});
