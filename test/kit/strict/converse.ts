import {
  anyObject,
  anything,
  type Body,
  closed,
  filled,
  flag,
  inOrder,
  isBlank,
  listOf,
  matching,
  type Members,
  oneOf,
  text,
  unionOf,
  type Validator,
  validator,
  whole,
  within,
} from './schema.ts';

/**
 * Converse, and Nova's own wire, which holds the same messages. Sources: @aws-sdk/client-bedrock-runtime 3.1163.0,
 * `ConverseRequest` and what it holds; Amazon Bedrock API reference, "Converse", "ToolUseBlock", "DocumentBlock"; Amazon
 * Nova user guide, "Complete request schema"; the texts of the service's own ValidationExceptions; 2026-11-22.
 */
const NAME = matching('^[a-zA-Z0-9_-]{1,64}$');
const ID = matching('^[a-zA-Z0-9_.:-]{1,64}$');
const cachePoint = closed({ type: { const: 'default' } }, { ttl: text });
const bytes = unionOf({ bytes: filled, s3Location: anything });
const image = closed({ format: oneOf('png', 'jpeg', 'gif', 'webp'), source: bytes });
const document = closed(
  {
    name: matching('^[A-Za-z0-9()\\[\\]-]+( [A-Za-z0-9()\\[\\]-]+)*$'),
    source: unionOf({ bytes: filled, s3Location: anything, text, content: anything }),
  },
  {
    format: oneOf('pdf', 'csv', 'doc', 'docx', 'xls', 'xlsx', 'html', 'txt', 'md'),
    context: text,
    citations: anything,
  },
);
const video = closed({ format: text, source: bytes });
const audio = closed({ format: text, source: bytes });

const block = unionOf({
  text: filled,
  image,
  document,
  video,
  audio,
  cachePoint,
  guardContent: anything,
  searchResult: anything,
  toolUse: closed({ toolUseId: ID, name: NAME, input: anyObject }),
  toolResult: closed(
    { toolUseId: ID, content: listOf(unionOf({ text, json: anything, image, document, video })) },
    { status: oneOf('success', 'error') },
  ),
  reasoningContent: unionOf({ reasoningText: closed({ text }, { signature: text }), redactedContent: filled }),
});

const tool = unionOf({
  toolSpec: closed({ name: NAME, inputSchema: closed({ json: anyObject }) }, { description: filled, strict: flag }),
  cachePoint,
  systemTool: closed({ name: filled }),
});
const toolConfig = closed(
  { tools: listOf(tool, { minItems: 1 }) },
  { toolChoice: unionOf({ auto: closed({}), any: closed({}), tool: closed({ name: NAME }) }) },
);
const inference: Members = {
  maxTokens: whole(1),
  temperature: within(0, 1),
  topP: within(0, 1),
  stopSequences: listOf(filled),
};
const messages = listOf(closed({ role: oneOf('user', 'assistant'), content: listOf(block, { minItems: 1 }) }), {
  minItems: 1,
});
const system = listOf(unionOf({ text: filled, cachePoint, guardContent: anything }));

const converse = closed(
  { messages },
  {
    system,
    toolConfig,
    inferenceConfig: closed({}, inference),
    additionalModelRequestFields: anyObject,
    additionalModelResponseFieldPaths: listOf(text),
    guardrailConfig: anything,
    requestMetadata: { type: 'object', additionalProperties: text },
    performanceConfig: anything,
    promptVariables: anything,
    serviceTier: closed({ type: oneOf('priority', 'default', 'flex', 'reserved') }),
    outputConfig: anyObject,
  },
);
const nova = closed(
  { messages },
  {
    schemaVersion: { const: 'messages-v1' },
    system,
    toolConfig,
    inferenceConfig: closed({}, { ...inference, topK: whole(0) }),
  },
);

export const converseRules: Validator = inOrder(validator(converse), conversation);
export const novaRules: Validator = inOrder(validator(nova), conversation);

const isNothing = (value: unknown): boolean => value !== undefined && isBlank(value);
const has = (message: Body | undefined, kind: string): readonly Body[] =>
  ((message?.['content'] ?? []) as readonly Body[]).flatMap((one) => (one[kind] ? [one[kind] as Body] : []));

function conversation({ messages: turns, system: told = [], toolConfig: config }: Body): string[] {
  const blocks: readonly Body[] = [...told, ...turns.flatMap(({ content }: Body) => content)];
  const usesTools = blocks.some(({ toolUse, toolResult }) => toolUse || toolResult);
  return [
    ...(turns[0].role === 'user' ? [] : ['A conversation must start with a user message.']),
    ...(blocks.some((one) => isNothing(one['text'])) ? ['The text field in the ContentBlock object is blank.'] : []),
    ...(turns.some(({ role }: Body, at: number) => turns[at - 1]?.role === role)
      ? ['A conversation must alternate between user and assistant roles.']
      : []),
    ...(usesTools && !config
      ? ['The toolConfig field must be defined when using toolUse and toolResult content blocks.']
      : []),
    ...turns.flatMap((turn: Body, at: number) => [...pairs(turn, turns[at - 1], turns[at + 1]), ...documents(turn)]),
  ];
}

function pairs(turn: Body, before: Body | undefined, after: Body | undefined): string[] {
  const calls = has(turn, 'toolUse').map(({ toolUseId: id }) => id as string);
  const answers = new Set(has(after, 'toolResult').map(({ toolUseId: id }) => id as string));
  const called = new Set(has(before, 'toolUse').map(({ toolUseId: id }) => id as string));
  return [
    ...(new Set(calls).size < calls.length ? ['toolUse ids must be unique in a turn'] : []),
    ...calls.filter((id) => !answers.has(id)).map((id) => `Expected toolResult blocks for the following Ids: ${id}`),
    ...has(turn, 'toolResult')
      .filter(({ toolUseId: id }) => !called.has(id as string))
      .map(({ toolUseId: id }) => `The toolResult has no toolUse in the previous turn: ${String(id)}`),
  ];
}

/** "A text block is required when a document is in the message"; names must differ. */
function documents(turn: Body): string[] {
  const given = has(turn, 'document');
  if (given.length === 0) return [];
  const names = given.map(({ name }) => name as string);
  return [
    ...(has(turn, 'text').length > 0 ? [] : ['A message with a document must hold a text too.']),
    ...(new Set(names).size < names.length ? ['The names of documents in one message must differ.'] : []),
  ];
}

/** Sources: Amazon Bedrock user guide, "Amazon Titan Text models" and "Meta Llama models", 2026-11-22. */
export const titanRules: Validator = validator(
  closed(
    { inputText: filled },
    {
      textGenerationConfig: closed(
        {},
        { maxTokenCount: whole(0), temperature: within(0, 1), topP: within(0, 1), stopSequences: listOf(text) },
      ),
    },
  ),
);
export const llamaRules: Validator = validator(
  closed(
    { prompt: filled },
    { max_gen_len: whole(1), temperature: within(0, 1), top_p: within(0, 1), images: listOf(text) },
  ),
);
