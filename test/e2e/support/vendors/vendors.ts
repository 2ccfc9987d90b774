import type { TranslatedSurface } from '../../../../host/contract/index.ts';
import { mistralSpeech, speech, transcription, translation } from './audio.ts';
import { chat, type ChatDialect } from './chat.ts';
import { type Dialect, type Fields, refuse } from './dialect.ts';
import { embeddings, featureExtraction, ollamaEmbed } from './embeddings.ts';
import { images, openaiEdits, openaiImages, textToImage } from './images.ts';
import { deepinfraRerank, mistralModerations, nvidiaRerank, openaiModerations, togetherRerank } from './judgements.ts';

export interface Served {
  /** By the vendor's own name; clients of the tests ask for `<vendor>/<surface>`. */
  readonly model: string;
  readonly dialect: Dialect;
  /** Instead of the usual path below the root. `{model}` stands for the model, a leading `~` for the vendor's origin. */
  readonly path?: string;
}

export type Surfaces = Readonly<Partial<Record<TranslatedSurface, Served>>> & { readonly chat: Served };

/** One provider's vendor, as its own documentation describes it. */
export interface Vendor {
  /** Path of its API root. */
  readonly root: string;
  readonly surfaces: Surfaces;
  /** Its variables, where they are not the usual key and base URL. */
  readonly variables?: (address: string, key: string) => Readonly<Record<string, string>>;
  /** Takes no credential. */
  readonly isOpen?: boolean;
  /** Where it lists its models; absent where it lists none. */
  readonly models?: 'wrapped' | 'bare' | 'tags';
  /** Its own error body. */
  readonly error?: (message: string) => object;
}

const OPENAI_CHAT = [
  'audio',
  'frequency_penalty',
  'logit_bias',
  'logprobs',
  'max_completion_tokens',
  'messages',
  'metadata',
  'modalities',
  'model',
  'n',
  'parallel_tool_calls',
  'prediction',
  'presence_penalty',
  'prompt_cache_key',
  'reasoning_effort',
  'response_format',
  'safety_identifier',
  'seed',
  'service_tier',
  'stop',
  'store',
  'stream',
  'stream_options',
  'temperature',
  'tool_choice',
  'tools',
  'top_logprobs',
  'top_p',
  'user',
  'verbosity',
  'web_search_options',
];

/** Source: Groq documentation, "OpenAI compatibility"; vellum-ai/vellum-assistant pull request 42635, 2026-09-13. */
const GROQ_CHAT: ChatDialect = {
  refused: ['logprobs', 'top_logprobs', 'logit_bias', 'store', 'reasoning'],
  refusedInMessages: { name: [], reasoning_content: [], reasoning_details: [] },
  check: ({ n = 1 }) => {
    if (n !== 1) refuse("'n' must be 1");
  },
  thoughts: 'reasoning',
};

/** Source: proxysoul/Empryo pull request 209, 2026-09-19, measured against the service. */
const CEREBRAS_CHAT: ChatDialect = {
  refused: ['reasoning', 'enable_thinking'],
  refusedInMessages: { reasoning_content: [], reasoning_details: [] },
  thoughts: 'reasoning',
};

/** Source: Mistral API reference, "Chat"; microsoft/autogen issue 6147, 2025-03-30, for names of user messages. */
const MISTRAL_CHAT: ChatDialect = {
  only: [
    'model',
    'messages',
    'temperature',
    'top_p',
    'max_tokens',
    'stream',
    'stop',
    'random_seed',
    'response_format',
    'tools',
    'tool_choice',
    'presence_penalty',
    'frequency_penalty',
    'n',
    'prediction',
    'parallel_tool_calls',
    'prompt_mode',
    'safe_prompt',
    'reasoning_effort',
  ],
  refusedInMessages: { name: ['system', 'user', 'assistant'], reasoning_content: [], reasoning_details: [] },
  usage: 'unasked',
};

/** Source: Together API reference, "Create chat completion". */
const countsLogprobs = ({ logprobs = 0 }: Fields): void => {
  if (!Number.isInteger(logprobs)) refuse("'logprobs' must be an integer");
};

const BOTH_FORMATS = ['float', 'base64'];
const GROQ_SPOKEN = ['flac', 'mp3', 'mulaw', 'ogg', 'wav'];
const SPOKEN = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'];
const SPEECH = ['model', 'input', 'voice', 'response_format'];

export const VENDORS: Readonly<Record<string, Vendor>> = {
  ai21: {
    root: '/studio/v1',
    surfaces: { chat: { model: 'jamba-mini-1.7', dialect: chat() } },
    error: (detail) => ({ detail }),
  },
  cerebras: {
    root: '/v1',
    models: 'wrapped',
    surfaces: { chat: { model: 'llama-3.3-70b', dialect: chat(CEREBRAS_CHAT) } },
    error: (message) => ({ message, type: 'invalid_request_error', code: 'wrong_api_format' }),
  },
  cloudflare: {
    root: '/client/v4/accounts/e2e/ai/v1',
    variables: (address, key) => ({
      CLOUDFLARE_API_KEY: key,
      CLOUDFLARE_ACCOUNT_ID: 'unused',
      CLOUDFLARE_BASE_URL: address,
    }),
    surfaces: {
      chat: { model: '@cf/meta/llama-3.1-8b-instruct', dialect: chat() },
      embeddings: { model: '@cf/baai/bge-m3', dialect: embeddings() },
    },
    error: (message) => ({ success: false, errors: [{ code: 5006, message }], messages: [], result: {} }),
  },
  databricks: {
    root: '/serving-endpoints',
    variables: (address, key) => ({
      DATABRICKS_TOKEN: key,
      DATABRICKS_HOST: address.replace('/serving-endpoints', ''),
    }),
    surfaces: {
      chat: { model: 'databricks-claude-sonnet-4-5', dialect: chat() },
      embeddings: { model: 'databricks-gte-large-en', dialect: embeddings() },
    },
    error: (message) => ({ error_code: 'BAD_REQUEST', message }),
  },
  deepinfra: {
    root: '/v1/openai',
    models: 'wrapped',
    error: (error) => ({ detail: { error } }),
    surfaces: {
      chat: { model: 'deepseek-ai/DeepSeek-R1', dialect: chat({ thoughts: 'reasoning_content' }) },
      embeddings: { model: 'BAAI/bge-large-en-v1.5', dialect: embeddings({ formats: BOTH_FORMATS }) },
      images: { model: 'black-forest-labs/FLUX-1-schnell', dialect: images() },
      rerank: { model: 'Qwen/Qwen3-Reranker-4B', dialect: deepinfraRerank, path: '~/v1/inference/{model}' },
      'audio.transcriptions': { model: 'openai/whisper-large-v3', dialect: transcription() },
      'audio.translations': { model: 'openai/whisper-large-v3', dialect: translation },
      'audio.speech': { model: 'hexgrad/Kokoro-82M', dialect: speech({ only: [...SPEECH, 'speed'], formats: SPOKEN }) },
    },
  },
  deepseek: {
    root: '/v1',
    models: 'wrapped',
    surfaces: { chat: { model: 'deepseek-chat', dialect: chat({ thoughts: 'reasoning_content', usage: 'apart' }) } },
  },
  fireworks: {
    root: '/inference/v1',
    models: 'wrapped', // its audio is at fixed addresses of its own
    surfaces: {
      chat: { model: 'accounts/fireworks/models/llama-v3p1-8b-instruct', dialect: chat() },
      embeddings: { model: 'nomic-ai/nomic-embed-text-v1.5', dialect: embeddings() },
    },
  },
  groq: {
    root: '/openai/v1',
    models: 'wrapped',
    surfaces: {
      chat: { model: 'llama-3.1-8b-instant', dialect: chat(GROQ_CHAT) },
      'audio.transcriptions': {
        model: 'whisper-large-v3',
        dialect: transcription({ formats: ['json', 'text', 'verbose_json'] }),
      },
      'audio.translations': { model: 'whisper-large-v3', dialect: translation },
      'audio.speech': {
        model: 'playai-tts',
        dialect: speech({ only: [...SPEECH, 'speed', 'sample_rate'], formats: GROQ_SPOKEN }),
      },
    },
  },
  'hugging-face': {
    root: '/v1',
    models: 'wrapped',
    error: (error) => ({ error }),
    variables: (address, key) => ({ HUGGING_FACE_API_KEY: key, HUGGING_FACE_ENDPOINT: address }),
    surfaces: {
      chat: { model: 'meta-llama/Meta-Llama-3.1-8B-Instruct', dialect: chat() },
      embeddings: {
        model: 'intfloat/e5-large',
        dialect: featureExtraction,
        path: '~/hf-inference/models/{model}/pipeline/feature-extraction',
      },
      images: { model: 'stabilityai/sdxl', dialect: textToImage, path: '~/hf-inference/models/{model}' },
    },
  },
  mistral: {
    root: '/v1',
    models: 'wrapped',
    error: (msg) => ({ detail: [{ type: 'extra_forbidden', loc: ['body'], msg, input: null }] }),
    surfaces: {
      chat: { model: 'mistral-small-latest', dialect: chat(MISTRAL_CHAT) },
      embeddings: {
        model: 'mistral-embed',
        dialect: embeddings({
          only: ['model', 'input', 'encoding_format', 'output_dimension', 'output_dtype', 'metadata'],
          formats: BOTH_FORMATS,
          size: 'output_dimension',
        }),
      },
      moderations: { model: 'mistral-moderation-latest', dialect: mistralModerations },
      'audio.transcriptions': { model: 'voxtral-mini-latest', dialect: transcription() },
      'audio.speech': { model: 'voxtral-mini-tts', dialect: mistralSpeech },
    },
  },
  moonshot: {
    root: '/v1',
    models: 'wrapped',
    surfaces: { chat: { model: 'kimi-k2.5', dialect: chat({ thoughts: 'reasoning_content' }) } },
  },
  novita: {
    root: '/openai/v1',
    models: 'wrapped',
    error: (message) => ({ code: 400, reason: 'INVALID_REQUEST', message }),
    surfaces: {
      chat: { model: 'deepseek/deepseek-v3.2', dialect: chat({ usage: 'apart' }) },
      embeddings: { model: 'baai/bge-m3', dialect: embeddings() },
    },
  },
  'nvidia-nim': {
    root: '/v1',
    models: 'wrapped',
    error: (detail) => ({ detail }),
    surfaces: {
      chat: { model: 'meta/llama-3.1-8b-instruct', dialect: chat({ usage: 'apart' }) },
      embeddings: {
        model: 'nvidia/nv-embedqa-e5-v5',
        dialect: embeddings({ required: ['input_type'], formats: BOTH_FORMATS }),
      },
      rerank: { model: 'nvidia/llama-3.2-nv-rerankqa-1b-v2', dialect: nvidiaRerank, path: '/ranking' },
    },
  },
  ollama: {
    root: '',
    isOpen: true,
    models: 'tags',
    error: (error) => ({ error }),
    variables: (address) => ({ OLLAMA_HOST: address }),
    surfaces: {
      chat: {
        model: 'llama3.2',
        dialect: chat({ thoughts: 'reasoning', usage: 'apart' }),
        path: '/v1/chat/completions',
      },
      embeddings: { model: 'nomic-embed-text', dialect: ollamaEmbed, path: '/api/embed' },
    },
  },
  'ollama-cloud': {
    root: '/v1',
    models: 'wrapped',
    variables: (address, key) => ({ OLLAMA_API_KEY: key, OLLAMA_CLOUD_BASE_URL: address }),
    surfaces: {
      chat: { model: 'gpt-oss:120b', dialect: chat({ thoughts: 'reasoning', usage: 'apart' }) },
      embeddings: { model: 'nomic-embed-text', dialect: ollamaEmbed, path: '~/api/embed' },
    },
  },
  openai: {
    root: '/v1',
    models: 'wrapped',
    surfaces: {
      chat: { model: 'gpt-5.4-mini', dialect: chat({ only: OPENAI_CHAT, usage: 'apart' }) },
      embeddings: {
        model: 'text-embedding-3-small',
        dialect: embeddings({
          only: ['model', 'input', 'encoding_format', 'dimensions', 'user'],
          formats: BOTH_FORMATS,
        }),
      },
      images: { model: 'gpt-image-1', dialect: openaiImages },
      'images.edits': { model: 'gpt-image-1', dialect: openaiEdits },
      moderations: { model: 'omni-moderation-latest', dialect: openaiModerations },
      'audio.transcriptions': { model: 'whisper-1', dialect: transcription() },
      'audio.translations': { model: 'whisper-1', dialect: translation },
      'audio.speech': {
        model: 'tts-1',
        dialect: speech({ only: [...SPEECH, 'speed', 'instructions', 'stream_format'], formats: SPOKEN }),
      },
    },
  },
  openrouter: {
    root: '/api/v1',
    models: 'wrapped',
    surfaces: {
      chat: { model: 'openrouter/auto', dialect: chat({ usage: 'apart', thoughts: 'reasoning' }) },
      embeddings: { model: 'openai/text-embedding-3-small', dialect: embeddings({ formats: BOTH_FORMATS }) },
    },
  },
  perplexity: {
    root: '',
    surfaces: {
      chat: {
        model: 'sonar',
        dialect: chat({ usage: 'unasked', reply: { citations: ['https://tides.example/brest'] } }),
      },
    },
  },
  qwen: {
    root: '/compatible-mode/v1',
    models: 'wrapped',
    error: (message) => ({ code: 'InvalidParameter', message, request_id: 'e2e' }),
    surfaces: {
      chat: { model: 'qwen-turbo', dialect: chat({ usage: 'apart' }) },
      embeddings: { model: 'text-embedding-v4', dialect: embeddings() },
    },
  },
  sambanova: {
    root: '/v1',
    models: 'wrapped',
    surfaces: {
      chat: { model: 'Meta-Llama-3.1-8B-Instruct', dialect: chat() },
      embeddings: { model: 'E5-Mistral-7B-Instruct', dialect: embeddings() },
      'audio.transcriptions': { model: 'Whisper-Large-v3', dialect: transcription() },
      'audio.translations': { model: 'Whisper-Large-v3', dialect: translation },
    },
  },
  together: {
    root: '/v1',
    models: 'bare',
    surfaces: {
      chat: {
        model: 'meta-llama/Meta-Llama-3.1-8B-Instruct-Turbo',
        dialect: chat({ refused: ['top_logprobs'], check: countsLogprobs }),
      },
      embeddings: { model: 'intfloat/multilingual-e5-large-instruct', dialect: embeddings() },
      images: { model: 'black-forest-labs/FLUX.1-schnell', dialect: images() },
      rerank: { model: 'Salesforce/Llama-Rank-V1', dialect: togetherRerank },
      'audio.transcriptions': { model: 'openai/whisper-large-v3', dialect: transcription() },
      'audio.translations': { model: 'openai/whisper-large-v3', dialect: translation },
      'audio.speech': {
        model: 'cartesia/sonic',
        dialect: speech({
          only: [...SPEECH, 'language', 'response_encoding', 'sample_rate', 'stream'],
          formats: ['mp3', 'wav', 'raw', 'mulaw'],
        }),
      },
    },
  },
  xai: {
    root: '/v1',
    models: 'wrapped',
    error: (error) => ({ code: 'Client specified an invalid argument', error }),
    surfaces: {
      chat: { model: 'grok-2-latest', dialect: chat({ usage: 'apart' }) },
      images: { model: 'grok-2-image', dialect: images(['model', 'prompt', 'n', 'response_format', 'user']) },
    },
  },
};
