import { wholeSegment } from 'gw/common-wire';

/**
 * How a model is asked. `claude`, `nova`, `titan` and `llama` have a wire of their own; `converse` is every other model
 * that chats; `none` does not chat. See docs/providers.md#bedrock-models.
 */
export type Family = 'claude' | 'nova' | 'titan' | 'llama' | 'converse' | 'none';

/** Cross-region profiles stand in front of an id. Source: AWS, "Supported Regions and models for inference profiles", 2026-11-21. */
const REGION = /^(us-gov|us|eu|apac|jp|au|ca|global)\./;

const FAMILIES: readonly (readonly [RegExp, Family])[] = [
  [
    /^amazon\.(titan-(embed|image)|nova-(canvas|reel|sonic|2-sonic|2-multimodal)|rerank)|^cohere\.(embed|rerank)|^(stability|twelvelabs|luma)\./,
    'none',
  ],
  [/^anthropic\./, 'claude'],
  [/^amazon\.nova-(micro|lite|pro|premier|2-lite|2-pro)-/, 'nova'],
  [/^amazon\.titan/, 'titan'],
  [/^meta\.llama/, 'llama'],
];

/** The part of an id that says what the model is; the id itself is sent unchanged. */
export function routingId(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1).replace(REGION, '');
}

export function familyOf(model: string): Family {
  const id = routingId(model);
  return FAMILIES.find(([pattern]) => pattern.test(id))?.[1] ?? 'converse';
}

/** What a model takes, as far as requests depend on it. */
export interface Traits {
  readonly images: boolean;
  readonly documents: boolean;
  readonly audio: boolean;
  /** Takes cache points in `system` and `messages`. */
  readonly caches: boolean;
  /** Takes cache points between tools too. */
  readonly cachesTools: boolean;
  /** Whether it can be made to call a certain tool, or some tool. */
  readonly forcing: 'tool' | 'any' | 'none';
  /** Takes `outputConfig` with a JSON schema. */
  readonly hasTextFormat: boolean;
  /** Where an effort of reasoning goes. */
  readonly reasoning: 'reasoningConfig' | 'reasoning_effort' | 'reasoning' | 'none';
  readonly hasTopK: boolean;
  /** Takes `temperature` and `topP`. */
  readonly samples: boolean;
  /** Takes `stopSequences`. */
  readonly stops: boolean;
  /** Takes calls by ids of nine letters and digits only. */
  readonly nineCharacterIds: boolean;
}

/** A model whose id does not name it, such as an inference profile's, is treated as if it could do everything; the service refuses what it cannot do. */
const ANYTHING: Traits = {
  images: true,
  documents: true,
  audio: true,
  caches: true,
  cachesTools: true,
  forcing: 'tool',
  hasTextFormat: false,
  reasoning: 'none',
  hasTopK: false,
  samples: true,
  stops: true,
  nineCharacterIds: false,
};
const TEXT_ONLY: Traits = {
  ...ANYTHING,
  images: false,
  documents: false,
  audio: false,
  caches: false,
  cachesTools: false,
  forcing: 'none',
};

/** Vendors whose models take a JSON schema for their text, and their models that do not. */
const TEXT_FORMAT = /^(qwen|deepseek|mistral|google|nvidia|minimax|moonshot|moonshotai|openai|zai)\./;
const NO_TEXT_FORMAT = /^(deepseek\.r1|mistral\.(mistral-7b|mixtral|mistral-(large|small)-24|pixtral))/;

/**
 * Models that refuse a request with these fields, by their vendor: "This model doesn't support the temperature field". Sources,
 * each tried at the service: GitHub vercel/ai, amazon-bedrock fixtures of 2026-09; anomalyco/opencode pull request 48843;
 * NousResearch/hermes-agent, "agent/bedrock_adapter"; maximhq/bifrost, "GLMSkipsStopSequences"; 2026-11-23.
 */
const NO_SAMPLING = /^(openai\.(?!gpt-oss)|xai\.grok|moonshot(ai)?\.kimi-k3)/;
const NO_STOP = /^(openai|zai|qwen)\./;

/**
 * Sources: AWS, "Supported models and model features", "Prompt caching", "Get validated JSON results from models",
 * "ToolChoice"; Amazon Nova, "Request and response schema", "Extended thinking"; all 2026-11-21.
 */
export function traitsOf(model: string): Traits {
  const id = routingId(model);
  switch (familyOf(model)) {
    case 'nova': {
      const reads = !id.startsWith('amazon.nova-micro');
      const reasoning = id.startsWith('amazon.nova-2-') ? 'reasoningConfig' : 'none';
      return { ...TEXT_ONLY, images: reads, documents: reads, caches: true, forcing: 'tool', reasoning, hasTopK: true };
    }
    case 'llama':
      return { ...TEXT_ONLY, images: /llama(3-2-(11|90)b|4)/.test(id), documents: true };
    case 'converse':
      return id.includes('.') ? vendorTraits(id) : ANYTHING;
    default:
      return TEXT_ONLY;
  }
}

function vendorTraits(id: string): Traits {
  return {
    ...ANYTHING,
    caches: false,
    cachesTools: false,
    forcing: forcingOf(id),
    hasTextFormat: TEXT_FORMAT.test(id) && !NO_TEXT_FORMAT.test(id),
    reasoning: reasoningIn(id),
    samples: !NO_SAMPLING.test(id),
    stops: !NO_STOP.test(id),
    nineCharacterIds: id.startsWith('mistral.'),
  };
}

/** Source: GitHub vercel/ai, amazon-bedrock fixtures "openai-cris-reasoning", 2026-09. */
function reasoningIn(id: string): Traits['reasoning'] {
  if (!id.startsWith('openai.')) return 'none';
  return id.startsWith('openai.gpt-oss') ? 'reasoning_effort' : 'reasoning';
}

function forcingOf(id: string): Traits['forcing'] {
  if (id.startsWith('amazon.nova-')) return 'tool';
  return id.startsWith('mistral.') ? 'any' : 'none';
}

export type Operation = 'invoke' | 'invoke-with-response-stream' | 'converse' | 'converse-stream';

/** The address of an operation. Ids with slashes, as ARNs have them, stay one segment. Throws a 400 for what could leave it. */
export function modelPath(model: string, operation: Operation): string {
  return `/model/${wholeSegment(model)}/${operation}`;
}
