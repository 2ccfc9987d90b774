import { type ChatTraits, defineProvider, lateFile, type ParamTreatments } from 'gw/contract';
import { BETA_HEADER, CLAUDE_CHATS, isClaude } from '../_common/anthropic/index.ts';
import { elsewhere } from './elsewhere.ts';
import { connection } from './connection.ts';
import { toFault } from './errors.ts';
import { type Family, familyOf, routingId, traitsOf } from './models.ts';
import type * as Wire from './wire.ts';

const late = lateFile<typeof Wire>(import.meta, './wire.ts');

const NOWHERE = {
  n: 'unsupported',
  seed: 'unsupported',
  max_completion_tokens: 'unsupported',
  presence_penalty: 'unsupported',
  frequency_penalty: 'unsupported',
} as const;
const UNKNOWN = {
  logprobs: 'unsupported',
  top_logprobs: 'unsupported',
  user: 'unsupported',
  logit_bias: 'unsupported',
} as const;

/** Treatments as the catalogue shows them: a parameter is unsupported here that some family lacks. See docs/reference/providers.md#unsupported-parameters. */
const params = {
  ...NOWHERE,
  stop: 'unsupported',
  tools: 'translate',
  tool_choice: 'unsupported',
  response_format: 'translate',
  ...UNKNOWN,
  parallel_tool_calls: 'translate',
} as const satisfies ParamTreatments;

/** Treatments by family. Sources: Amazon Bedrock API reference, "Converse"; Amazon Nova, "Tool choice"; 2026-11-22. */
const FAMILY_PARAMS: Readonly<Record<Family, ParamTreatments>> = {
  claude: { ...NOWHERE, response_format: 'translate', ...UNKNOWN, parallel_tool_calls: 'translate' },
  nova: {
    ...NOWHERE,
    tools: 'translate',
    tool_choice: 'translate',
    response_format: 'translate',
    ...UNKNOWN,
    parallel_tool_calls: 'unsupported',
  },
  titan: {
    ...NOWHERE,
    tools: 'unsupported',
    tool_choice: 'unsupported',
    response_format: 'unsupported',
    ...UNKNOWN,
    parallel_tool_calls: 'unsupported',
  },
  llama: {
    ...NOWHERE,
    stop: 'unsupported',
    tools: 'translate',
    tool_choice: 'unsupported',
    response_format: 'translate',
    ...UNKNOWN,
    parallel_tool_calls: 'unsupported',
  },
  converse: {
    ...NOWHERE,
    tools: 'translate',
    tool_choice: 'translate',
    response_format: 'translate',
    ...UNKNOWN,
    parallel_tool_calls: 'unsupported',
  },
  none: {}, // the model is refused before its parameters
};

/** What models other than Claude take of a history. See docs/reference/ingress.md#what-is-lost and docs/reference/ingress.md#thoughts-of-earlier-turns. */
function otherChats(model: string): ChatTraits {
  const family = familyOf(model);
  const { caches, cachesTools } = traitsOf(model);
  return {
    ...CLAUDE_CHATS,
    longToolNames: false,
    ...(family === 'titan' && { errorsInResults: false }), // one text is the whole request
    history: {
      marks: caches ? ['parts', 'messages', ...(cachesTools ? ['tools' as const] : [])] : [],
      thoughts: family === 'titan' || family === 'llama' ? [] : (CLAUDE_CHATS.history?.thoughts ?? []),
    },
  };
}

/** Native wires of several vendors behind one service: Claude, Nova, Titan and Llama by their own, others by Converse. */
export default defineProvider({
  name: 'bedrock',
  wire: 'native',
  connection,
  params,
  paramsFor: (model) => FAMILY_PARAMS[familyOf(model)],
  chatTraitsFor: (model) => (isClaude(model) ? CLAUDE_CHATS : otherChats(model)),
  tierHeader: 'x-amzn-bedrock-service-tier', // Source: Amazon Bedrock API reference, "InvokeModel", 2026-11-27.
  // Source: semantic conventions 1.45 of OpenTelemetry, 2026-11-23.
  names: { telemetry: 'aws.bedrock' },
  elsewhere,
  translators: {
    chat: late('chat', ['toUpstream', 'fromUpstream', 'openStream']),
    embeddings: late('embeddings', ['toUpstream', 'fromUpstream']),
    images: late('images', ['toUpstream', 'fromUpstream']),
    rerank: late('rerank', ['toUpstream', 'fromUpstream']),
  },
  framing: 'eventstream',
  imageFormats: ['b64_json'],
  ...late(['converse']),
  sameWire: { messages: late('sameWire', ['toUpstream']) },
  clientHeaders: [BETA_HEADER],
  describedAs: (model) => `bedrock/${routingId(model)}`,
  toFault,
});
