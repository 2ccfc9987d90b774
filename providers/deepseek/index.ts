import { bearer, type CallInfo, defineProvider } from 'gw/contract';
import { type ChatBody, commonTranslators, isFields, listedModels, type Notes } from 'gw/common-wire';

/** The vendor accepts both penalties, and they have no effect. See docs/providers.md#fields-of-chat. */
const params = { presence_penalty: 'unsupported', frequency_penalty: 'unsupported' } as const;

/**
 * The vendor answers 400 to a schema. It takes JSON without one, if the word "JSON" stands in the prompt: so the schema goes into the prompt.
 * Source: DeepSeek API reference, "Create chat completion" and "JSON output", 2026-11-22.
 */
function schemaInWords(body: ChatBody, notes: Notes): ChatBody {
  const format = body['response_format'];
  if (!isFields(format) || format['type'] !== 'json_schema') return body;
  notes.bounded.push('response_format');
  const schema = isFields(format['json_schema']) ? format['json_schema']['schema'] : undefined;
  const demand = isFields(schema) ? ` that conforms to this JSON schema: ${JSON.stringify(schema)}` : '';
  const instruction = { role: 'system', content: `Answer with one JSON object${demand}` };
  return { ...body, response_format: { type: 'json_object' }, messages: [instruction, ...body.messages] };
}

/** Thinking is switched off by a field of its own. Source: DeepSeek API docs, "Thinking mode", 2026-11-22. */
function adjust(body: ChatBody, notes: Notes, { facts }: CallInfo): ChatBody {
  const { reasoning_effort: effort, ...rest } = body;
  const asked = effort === 'none' ? { ...rest, thinking: { type: 'disabled' } } : body;
  return facts?.schema === 'json_schema' ? asked : schemaInWords(asked, notes);
}

/**
 * Common wire; the caller's `user` is called `user_id`. Cache hits come as `prompt_cache_hit_tokens`, which the host
 * reads. See docs/providers.md#what-differs.
 */
export default defineProvider({
  name: 'deepseek',
  wire: 'common',
  connection: {
    env: ['DEEPSEEK_API_KEY'],
    baseUrl: 'https://api.deepseek.com/v1',
    authorize: bearer('DEEPSEEK_API_KEY'),
  },
  params,
  // See docs/reference/ingress.md#what-is-lost and docs/reference/ingress.md#late-system-messages.
  chatTraits: { history: { marks: 'unasked', late_system: true } },
  // Source: docs.litellm.ai, "Providers", 2026-11-05.
  elsewhere: { litellm: { models: ['deepseek'] } },
  translators: commonTranslators(['chat'], params, {
    chat: { renames: { user: 'user_id' }, drops: ['web_search_options'], adjust },
  }),
  passthrough: true,
  responses: true,
  discovery: listedModels,
});
