/** Where the rows of one catalog provider come from. */
export interface Source {
  /** Catalog provider: the first part of its keys. */
  readonly provider: string;
  /** Provider ids of the price package: its models, by the ids that name one model exactly. */
  readonly prices?: string;
  /** Provider ids of the model package. */
  readonly models?: readonly string[];
  /** Ids that exist upstream and that the price package prices by a pattern. */
  readonly also?: readonly string[];
  /** Which of these ids the upstream API takes; the packages also hold ids of other APIs. */
  readonly keep: RegExp;
  readonly drop?: RegExp;
}

const NOT_SERVED = /realtime|-live|native-audio|-voice|sonic|ocr|omni-flash|:(free|extended|thinking)$/;
const OPENAI_ON_AZURE = /^(gpt-|o\d|codex-mini|text-embedding-)/;

/** Sorted by provider. Vertex takes ids of Google's own models only; of Azure the first row is for both of its providers. */
export const SOURCES: readonly Source[] = [
  {
    provider: 'anthropic',
    prices: 'anthropic',
    models: ['anthropic'],
    keep: /^claude-/,
    also: ['claude-haiku-4-5-20251001', 'claude-opus-4-5-20251101', 'claude-sonnet-4-5-20250929'],
    drop: /^claude-(v1|2|3-(5-sonnet|7-sonnet-latest|haiku|sonnet)$|(opus|sonnet)-4$)/,
  },
  {
    provider: 'azure',
    prices: 'azure',
    models: ['azure'],
    also: azureIds(),
    keep: OPENAI_ON_AZURE,
    drop: /turbo-(instruct|vision|0[36])|32k|latest|embedding-ada$|-v2$/,
  },
  { provider: 'azure_foundry', prices: 'azure', keep: /^(phi|mai)-/, drop: /:free$/ },
  {
    provider: 'bedrock',
    prices: 'aws',
    models: ['amazon-bedrock'],
    keep: /^((us|eu|apac|au|jp|in|global)\.)?[a-z0-9]+\.[a-z]/,
    drop: /sonic|claude-(instant|v2)|titan-text/,
  },
  { provider: 'cerebras', prices: 'cerebras', models: ['cerebras'], keep: /./ },
  { provider: 'cloudflare', prices: 'cloudflare', keep: /^@cf\//, drop: /distilbert|m2m100|indictrans/ },
  { provider: 'cohere', prices: 'cohere', keep: /./, drop: /^command(-light.*)?$/ },
  { provider: 'deepinfra', models: ['deepinfra'], keep: /\// },
  { provider: 'deepseek', prices: 'deepseek', models: ['deepseek'], keep: /^deepseek-(chat|reasoner|v4-[a-z]+)$/ },
  { provider: 'fireworks', prices: 'fireworks', models: ['fireworks-ai'], keep: /^accounts\/fireworks\// },
  {
    provider: 'gemini',
    prices: 'google',
    models: ['google'],
    keep: /^(gemini-|gemma-\d)/,
    drop: /maas|^gemma-3n?$|^gemma-2|^gemini-(pro|1\.|flash-1)|preview-0|-latest$|flash-preview$|(flash|pro)-tts$|text-preview/,
  },
  {
    provider: 'groq',
    prices: 'groq',
    models: ['groq'],
    keep: /./,
    drop: /llama2|llama3-|mixtral|^gemma|preview|specdec|qwq|saba|405b|3\.1-70b|distill|safeguard/,
  },
  {
    provider: 'mistral',
    prices: 'mistral',
    models: ['mistral'],
    keep: /-(latest|\d{4})$|^mistral-(embed$|medium-3|ocr)/,
  },
  { provider: 'moonshot', prices: 'moonshotai', models: ['moonshotai'], keep: /./ },
  { provider: 'novita', prices: 'novita', keep: /\// },
  {
    provider: 'openai',
    prices: 'openai',
    models: ['openai'],
    keep: /^(gpt-(\d|audio|image|chat-latest|transcribe)|o\d|codex-mini-latest|chatgpt-|text-embedding-(3|ada-002$)|whisper-1)/,
    drop: /^gpt-(35|\d-\d(-|$)|5\.1-mini$|5\.3$|4-(0|32k|turbo-\w*-?preview|vision|1106-v)|4\.5)|turbo-(0[36]|16k|instruct)|5(\.4)?-image|3\.5-0301|-chat$|-high$|\.ft-|chatgpt-4o|codex-mini-l|^o1-(mini|preview)/,
  },
  { provider: 'openrouter', prices: 'openrouter', models: ['openrouter'], keep: /\// },
  { provider: 'perplexity', prices: 'perplexity', models: ['perplexity'], keep: /^sonar/, drop: /search/ },
  { provider: 'qwen', models: ['alibaba'], keep: /./ },
  {
    provider: 'together',
    prices: 'together',
    models: ['togetherai'],
    keep: /Turbo$|Llama-(3\.3|4)-|^(deepseek-ai\/DeepSeek|Qwen\/Qwen3|moonshotai|openai)/,
  },
  {
    provider: 'vertex_ai',
    prices: 'google',
    models: ['google-vertex'],
    keep: /^gemini-/,
    drop: /^gemini-(pro|1\.|flash-1)|preview-0|-latest$|flash-preview$|(flash|pro)-tts$|text-preview/,
  },
  { provider: 'xai', prices: 'x-ai', models: ['xai'], keep: /^grok-(\d|build|code|latest)/ },
];

/** Hugging Face routes to these; a model id with `:name` behind it asks for one of them, at its own price. */
export const HUGGING_FACE = [
  'cerebras',
  'fireworks-ai',
  'groq',
  'hyperbolic',
  'nebius',
  'novita',
  'nscale',
  'ovhcloud',
  'publicai',
  'sambanova',
  'together',
] as const;

export const isServed = (id: string): boolean => !NOT_SERVED.test(id);

/** Azure sells OpenAI's models at OpenAI's prices; the price package says so by falling back to them. */
function azureIds(): readonly string[] {
  return [
    'gpt-5.1',
    'gpt-5.2',
    'gpt-5.4',
    'gpt-5.4-mini',
    'gpt-5.4-nano',
    'gpt-5.5',
    'gpt-image-1',
    'gpt-4o-transcribe',
    'gpt-4o-mini-transcribe',
  ];
}
