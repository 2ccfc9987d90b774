import {
  anyObject,
  anything,
  type Body,
  closed,
  either,
  filled,
  flag,
  inOrder,
  listOf,
  matching,
  oneOf,
  orNull,
  tagged,
  text,
  texts,
  type Validator,
  validator,
  whole,
  within,
} from './schema.ts';

/**
 * Mistral's chat: the schema is closed, anything else is a 422 ("Extra inputs are not permitted"). Sources:
 * @mistralai/mistralai 2.7.0, `ChatCompletionRequest` and what it holds; Mistral API reference, "Chat"; of what its types
 * do not say: mistralai/mistral-inference issue 135, goose issue 5998 (2025-12-05), hermes-agent issue 20154 (2026-05-05) for the
 * order of roles, zed issue 37021 likewise, the service's own "Tool call id … must be a-z, A-Z, 0-9, with a length of 9"; 2026-11-22.
 */
const ID = matching('^[a-zA-Z0-9]{9}$');
const url = either(filled, closed({ url: filled }, { detail: orNull(oneOf('low', 'auto', 'high')) }));
const thought = tagged('type', { text: [{ text }], reference: [{ reference_ids: anything }] });
const chunk = tagged('type', {
  text: [{ text }],
  image_url: [{ image_url: url }],
  document_url: [{ document_url: filled }, { document_name: orNull(text) }],
  reference: [{ reference_ids: anything }],
  file: [{ file_id: filled }],
  thinking: [{ thinking: listOf(thought) }, { closed: flag, signature: orNull(text) }],
  input_audio: [{ input_audio: anything }],
});
const content = either(text, listOf(chunk));
const call = closed(
  { id: ID, function: closed({ name: filled, arguments: either(text, anyObject) }) },
  { type: { const: 'function' }, index: whole(0) },
);
const message = tagged('role', {
  system: [
    { content: either(text, listOf(tagged('type', { text: [{ text }], thinking: [{ thinking: listOf(thought) }] }))) },
  ],
  user: [{ content: orNull(content) }],
  assistant: [{}, { content: orNull(content), tool_calls: orNull(listOf(call)), prefix: flag }],
  tool: [{ content: orNull(content) }, { tool_call_id: orNull(ID), name: orNull(text) }],
});

/** Functions, and tools that the vendor runs. */
const tool = tagged('type', {
  function: [
    {
      function: closed(
        { name: matching('^[a-zA-Z0-9_-]{1,64}$'), parameters: anyObject },
        { description: text, strict: flag },
      ),
    },
  ],
  web_search: [{}, { tool_configuration: anything }],
  web_search_premium: [{}, { tool_configuration: anything }],
  code_interpreter: [{}, { tool_configuration: anything }],
  image_generation: [{}, { tool_configuration: anything }],
  document_library: [{ library_ids: texts }, { tool_configuration: anything }],
});
const format = closed(
  { type: oneOf('text', 'json_object', 'json_schema') },
  { json_schema: orNull(closed({ name: filled, schema: anyObject }, { description: orNull(text), strict: flag })) },
);

const request = closed(
  { model: filled, messages: listOf(message, { minItems: 1 }) },
  {
    temperature: orNull(within(0, 1.5)),
    top_p: orNull(within(0, 1)),
    max_tokens: orNull(whole(0)),
    stream: flag,
    stop: either(text, texts, { type: 'null' }),
    random_seed: orNull(whole(0)),
    metadata: orNull(anyObject),
    response_format: format,
    tools: orNull(listOf(tool)),
    tool_choice: either(
      oneOf('auto', 'none', 'any', 'required'),
      closed({ function: closed({ name: filled }) }, { type: { const: 'function' } }),
    ),
    presence_penalty: orNull(within(-2, 2)),
    frequency_penalty: orNull(within(-2, 2)),
    n: orNull(whole(1)),
    prediction: anything,
    parallel_tool_calls: flag,
    reasoning_effort: orNull(oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh')),
    prompt_mode: anything,
    guardrails: anything,
    prompt_cache_key: orNull(text),
    service_tier: orNull(text),
    safe_prompt: flag,
  },
);

export const mistralRules: Validator = inOrder(validator(request), order, calls, greedy);

/** Which roles may follow which. */
const AFTER: Readonly<Record<string, readonly string[]>> = {
  system: ['system', 'user', 'assistant'],
  user: ['system', 'user', 'assistant'],
  assistant: ['assistant', 'user', 'tool', 'system'],
  tool: ['assistant', 'tool'],
};

function order({ messages }: Body): string[] {
  const last = messages.at(-1);
  const wrong = (messages as readonly Body[]).flatMap(({ role }, at) => {
    const before: string | undefined = messages[at - 1]?.role;
    return before === undefined || AFTER[before]?.includes(role)
      ? []
      : [`Unexpected role '${role}' after role '${before}'`];
  });
  const isOpen = ['user', 'tool'].includes(last.role) || (last.role === 'assistant' && last.prefix === true);
  return [
    ...wrong,
    ...(isOpen
      ? []
      : [`Expected last role User or Tool (or Assistant with prefix True) for serving but got ${last.role}`]),
  ];
}

function calls({ messages }: Body): string[] {
  return (messages as readonly Body[]).flatMap(({ role, content: said, tool_calls: made, prefix }, at) => {
    if (role !== 'assistant') return [];
    const results: string[] = [];
    for (let next = at + 1; messages[next]?.role === 'tool'; next += 1) results.push(messages[next].tool_call_id);
    const asked = ((made ?? []) as readonly Body[]).map(({ id }) => id as string);
    const isSilent = asked.length === 0 && (said === undefined || said === null || said === '' || said.length === 0);
    return [
      ...(isSilent && prefix !== true
        ? ['Assistant message must have either content or tool_calls, but not none.']
        : []),
      ...(asked.length !== results.length ? ['Not the same number of function calls and responses'] : []),
      ...results.filter((id) => !asked.includes(id)).map((id) => `Unexpected tool call id ${id} in tool results`),
    ];
  });
}

function greedy({ temperature, top_p: topP, n }: Body): string[] {
  if (temperature !== 0) return [];
  return [
    ...(typeof topP === 'number' && topP !== 1 ? ['top_p must be 1 when using greedy sampling.'] : []),
    ...(typeof n === 'number' && n !== 1 ? ['n must be 1 when using greedy sampling.'] : []),
  ];
}
