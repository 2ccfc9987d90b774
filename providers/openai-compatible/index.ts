import { type Authorize, defineProvider } from 'gw/contract';
import { accountHeaders, commonTranslators, listedModels } from 'gw/common-wire';

/** Without a key no header carries one: such servers run without, and refuse an empty one. */
const authorize: Authorize = (_request, credentials) => {
  const { OPENAI_COMPATIBLE_API_KEY: key, auth } = credentials;
  const account = accountHeaders(credentials);
  if (key === undefined) return account;
  return auth === 'api-key' ? { ...account, 'api-key': key } : { ...account, authorization: `Bearer ${key}` };
};

/** A bare host is that of a server whose API begins at `/v1`, as those of vLLM and LM Studio do. Any other path is the root. */
const rootOf = (address: string): string => (/^[a-z]+:\/\/[^/]+$/i.test(address) ? `${address}/v1` : address);

/**
 * Any server that speaks the common wire, without exceptions: all fields are sent, and what it lacks it says itself. Only the
 * configuration registers it, with its address. Sources: docs.vllm.ai, "Online serving"; lmstudio.ai/docs, "OpenAI
 * Compatible Endpoints"; 2026-11-27.
 */
export default defineProvider({
  name: 'openai-compatible',
  wire: 'common',
  connection: {
    env: [],
    optionalEnv: ['OPENAI_COMPATIBLE_API_KEY'],
    baseUrl: 'http://localhost:8000/v1', // where vLLM listens; an instance says its own
    root: rootOf,
    authorize,
    settings: {
      organization: 'organization',
      project: 'project',
      auth: { variable: 'auth', values: ['bearer', 'api-key'] },
    },
    needsAddress: true,
    onlyDeclared: true,
  },
  params: {},
  // Servers that other gateways know by name, and what they send to the service of OpenAI's name at another address.
  // Source: docs.litellm.ai, "Providers", 2026-11-05; docs.getbifrost.ai, "Provider Setup", 2026-11-22.
  elsewhere: {
    litellm: { names: ['custom_openai', 'openai_like', 'hosted_vllm', 'lm_studio', 'llamafile'], insteadOf: 'openai' },
    portkey: { insteadOf: 'openai' },
    bifrost: {
      names: ['vllm', 'sgl'],
      insteadOf: 'openai',
      settings: [{ variable: 'OPENAI_COMPATIBLE_BASE_URL', from: ['vllm_key_config.url', 'sgl_key_config.url'] }],
    },
  },
  translators: commonTranslators(
    [
      'chat',
      'embeddings',
      'images',
      'rerank',
      'moderations',
      'audio.transcriptions',
      'audio.translations',
      'audio.speech',
    ],
    {},
    { embeddings: { encodingFormat: 'any' } },
  ),
  streams: ['images', 'audio.transcriptions', 'audio.speech'],
  passthrough: true,
  responses: true,
  discovery: listedModels,
  catalogModels: false,
});
