import type { TranslatedSurface } from '../../../host/contract/index.ts';
import { golden, type ProviderFacts, type SurfaceFacts } from '../../kit/index.ts';
import { goldenFolder, hasGolden, isHeld } from '../../providers/places.ts';

/** One row per provider of this build: the facts of docs/providers.md, written a second time. */
export interface Facts extends ProviderFacts {
  /** Root without any address variable; `undefined` where the address is required. */
  readonly defaultRoot: string | undefined;
  /** What a bare host becomes. */
  readonly bareRoot: string;
  /** Reads its address as a host, section 2.2, rather than as an API root, section 2.1. */
  readonly isHostRoot?: boolean;
  readonly optional?: readonly string[];
  readonly discovery?: (address: string) => string;
}

type Path = (address: string, model: string) => string;
type Rows = Readonly<Partial<Record<TranslatedSurface, readonly [model: string, path?: string | Path]>>>;

interface Row {
  readonly env?: string;
  readonly root: string;
  /** Segment that a bare host gains; `/v1` unless said. */
  readonly segment?: string;
  readonly surfaces: Rows & { readonly chat: NonNullable<Rows['chat']> };
  readonly errors: readonly [unauthorized: string | readonly string[], missing: string | readonly string[]];
  readonly discovers?: boolean;
  readonly more?: Partial<Omit<Facts, 'surfaces' | 'errors'>>;
}

const PATHS: Readonly<Record<TranslatedSurface, string>> = {
  chat: '/chat/completions',
  embeddings: '/embeddings',
  images: '/images/generations',
  'images.edits': '/images/edits',
  rerank: '/rerank',
  moderations: '/moderations',
  'audio.transcriptions': '/audio/transcriptions',
  'audio.translations': '/audio/translations',
  'audio.speech': '/audio/speech',
};

const hasPath = (address: string): boolean => /^https?:\/\/[^/]+\/[^/]/i.test(address);

function factsOf(
  name: string,
  {
    env = name.toUpperCase().replaceAll('-', '_'),
    root,
    segment = '/v1',
    surfaces,
    errors,
    discovers = false,
    more = {},
  }: Row,
): Facts {
  const rooted = (address: string): string => (hasPath(address) ? address : `${address}${segment}`);
  const folder = goldenFolder(name).replace('test/fixtures/', '');
  const entries = Object.entries(surfaces).map(
    ([surface, [model, path = PATHS[surface as TranslatedSurface]]]): [string, SurfaceFacts] => [
      surface,
      { model, url: (address) => (typeof path === 'string' ? rooted(address) + path : path(address, model)) },
    ],
  );
  return {
    name,
    required: [`${env}_API_KEY`],
    address: `${env}_BASE_URL`,
    credential: `${env}_API_KEY`,
    defaultRoot: root,
    bareRoot: `http://h:9911${segment}`,
    surfaces: Object.fromEntries(entries) as unknown as Facts['surfaces'],
    golden: (file) => golden(`${folder}/${file}`),
    errors: { 401: errors[0], 404: errors[1] },
    ...(discovers && { discovery: (address: string) => `${rooted(address)}/models` }),
    ...more,
  };
}

const taskOf =
  (suffix: string): Path =>
  (address, model) =>
    `${address.replace(/\/v1$/, '')}/hf-inference/models/${model}${suffix}`;
const fireworksAudio =
  (kind: string): Path =>
  (_address, model) =>
    `https://audio-${model === 'whisper-v3' ? 'prod' : 'turbo'}.api.fireworks.ai/v1/audio/${kind}`;

const ROWS: Readonly<Record<string, Row>> = {
  ai21: {
    root: 'https://api.ai21.com/studio/v1',
    surfaces: { chat: ['jamba-mini-1.7'] },
    errors: ['Forbidden: Bad or missing API token.', 'Model jamba-none was not found'],
  },
  cerebras: {
    root: 'https://api.cerebras.ai/v1',
    surfaces: { chat: ['llama-3.3-70b'] },
    discovers: true,
    errors: ['Wrong API Key', 'Model none does not exist or you do not have access to it.'],
  },
  cloudflare: {
    root: `https://api.cloudflare.com/client/v4/accounts/cloudflare-account-id-0123456789/ai/v1`,
    surfaces: { chat: ['@cf/meta/llama-3.1-8b-instruct'], embeddings: ['@cf/baai/bge-large-en-v1.5'] },
    errors: [
      ['Unauthorized', 'Authentication error'],
      ['Not Found', 'No route for that URI'],
    ], // section 6 reads the status alone, section 14 row 24 the body too
    more: { required: ['CLOUDFLARE_API_KEY', 'CLOUDFLARE_ACCOUNT_ID'] },
  },
  databricks: {
    root: '',
    segment: '/serving-endpoints',
    errors: [
      'Credential was not sent or was of an unsupported type for this API.',
      'The given endpoint does not exist, please retry after checking the specified model.',
    ],
    surfaces: {
      chat: ['databricks-claude-sonnet-4-5', (address) => `${address}/serving-endpoints/chat/completions`],
      embeddings: ['databricks-gte-large-en', (address) => `${address}/serving-endpoints/embeddings`],
    },
    more: {
      required: ['DATABRICKS_TOKEN', 'DATABRICKS_HOST'],
      address: 'DATABRICKS_HOST',
      credential: 'DATABRICKS_TOKEN',
      defaultRoot: undefined,
      isHostRoot: true,
    },
  },
  deepinfra: {
    root: 'https://api.deepinfra.com/v1/openai',
    segment: '',
    discovers: true,
    errors: ['User is not authenticated', 'Model none is not available'],
    surfaces: {
      chat: ['deepseek-ai/DeepSeek-R1'],
      embeddings: ['BAAI/bge-large-en-v1.5'],
      images: ['black-forest-labs/FLUX-1-schnell'],
      rerank: ['Qwen/Qwen3-Reranker-4B', (address, model) => `${address.replace(/\/openai$/, '')}/inference/${model}`],
      'audio.transcriptions': ['openai/whisper-large-v3'],
      'audio.translations': ['openai/whisper-large-v3'],
      'audio.speech': ['hexgrad/Kokoro-82M'],
    },
  },
  deepseek: {
    root: 'https://api.deepseek.com/v1',
    surfaces: { chat: ['deepseek-chat'] },
    discovers: true,
    errors: ['Authentication Fails (no such user)', 'Model Not Exist'],
  },
  fireworks: {
    root: 'https://api.fireworks.ai/inference/v1',
    discovers: true,
    errors: ['The API key you provided is invalid.', 'Model not found, inaccessible, and/or not deployed'],
    surfaces: {
      chat: ['accounts/fireworks/models/llama-v3p1-8b-instruct'],
      embeddings: ['nomic-ai/nomic-embed-text-v1.5'],
      'audio.transcriptions': ['whisper-v3', fireworksAudio('transcriptions')],
      'audio.translations': ['whisper-v3-turbo', fireworksAudio('translations')],
    },
  },
  groq: {
    root: 'https://api.groq.com/openai/v1',
    discovers: true,
    errors: ['Invalid API Key', 'The model `none` does not exist or you do not have access to it.'],
    surfaces: {
      chat: ['llama-3.1-8b-instant'],
      'audio.transcriptions': ['whisper-large-v3'],
      'audio.translations': ['whisper-large-v3'],
      'audio.speech': ['playai-tts'],
    },
  },
  'hugging-face': {
    root: 'https://router.huggingface.co/v1',
    discovers: true,
    errors: ['Invalid username or password.', 'Model none does not exist'],
    surfaces: {
      chat: ['meta-llama/Meta-Llama-3.1-8B-Instruct'],
      embeddings: ['intfloat/e5-large', taskOf('/pipeline/feature-extraction')],
      images: ['stabilityai/sdxl', taskOf('')],
    },
    more: { address: 'HUGGING_FACE_ENDPOINT', isHostRoot: true },
  },
  mistral: {
    root: 'https://api.mistral.ai/v1',
    discovers: true,
    errors: ['Unauthorized: check the key', 'Model none was not found'],
    more: { finish: 'length' },
    surfaces: {
      chat: ['mistral-small-latest'],
      embeddings: ['mistral-embed'],
      moderations: ['mistral-moderation-latest'],
      'audio.transcriptions': ['voxtral-mini-latest'],
      'audio.speech': ['voxtral-mini-tts'],
    },
  },
  moonshot: {
    root: 'https://api.moonshot.ai/v1',
    surfaces: { chat: ['kimi-k2-turbo-preview'] },
    discovers: true,
    errors: ['Invalid Authentication', 'Not found the model none or Permission denied'],
  },
  novita: {
    root: 'https://api.novita.ai/openai/v1',
    surfaces: { chat: ['deepseek/deepseek-v3.2'], embeddings: ['baai/bge-m3'] },
    discovers: true,
    errors: ['failed to authenticate API key', 'model not found: none'],
  },
  'nvidia-nim': {
    root: 'https://integrate.api.nvidia.com/v1',
    discovers: true,
    errors: ['Authentication failed', 'Function none: Not found for account'],
    surfaces: {
      chat: ['meta/llama-3.1-8b-instruct'],
      embeddings: ['nvidia/nv-embedqa-e5-v5'],
      rerank: ['nvidia/llama-3.2-nv-rerankqa-1b-v2', '/ranking'],
    },
  },
  ollama: {
    root: 'http://localhost:11434',
    segment: '',
    errors: ['unauthorized access to the server', 'model "none" not found, try pulling it first'],
    surfaces: {
      chat: ['llama3.2', (address) => `${address}/v1/chat/completions`],
      embeddings: ['nomic-embed-text', (address) => `${address}/api/embed`],
    },
    more: {
      required: ['OLLAMA_HOST'],
      address: 'OLLAMA_HOST',
      credential: undefined,
      isHostRoot: true,
      addsVersion: true,
      defaultRoot: undefined,
      optional: ['GW_OLLAMA_MODELS', 'OLLAMA_MODELS'],
      discovery: (address) => `${address}/api/tags`,
    },
  },
  'ollama-cloud': {
    root: 'https://ollama.com/v1',
    discovers: true,
    errors: ['unauthorized access to the cloud', 'model "none" not found'],
    surfaces: {
      chat: ['gpt-oss:120b'],
      embeddings: ['nomic-embed-text', (address) => `${address.replace(/\/v1$/, '')}/api/embed`],
    },
    more: { required: ['OLLAMA_API_KEY'], credential: 'OLLAMA_API_KEY', optional: ['OLLAMA_CLOUD_MODELS'] },
  },
  openai: {
    root: 'https://api.openai.com/v1',
    discovers: true,
    errors: ['Incorrect API key provided.', 'The model `none` does not exist or you do not have access to it.'],
    surfaces: {
      chat: ['gpt-4o-mini'],
      embeddings: ['text-embedding-3-small'],
      images: ['gpt-image-1'],
      'images.edits': ['gpt-image-2'],
      moderations: ['omni-moderation-latest'],
      'audio.transcriptions': ['whisper-1'],
      'audio.translations': ['whisper-1'],
      'audio.speech': ['tts-1'],
    },
  },
  openrouter: {
    root: 'https://openrouter.ai/api/v1',
    surfaces: { chat: ['openrouter/auto'], embeddings: ['openai/text-embedding-3-small'] },
    discovers: true,
    errors: ['No auth credentials found', 'No endpoints found for none.'],
  },
  perplexity: {
    root: 'https://api.perplexity.ai',
    segment: '',
    surfaces: { chat: ['sonar'] },
    errors: ['Invalid API key provided.', 'Model none is unknown.'],
  },
  qwen: {
    root: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    surfaces: { chat: ['qwen-turbo'], embeddings: ['text-embedding-v4'] },
    discovers: true,
    errors: ['Incorrect API key provided.', 'The model none does not exist or you do not have access to it.'],
  },
  sambanova: {
    root: 'https://api.sambanova.ai/v1',
    discovers: true,
    errors: ['Invalid API key given.', 'Model not found: none'],
    surfaces: {
      chat: ['Meta-Llama-3.1-8B-Instruct'],
      embeddings: ['E5-Mistral-7B-Instruct'],
      'audio.transcriptions': ['Whisper-Large-v3'],
      'audio.translations': ['Whisper-Large-v3'],
    },
  },
  together: {
    root: 'https://api.together.ai/v1',
    discovers: true,
    errors: ['Invalid API key provided.', 'Unable to access model none. Please visit the models page.'],
    surfaces: {
      chat: ['meta-llama/Meta-Llama-3.1-8B-Instruct-Turbo'],
      embeddings: ['intfloat/multilingual-e5-large-instruct'],
      images: ['black-forest-labs/FLUX.1-schnell'],
      rerank: ['Salesforce/Llama-Rank-V1'],
      'audio.transcriptions': ['openai/whisper-large-v3'],
      'audio.translations': ['openai/whisper-large-v3'],
      'audio.speech': ['cartesia/sonic'],
    },
  },
  xai: {
    root: 'https://api.x.ai/v1',
    surfaces: { chat: ['grok-2-latest'], images: ['grok-2-image'] },
    discovers: true,
    errors: ['Incorrect API key provided.', 'The model none does not exist or your team does not have access to it.'],
  },
};

/** What test/providers/places.test.ts finds missing is left out, so that one fault is one failure. */
export const FACTS: readonly Facts[] = Object.entries(ROWS)
  .filter(([name]) => isHeld(name) && hasGolden(name))
  .map(([name, row]) => factsOf(name, row));
