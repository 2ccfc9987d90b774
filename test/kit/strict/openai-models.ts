import type { Body, Validator } from './schema.ts';

/** What a model of OpenAI's takes, as its pages and its own 400s say. */
interface Model {
  readonly efforts: readonly string[];
  /** Whether `temperature`, `top_p` and `logprobs` are taken: always, with an effort of `none`, or never. */
  readonly samples: 'always' | 'none' | 'never';
  /** When chats take function tools. */
  readonly tools: 'always' | 'no effort' | 'none' | 'never';
  readonly apis: 'both' | 'chat' | 'responses';
}

const FIVE = ['none', 'low', 'medium', 'high', 'xhigh'];
const OLD: Model = { efforts: [], samples: 'always', tools: 'always', apis: 'both' };
const reasoning = (
  efforts: readonly string[],
  samples: Model['samples'],
  tools: Model['tools'] = 'always',
  apis: Model['apis'] = 'both',
): Model => ({ efforts, samples, tools, apis });

/**
 * The first that fits. Sources: npm @ai-sdk/openai 4.0.118 and openai 7.57.0; GitHub pipecat-ai/pipecat issue 4043,
 * BerriAI/litellm issue 34569, onyx-dot-app/onyx issue 15008, bolna-ai/bolna issue 1019, theopenco/llmgateway issue 3960;
 * litellm 1.110.2, `supported_endpoints`; 2026-11-26.
 */
const MODELS: readonly (readonly [name: RegExp, model: Model])[] = [
  [/^gpt-(audio|4o.*-audio)/, { ...OLD, apis: 'chat' }],
  [/^gpt-4o.*-search|^gpt-5-search-api/, { ...OLD, samples: 'never', apis: 'chat' }],
  [/^gpt-oss/, reasoning(['low', 'medium', 'high'], 'always')],
  [/^(gpt-[34]|chatgpt-4o|gpt-5-chat)/, OLD],
  [/^gpt-5\.[23]-codex/, reasoning(['low', 'medium', 'high', 'xhigh'], 'never', 'always', 'responses')],
  [/^gpt-5.*-codex/, reasoning(['low', 'medium', 'high'], 'never', 'always', 'responses')],
  [/^gpt-5-pro/, reasoning(['high'], 'never', 'always', 'responses')],
  [/^gpt-5\..*-pro/, reasoning(['medium', 'high', 'xhigh'], 'never', 'always', 'responses')],
  [/^(gpt-5\..*-chat|chat-latest|gpt-chat-latest)/, reasoning(['medium'], 'never')],
  [/^o\d-pro|-deep-research/, reasoning(['low', 'medium', 'high'], 'never', 'always', 'responses')],
  [/^o\d/, reasoning(['low', 'medium', 'high'], 'never')],
  [/^gpt-5($|-)/, reasoning(['minimal', 'low', 'medium', 'high'], 'never')],
  [/^gpt-5\.1/, reasoning(['none', 'low', 'medium', 'high'], 'none')],
  [/^gpt-5\.2/, reasoning(FIVE, 'none')],
  [/^gpt-5\.[45]/, reasoning(FIVE, 'none', 'no effort')],
  [/^gpt-5\.6/, reasoning(FIVE, 'none', 'none')],
  [/^(gpt-6-(sol|luna)|gpt-6\.1-terra)/, reasoning([...FIVE, 'max'], 'none', 'none')],
  [/^(gpt-6-astra|gpt-6\.1-sol|gpt-6-rosalind|astra-law)/, reasoning([...FIVE.slice(1), 'max'], 'never', 'never')],
];

/** What a chat, or a request of the Responses API where the path is that, is refused for by its model; unknown ones refuse nothing. */
export function openaiModelRules(model: string, path: string): Validator {
  const [, rules] = MODELS.find(([name]) => name.test(model)) ?? [];
  if (!rules) return () => [];
  return path.endsWith('/responses')
    ? (body) => responsesFaults(body, rules)
    : (body) => chatFaults(body, rules, model);
}

/** Whether a refusal says that the other API of the service should have been asked. */
export const isOfChoice = (problem: string): boolean =>
  /^Function tools with reasoning_effort|^This model is only supported in v1\/responses/.test(problem);

const isSaid = (value: unknown): boolean => value !== undefined && value !== null;

function chatFaults(body: Body, rules: Model, model: string): string[] {
  if (rules.apis === 'responses')
    return ['This model is only supported in v1/responses and not in v1/chat/completions.'];
  const { reasoning_effort: effort } = body;
  return [
    ...effortFaults('reasoning_effort', effort, rules),
    ...samplingFaults(body, effort, rules),
    ...(rules.efforts.length > 0 ? reasoningFaults(body, model) : []),
    ...toolFaults(body, effort, rules),
  ];
}

function effortFaults(name: string, effort: unknown, { efforts }: Model): string[] {
  if (!isSaid(effort)) return [];
  if (efforts.length === 0) return [`Unrecognized request argument supplied: ${name}`];
  return efforts.includes(String(effort))
    ? []
    : [
        `Unsupported value: '${name}' does not support '${String(effort)}' with this model. Supported values are: ${efforts.map((word) => `'${word}'`).join(', ')}.`,
      ];
}

/** The default may be said. */
function samplingFaults(body: Body, effort: unknown, { samples }: Model): string[] {
  if (samples === 'always' || (samples === 'none' && effort === 'none')) return [];
  return [
    ...(isSaid(body['temperature']) && body['temperature'] !== 1
      ? [
          "Unsupported value: 'temperature' does not support it with this model. Only the default (1) value is supported.",
        ]
      : []),
    ...['top_p', 'logprobs', 'top_logprobs']
      .filter((name) => isSaid(body[name]) && body[name] !== false)
      .map((name) => `Unsupported parameter: '${name}' is not supported with this model.`),
  ];
}

/** What the reasoning models of the newest families do not have; `gpt-oss` has it all. */
function reasoningFaults(body: Body, model: string): string[] {
  if (model.startsWith('gpt-oss')) return [];
  const isUsed = (name: string): boolean =>
    isSaid(body[name]) &&
    body[name] !== 0 &&
    JSON.stringify(body[name]) !== '{}' &&
    JSON.stringify(body[name]) !== '[]';
  return [
    ...(isSaid(body['max_tokens'])
      ? ["Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."]
      : []),
    ...['stop', 'logit_bias', 'presence_penalty', 'frequency_penalty']
      .filter(isUsed)
      .map((name) => `Unsupported parameter: '${name}' is not supported with this model.`),
  ];
}

function toolFaults({ tools }: Body, effort: unknown, rules: Model): string[] {
  if (!Array.isArray(tools) || tools.length === 0) return [];
  const isTaken =
    rules.tools === 'always' ||
    (rules.tools === 'no effort' && (!isSaid(effort) || effort === 'none')) ||
    (rules.tools === 'none' && effort === 'none');
  return isTaken
    ? []
    : [
        "Function tools with reasoning_effort are not supported for this model in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
      ];
}

/** Fields of chats that the other API does not have. Source: openai 7.57.0, `ResponseCreateParamsBase`, 2026-11-26. */
const OF_CHATS = [
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'reasoning_effort',
  'response_format',
  'stop',
  'seed',
  'n',
  'logit_bias',
  'presence_penalty',
  'frequency_penalty',
  'logprobs',
  'modalities',
  'prediction',
  'functions',
];

function responsesFaults(body: Body, rules: Model): string[] {
  if (rules.apis === 'chat') return ['The requested model is not supported with the Responses API.'];
  const effort: unknown = body['reasoning']?.effort;
  return [
    ...OF_CHATS.filter((name) => name in body).map((name) => `Unknown parameter: '${name}'.`),
    ...effortFaults('reasoning.effort', effort, rules),
    ...samplingFaults(body, effort, rules),
    ...(Number(body['max_output_tokens'] ?? 16) < 16 ? ["Invalid 'max_output_tokens': Expected a value >= 16."] : []),
    ...itemFaults(body['input']),
  ];
}

/** Items that were not stored have no id to be found by, and thoughts come back sealed. */
function itemFaults(input: unknown): string[] {
  return (Array.isArray(input) ? input : []).flatMap((item: Body, at) => [
    ...(isSaid(item['id'])
      ? [`Item with id '${item['id']}' not found. Items are not persisted when \`store\` is false.`]
      : []),
    ...(item['type'] === 'reasoning' && !isSaid(item['encrypted_content'])
      ? [`input[${at}]: encrypted_content is missing`]
      : []),
    ...(item['type'] === 'function_call' && !isSaid(item['call_id']) ? [`input[${at}]: call_id is missing`] : []),
  ]);
}
