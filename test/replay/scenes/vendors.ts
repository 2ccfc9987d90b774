/** Surfaces of upstreams, named as the folders of golden files. */
export type Face =
  | 'chat'
  | 'embeddings'
  | 'images'
  | 'speech'
  | 'transcriptions'
  | 'translations'
  | 'moderations'
  | 'rerank';

/** A model as clients name it, and how its upstream answers. */
export interface Model {
  readonly id: string;
  readonly vendor: string;
  /** The id that leaves for the upstream. */
  readonly upstream: string;
  readonly face: Face;
  /** Golden files whose names begin so: of vendors with several wires. */
  readonly files: string;
  readonly wire: 'common' | 'native';
}

type Names = Readonly<Partial<Record<Face, string>>>;

/** Vendors of the common wire: a key, an address, and one model for each of their surfaces. */
const COMMON: Readonly<Record<string, Names>> = {
  ai21: { chat: 'jamba-large' },
  cerebras: { chat: 'llama-3.3-70b' },
  cloudflare: { chat: '@cf/meta/llama-3.1-8b-instruct', embeddings: '@cf/baai/bge-base-en-v1.5' },
  databricks: { chat: 'databricks-llama-4-maverick', embeddings: 'databricks-gte-large-en' },
  deepinfra: {
    chat: 'meta-llama/Llama-3.3-70B-Instruct',
    embeddings: 'BAAI/bge-m3',
    images: 'black-forest-labs/FLUX-1-dev',
    speech: 'hexgrad/Kokoro-82M',
    transcriptions: 'openai/whisper-large-v3',
    translations: 'openai/whisper-large-v3-turbo',
    rerank: 'Qwen/Qwen3-Reranker-8B',
  },
  deepseek: { chat: 'deepseek-chat' },
  fireworks: {
    chat: 'accounts/fireworks/models/llama-v3p3-70b-instruct',
    embeddings: 'nomic-ai/nomic-embed-text-v1.5',
    transcriptions: 'whisper-v3',
    translations: 'whisper-v3-turbo',
  },
  groq: {
    chat: 'llama-3.3-70b-versatile',
    speech: 'playai-tts',
    transcriptions: 'whisper-large-v3',
    translations: 'whisper-large-v3-turbo',
  },
  'hugging-face': {
    chat: 'meta-llama/Llama-3.1-8B-Instruct',
    embeddings: 'BAAI/bge-small-en-v1.5',
    images: 'stabilityai/stable-diffusion-xl-base-1.0',
  },
  mistral: {
    chat: 'mistral-small-latest',
    embeddings: 'mistral-embed',
    moderations: 'mistral-moderation-latest',
    transcriptions: 'voxtral-mini-latest',
    speech: 'voxtral-mini-tts-latest',
  },
  moonshot: { chat: 'kimi-k2-0905-preview' },
  novita: { chat: 'meta-llama/llama-3.1-8b-instruct', embeddings: 'baai/bge-m3' },
  'nvidia-nim': {
    chat: 'meta/llama-3.1-8b-instruct',
    embeddings: 'nvidia/nv-embedqa-e5-v5',
    rerank: 'nvidia/rerank-qa',
  },
  ollama: { chat: 'llama3.2', embeddings: 'nomic-embed-text' },
  'ollama-cloud': { chat: 'gpt-oss:20b', embeddings: 'embeddinggemma' },
  openai: {
    chat: 'gpt-4o-mini',
    embeddings: 'text-embedding-3-small',
    images: 'gpt-image-1',
    speech: 'tts-1',
    transcriptions: 'whisper-1',
    translations: 'whisper-1',
    moderations: 'omni-moderation-latest',
  },
  openrouter: { chat: 'openai/gpt-4o-mini', embeddings: 'openai/text-embedding-3-small' },
  perplexity: { chat: 'sonar' },
  qwen: { chat: 'qwen-plus', embeddings: 'text-embedding-v3' },
  sambanova: {
    chat: 'Meta-Llama-3.3-70B-Instruct',
    embeddings: 'E5-Mistral-7B-Instruct',
    transcriptions: 'Whisper-Large-v3',
    translations: 'Whisper-Large-v3',
  },
  together: {
    chat: 'meta-llama/Llama-3.3-70B-Instruct-Turbo',
    embeddings: 'BAAI/bge-base-en-v1.5',
    images: 'black-forest-labs/FLUX.1-schnell',
    rerank: 'Salesforce/Llama-Rank-V1',
    speech: 'cartesia/sonic',
    transcriptions: 'openai/whisper-large-v3',
    translations: 'openai/whisper-large-v3',
  },
  xai: { chat: 'grok-4', images: 'grok-2-image' },
};

/** Models of vendors with wires of their own, and more than one of a vendor where the model decides. */
const NATIVE: readonly (readonly [vendor: string, id: string, face: Face, upstream: string, files?: string])[] = [
  ['anthropic', 'anthropic-chat', 'chat', 'claude-sonnet-4-5'],
  ['anthropic', 'anthropic-opus', 'chat', 'claude-opus-4-6'],
  ['azure-foundry', 'azure-foundry-chat', 'chat', 'Phi-4'],
  ['azure-foundry', 'azure-foundry-embeddings', 'embeddings', 'embed-v-4-0'],
  ['azure-openai', 'azure-openai-chat', 'chat', 'gpt-4o'],
  ['azure-openai', 'azure-openai-embeddings', 'embeddings', 'text-embedding-3-small'],
  ['azure-openai', 'azure-openai-images', 'images', 'gpt-image-1'],
  ['azure-openai', 'azure-openai-speech', 'speech', 'tts-1'],
  ['azure-openai', 'azure-openai-transcriptions', 'transcriptions', 'whisper'],
  ['azure-openai', 'azure-openai-translations', 'translations', 'whisper'],
  ['bedrock', 'bedrock-claude', 'chat', 'anthropic.claude-sonnet-4-20250514-v1:0', 'claude'],
  ['bedrock', 'bedrock-nova', 'chat', 'amazon.nova-lite-v1:0', 'nova'],
  ['bedrock', 'bedrock-titan', 'chat', 'amazon.titan-text-express-v1', 'titan'],
  ['bedrock', 'bedrock-llama', 'chat', 'meta.llama3-8b-instruct-v1:0', 'llama'],
  ['bedrock', 'bedrock-converse', 'chat', 'mistral.mistral-large-2407-v1:0', 'converse'],
  ['bedrock', 'bedrock-titan-embeddings', 'embeddings', 'amazon.titan-embed-text-v2:0', 'titan'],
  ['bedrock', 'bedrock-cohere-embeddings', 'embeddings', 'cohere.embed-english-v3', 'cohere-reply'],
  ['bedrock', 'bedrock-images', 'images', 'amazon.nova-canvas-v1:0', 'amazon'],
  ['bedrock', 'bedrock-stability', 'images', 'stability.stable-diffusion-xl-v1', 'stability'],
  ['bedrock', 'bedrock-rerank', 'rerank', 'cohere.rerank-v3-5:0'],
  ['cohere', 'cohere-chat', 'chat', 'command-a-03-2025'],
  ['cohere', 'cohere-embeddings', 'embeddings', 'embed-v4.0'],
  ['cohere', 'cohere-rerank', 'rerank', 'rerank-v3.5'],
  ['gemini', 'gemini-chat', 'chat', 'gemini-2.5-flash'],
  ['gemini', 'gemini-pro', 'chat', 'gemini-3-pro-preview'],
  ['gemini', 'gemini-embeddings', 'embeddings', 'gemini-embedding-001'],
  ['gemini', 'gemini-images', 'images', 'imagen-4.0-generate-001', 'reply'],
  ['gemini', 'gemini-image-chat', 'images', 'gemini-2.5-flash-image', 'answer'],
  ['replicate', 'replicate-chat', 'chat', 'meta/meta-llama-3-8b-instruct'],
  ['replicate', 'replicate-images', 'images', 'black-forest-labs/flux-schnell'],
  ['vertex-ai', 'vertex-ai-chat', 'chat', 'gemini-2.5-flash'],
  ['vertex-ai', 'vertex-ai-embeddings', 'embeddings', 'text-embedding-005'],
  ['vertex-ai', 'vertex-ai-images', 'images', 'imagen-4.0-generate-001'],
];

const common = ([vendor, names]: readonly [string, Names]): Model[] =>
  Object.entries(names).map(([face, upstream]) => ({
    id: `${vendor}-${face}`,
    vendor,
    upstream,
    face: face as Face,
    files: '',
    wire: 'common',
  }));

export const MODELS: readonly Model[] = [
  ...NATIVE.map(([vendor, id, face, upstream, files = '']) => ({
    id,
    vendor,
    upstream,
    face,
    files,
    wire: 'native' as const,
  })),
  ...Object.entries(COMMON).flatMap(common),
  { id: 'openai-reasoner', vendor: 'openai', upstream: 'o4-mini', face: 'chat', files: '', wire: 'common' },
  {
    id: 'deepseek-reasoner',
    vendor: 'deepseek',
    upstream: 'deepseek-reasoner',
    face: 'chat',
    files: '',
    wire: 'common',
  },
];

export const VENDORS: readonly string[] = [...new Set(MODELS.map(({ vendor }) => vendor))];

export function modelsOf(face: Face): readonly Model[] {
  return MODELS.filter((model) => model.face === face);
}

export function modelOf(id: string): Model {
  const found = MODELS.find((model) => model.id === id);
  if (!found) throw new Error(`there is no model "${id}"`);
  return found;
}

const SPECIAL: Readonly<Record<string, (url: string) => Readonly<Record<string, string>>>> = {
  'azure-foundry': (url) => ({ AZURE_FOUNDRY_API_KEY: 'key-azure-foundry', AZURE_FOUNDRY_ENDPOINT: url }),
  'azure-openai': (url) => ({
    AZURE_OPENAI_API_KEY: 'key-azure-openai',
    AZURE_OPENAI_ENDPOINT: url,
    AZURE_OPENAI_DEPLOYMENT: 'house-deployment',
  }),
  bedrock: (url) => ({
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'AKIAREPLAYREPLAY',
    AWS_SECRET_ACCESS_KEY: 'key-bedrock',
    AWS_ENDPOINT_URL_BEDROCK_RUNTIME: url,
    AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME: url,
  }),
  databricks: (url) => ({ DATABRICKS_TOKEN: 'key-databricks', DATABRICKS_HOST: url }),
  'hugging-face': (url) => ({ HUGGING_FACE_API_KEY: 'key-hugging-face', HUGGING_FACE_ENDPOINT: `${url}/v1` }),
  ollama: (url) => ({ OLLAMA_HOST: url }),
  'ollama-cloud': (url) => ({ OLLAMA_API_KEY: 'key-ollama-cloud', OLLAMA_CLOUD_BASE_URL: url }),
  replicate: (url) => ({ REPLICATE_API_TOKEN: 'key-replicate', REPLICATE_BASE_URL: url }),
  'vertex-ai': (url) => ({
    VERTEX_AI_PROJECT_ID: 'house-project',
    VERTEX_AI_REGION: 'us-central1',
    VERTEX_AI_API_KEY: 'key-vertex-ai',
    VERTEX_AI_BASE_URL: url,
  }),
};

/** The variables that register a vendor and send its calls to this address. */
export function variablesOf(vendor: string, url: string): Readonly<Record<string, string>> {
  const special = SPECIAL[vendor];
  if (special) return special(url);
  const name = vendor.toUpperCase().replaceAll('-', '_');
  return {
    [`${name}_API_KEY`]: `key-${vendor}`,
    [`${name}_BASE_URL`]: url,
    ...(vendor === 'cloudflare' && { CLOUDFLARE_ACCOUNT_ID: 'house-account' }),
  };
}
