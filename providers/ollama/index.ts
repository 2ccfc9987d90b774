import { type Credentials, defineProvider } from 'gw/contract';
import { commonTranslators, readModels, withoutTail } from 'gw/common-wire';
import { modelNames, OLLAMA_PARAMS, ollamaEmbeddings } from '../_common/ollama.ts';

/** The path of a folder, which lists no models. See docs/reference/providers.md#registration. */
const FOLDER = /^(?:[/~]|\.{1,2}[/\\]|[A-Za-z]:[/\\])[^,]*$/;

/** `OLLAMA_MODELS` also names the folder in which an Ollama server keeps its models. */
function configuredModels(
  { GW_OLLAMA_MODELS: own, OLLAMA_MODELS: shared }: Credentials,
  warn: (message: string) => void,
): readonly string[] {
  if (shared === undefined) return modelNames(own, ['llama3.2']);
  const isFolder = FOLDER.test(shared.trim());
  warn(
    `OLLAMA_MODELS is deprecated${isFolder ? ' and left out, as it names a folder' : ''}: list models in GW_OLLAMA_MODELS`,
  );
  return modelNames(own ?? (isFolder ? undefined : shared), ['llama3.2']);
}

const isNamed = (name: unknown): boolean => typeof name === 'string' && name.trim() !== '';

/** A time such as `2026-11-21T10:00:00Z` in Unix seconds; `undefined` for any other text. */
function secondsOf(time: unknown): number | undefined {
  const ms = typeof time === 'string' ? Date.parse(time) : NaN;
  return Number.isFinite(ms) ? Math.floor(ms / 1000) : undefined;
}

/** Chat on the common wire below `/v1`, embeddings and models on Ollama's own below `/api`. See docs/providers.md#addresses-of-their-own. */
export default defineProvider({
  name: 'ollama',
  wire: 'common',
  connection: {
    env: ['OLLAMA_HOST'],
    optionalEnv: ['GW_OLLAMA_MODELS', 'OLLAMA_MODELS'],
    baseUrlEnv: 'OLLAMA_HOST',
    baseUrl: 'http://localhost:11434',
    root: (address) => withoutTail(address, '/v1'),
    settings: {}, // `models` of an instance stands for both variables
    models: configuredModels,
    connectTimeoutMs: 5000,
  },
  params: OLLAMA_PARAMS,
  // Source: docs.litellm.ai, "Providers", 2026-11-05; docs.getbifrost.ai, "Provider Setup", 2026-11-22.
  elsewhere: {
    litellm: { names: ['ollama_chat'] },
    bifrost: { settings: [{ variable: 'OLLAMA_HOST', from: ['ollama_key_config.url'] }] },
  },
  translators: {
    ...commonTranslators(['chat'], OLLAMA_PARAMS, {
      chat: {
        path: '/v1/chat/completions',
        drops: ['web_search_options'],
        responses: { path: '/v1/responses' },
      },
    }),
    embeddings: ollamaEmbeddings(),
  },
  passthrough: true,
  forwardPath: '/v1',
  responses: true,
  anyModel: true,
  discovery: {
    path: '/api/tags',
    read: (body) =>
      readModels((body as { models?: unknown } | null)?.models, ({ name, model, modified_at: time }) => ({
        id: isNamed(name) ? name : model,
        created: secondsOf(time),
      })),
  },
});
