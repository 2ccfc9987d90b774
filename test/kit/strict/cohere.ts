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
  oneOf,
  orNull,
  tagged,
  text,
  type Validator,
  validator,
  whole,
  within,
} from './schema.ts';

/**
 * Cohere's second chat API. Sources: cohere-ai 8.1.0, `V2ChatRequest` with the bounds its comments give, `ChatMessageV2`,
 * `ToolV2`; Cohere API reference, "Chat" v2; the texts of the service's own 400s; 2026-11-22.
 */
const image = tagged('type', {
  text: [{ text }],
  image_url: [{ image_url: closed({ url: filled }, { detail: oneOf('auto', 'low', 'high') }) }],
});
const call = closed({ id: filled, type: { const: 'function' }, function: closed({ name: filled, arguments: text }) });
const document = closed({ data: either(text, anyObject) }, { id: text });
const message = tagged('role', {
  system: [{ content: either(filled, listOf(tagged('type', { text: [{ text }] }), { minItems: 1 })) }],
  user: [{ content: either(filled, listOf(image, { minItems: 1 })) }],
  assistant: [
    {},
    {
      content: either(
        filled,
        listOf(tagged('type', { text: [{ text }], thinking: [{ thinking: text }] }), { minItems: 1 }),
      ),
      tool_plan: text,
      tool_calls: listOf(call, { minItems: 1 }),
      citations: anything,
    },
  ],
  tool: [
    {
      tool_call_id: filled,
      content: either(text, listOf(tagged('type', { text: [{ text }], document: [{ document }] }))),
    },
  ],
});

const tool = closed({
  type: { const: 'function' },
  function: closed({ name: filled, parameters: anyObject }, { description: text, strict: flag }),
});
const request = closed(
  { model: filled, messages: listOf(message, { minItems: 1 }) },
  {
    stream: flag,
    tools: listOf(tool, { minItems: 1 }),
    strict_tools: flag,
    documents: listOf(either(text, document)),
    citation_options: anyObject,
    safety_mode: oneOf('CONTEXTUAL', 'STRICT', 'OFF'),
    response_format: tagged('type', { text: [{}], json_object: [{}, { json_schema: anyObject }] }),
    max_tokens: whole(0),
    stop_sequences: listOf(text, { maxItems: 5 }),
    temperature: within(0, 2),
    seed: whole(0),
    frequency_penalty: within(0, 1),
    presence_penalty: within(0, 1),
    k: whole(0, 500),
    p: within(0.01, 0.99),
    logprobs: flag,
    tool_choice: oneOf('REQUIRED', 'NONE'),
    thinking: closed({ type: oneOf('enabled', 'disabled') }, { token_budget: orNull(whole(1)) }),
    priority: whole(0, 999),
  },
);

export const cohereRules: Validator = inOrder(validator(request), conversation);

function conversation({ messages, tools, tool_choice: choice }: Body): string[] {
  const said = messages as readonly Body[];
  const known = new Set(
    said.flatMap(({ tool_calls: calls = [] }) => (calls as readonly Body[]).map(({ id }) => id as string)),
  );
  return [
    ...said
      .filter(({ role, content, tool_calls: calls }) => role === 'assistant' && content === undefined && !calls)
      .map(() => 'an assistant message must have content or tool_calls'),
    ...said
      .filter(({ role, tool_call_id: id }) => role === 'tool' && !known.has(id))
      .map(({ tool_call_id: id }) => `no tool call with the id ${String(id)} found`),
    ...(choice !== undefined && !tools ? ['tool_choice is only allowed with tools'] : []),
  ];
}
