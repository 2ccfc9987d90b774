import { Ajv2020 } from 'ajv/dist/2020.js';
import {
  anyObject,
  anything,
  type Body,
  closed,
  either,
  filled,
  flag,
  inOrder,
  isBlank,
  listOf,
  matching,
  type Members,
  oneOf,
  open,
  orNull,
  tagged,
  text,
  type Validator,
  validator,
  whole,
  within,
} from './schema.ts';

/**
 * The Messages API. Sources: @anthropic-ai/sdk 1.12.0, `MessageCreateParamsBase`, `ContentBlockParam`, `Tool` (the service
 * answers "Extra inputs are not permitted" to anything else); platform.claude.com, API reference "Messages", "Extended
 * thinking", "Structured outputs", "Tool use", and the texts of the service's own 400s; 2026-11-22.
 */
const ID = '^[a-zA-Z0-9_-]+$';
const mark = orNull(closed({ type: { const: 'ephemeral' } }, { ttl: oneOf('5m', '1h') }));
const cached: Members = { cache_control: mark };

const imageSource = tagged('type', {
  base64: [{ media_type: matching('^image/'), data: filled }],
  url: [{ url: filled }],
  file: [{ file_id: filled }],
});
const documentSource = tagged('type', {
  base64: [{ media_type: { const: 'application/pdf' }, data: filled }],
  url: [{ url: filled }],
  file: [{ file_id: filled }],
  text: [{ media_type: { const: 'text/plain' }, data: text }],
  content: [{ content: anything }],
});
const textBlock: readonly [Members, Members] = [{ text: filled }, { ...cached, citations: anything }];
const imageBlock: readonly [Members, Members] = [{ source: imageSource }, { ...cached, transformations: anything }];
const documentBlock: readonly [Members, Members] = [
  { source: documentSource },
  { ...cached, title: orNull(filled), context: orNull(text), citations: anything },
];

const referenceBlock: readonly [Members, Members] = [{ tool_name: filled }, cached];
const resultPart = tagged('type', {
  text: textBlock,
  image: imageBlock,
  document: documentBlock,
  tool_reference: referenceBlock,
});

const block = tagged('type', {
  text: textBlock,
  image: imageBlock,
  document: documentBlock,
  thinking: [{ thinking: text, signature: filled }],
  redacted_thinking: [{ data: filled }],
  tool_use: [
    { id: matching(ID), name: matching('^[a-zA-Z0-9_-]{1,200}$'), input: anyObject },
    { ...cached, caller: anything, toolset_name: anything },
  ],
  tool_result: [
    { tool_use_id: matching(ID) },
    {
      ...cached,
      is_error: flag,
      toolset_name: anything,
      content: either(text, listOf(resultPart)),
    },
  ],
});

const ownTool = closed(
  { name: matching('^[a-zA-Z0-9_-]{1,128}$'), input_schema: open({ type: { const: 'object' } }) },
  {
    ...cached,
    type: orNull({ const: 'custom' }),
    description: text,
    strict: flag,
    defer_loading: flag,
    eager_input_streaming: orNull(flag),
    input_examples: listOf(anyObject),
    allowed_callers: listOf(text),
  },
);
/** Tools that the vendor runs: each has a dated type and options of its own. */
const vendorTool = open({ type: matching('_\\d{8}$'), name: filled });

/** What becomes of thoughts behind another beginning; it may stand alone. Source: GitHub pydantic/pydantic-ai issue 7984, 2026-11-26. */
const binding: Members = { block_binding: closed({ prefix_mismatch_behavior: oneOf('drop_block', 'error') }) };
const thinking = either(
  closed(binding),
  tagged('type', {
    enabled: [{ budget_tokens: whole(1024) }, { display: anything, ...binding }],
    adaptive: [{}, { display: anything, ...binding }],
    disabled: [{}],
    between_tools: [{}, binding],
  }),
);
const choice = tagged('type', {
  auto: [{}, { disable_parallel_tool_use: flag }],
  any: [{}, { disable_parallel_tool_use: flag }],
  tool: [{ name: filled }, { disable_parallel_tool_use: flag }],
  none: [{}],
});

const shared: Members = {
  messages: listOf(closed({ role: oneOf('user', 'assistant', 'system'), content: either(text, listOf(block)) }), {
    minItems: 1,
  }),
  max_tokens: whole(1),
};
const options: Members = {
  system: either(text, listOf(tagged('type', { text: textBlock }))),
  temperature: within(0, 1),
  top_p: within(0, 1),
  top_k: whole(0),
  stop_sequences: listOf(matching('\\S')),
  thinking,
  tools: listOf(either(ownTool, vendorTool)),
  tool_choice: choice,
  output_config: closed(
    {},
    {
      effort: oneOf('low', 'medium', 'high', 'xhigh', 'max'),
      format: closed({ type: { const: 'json_schema' }, schema: anyObject }),
    },
  ),
};
const direct = closed(
  { ...shared, model: filled },
  {
    ...options,
    stream: flag,
    metadata: closed({}, { user_id: { type: 'string', maxLength: 512 } }),
    service_tier: oneOf('auto', 'standard_only'),
    container: anything,
    context_management: anything,
    inference_geo: text,
    mcp_servers: anything,
    speed: anything,
    cache_control: mark,
  },
);
/** The model stands in the address. Source: Vertex AI documentation, "Request predictions with Claude models", 2026-11-22. */
const vertex = closed(
  { ...shared, anthropic_version: { const: 'vertex-2023-10-16' } },
  {
    ...options,
    stream: flag,
    metadata: closed({}, { user_id: { type: 'string', maxLength: 512 } }),
    anthropic_beta: listOf(text),
    cache_control: mark,
  },
);
/** Model and stream stand in the address. Source: Amazon Bedrock user guide, "Anthropic Claude Messages API", 2026-11-22. */
const invoked = closed(
  { ...shared, anthropic_version: { const: 'bedrock-2023-05-31' } },
  { ...options, anthropic_beta: listOf(text) },
);

const takesDirect = validator(direct);
const takesInvoked = validator(invoked);
const takesVertex = validator(vertex);

export function anthropicRules(model: string): Validator {
  return inOrder(takesDirect, sampling(model), systemTurns(model), conversation, schemas, marks);
}

export function vertexClaudeRules(model: string): Validator {
  return inOrder(takesVertex, sampling(model), systemTurns(model), conversation, schemas, marks);
}

export function bedrockClaudeRules(model: string): Validator {
  return inOrder(takesInvoked, sampling(model), systemTurns(model), conversation, schemas, marks, base64Only);
}

const familyOf = (model: string): readonly [number, number] => {
  const found = /claude-(?:opus|sonnet|haiku|fable|mythos)-(\d+)(?:[-.](\d{1,2})(?!\d))?/.exec(model);
  return found ? [Number(found[1]), Number(found[2] ?? 0)] : [3, 0];
};

/** "`temperature` and `top_p` cannot both be specified for this model": from 4.1 on. Thinking has rules of its own. */
const sampling =
  (model: string): Validator =>
  ({ temperature, top_p: topP, top_k: topK, thinking: plan, max_tokens: most, tool_choice: forced }) => {
    const [major, minor] = familyOf(model);
    const isNewer = major > 4 || (major === 4 && minor >= 1);
    const thinks = plan?.type === 'enabled' || plan?.type === 'adaptive';
    return [
      ...(isNewer && temperature !== undefined && topP !== undefined
        ? ['`temperature` and `top_p` cannot both be specified for this model']
        : []),
      ...(thinks && temperature !== undefined && temperature !== 1
        ? ['`temperature` may only be set to 1 when thinking is enabled']
        : []),
      ...(thinks && topK !== undefined ? ['`top_k` must be unset when thinking is enabled'] : []),
      ...(thinks && topP !== undefined && topP < 0.95
        ? ['`top_p` must be at least 0.95 when thinking is enabled']
        : []),
      ...(thinks && ['any', 'tool'].includes(forced?.type)
        ? ['Thinking may not be enabled when tool_choice forces tool use']
        : []),
      ...(plan?.type === 'enabled' && plan.budget_tokens >= most
        ? ['`max_tokens` must be greater than `thinking.budget_tokens`']
        : []),
    ];
  };

/**
 * Where a model takes the role `system`: text alone, behind what the user says, last or in front of the assistant. Sources:
 * GitHub BerriAI/litellm issues 32578, 32831 and 32882; can1357/oh-my-pi, "anthropic-mid-conversation-system.test.ts"; 2026-11-26.
 */
const systemTurns =
  (model: string): Validator =>
  ({ messages }) => {
    const [major, minor] = familyOf(model);
    const isTaken = major >= 5 || (major === 4 && minor >= 8) || !/claude-.*\d/.test(model);
    return (messages as readonly Body[]).flatMap(({ role, content }, at) => {
      if (role !== 'system') return [];
      if (!isTaken) return [`/messages/${at}/role: role 'system' is not supported on this model`];
      const isInPlace =
        messages[at - 1]?.role === 'user' && (messages.length === at + 1 || messages[at + 1].role === 'assistant');
      return [
        ...(isInPlace ? [] : [`messages[${at}]: a system message stands where it may not`]),
        ...(blocksOf(content).every(({ type }) => type === 'text') ? [] : ['a system message takes text only']),
      ];
    });
  };

const blocksOf = (content: unknown): readonly Body[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : (content as readonly Body[]);

function conversation({ messages, system, tools = [], tool_choice: asked, thinking: plan }: Body): string[] {
  const turns = merged(messages);
  const last = turns.at(-1)!;
  const said = [...turns.flatMap(({ content }) => content), ...blocksOf(system ?? [])].filter(
    ({ type }) => type === 'text',
  );
  const results = turns
    .flatMap(({ content }) => content.filter(({ type }) => type === 'tool_result'))
    .flatMap(({ content }) => (Array.isArray(content) ? content : []));
  const finalText = last.role === 'assistant' ? last.content.at(-1) : undefined;
  return [
    ...([...said, ...results].some(({ type, text: words }) => type === 'text' && isBlank(words))
      ? ['text content blocks must contain non-whitespace text']
      : []),
    ...(turns.some(({ content }, at) => content.length === 0 && at < turns.length - 1)
      ? ['all messages must have non-empty content except for the optional final assistant message']
      : []),
    ...(finalText?.['type'] === 'text' && /\s$/.test(finalText['text'])
      ? ['final assistant content cannot end with trailing whitespace']
      : []),
    ...(finalText && plan?.type === 'enabled' ? ['thinking does not take a prefilled answer'] : []),
    ...(asked && tools.length === 0 ? ['tool_choice may only be specified while providing tools'] : []),
    ...(asked?.type === 'tool' && !tools.some(({ name }: Body) => name === asked.name)
      ? [`Tool '${asked.name}' not found in provided tools`]
      : []),
    ...turns.flatMap((turn, at) => pairs(turn, turns[at - 1], turns[at + 1])),
  ];
}

interface Turn {
  readonly role: string;
  readonly content: Body[];
}

/** The service puts neighbours of one role into one turn. */
function merged(messages: readonly Body[]): Turn[] {
  const turns: Turn[] = [];
  for (const { role, content } of messages) {
    const last = turns.at(-1);
    if (last?.role === role) last?.content.push(...blocksOf(content));
    else turns.push({ role, content: [...blocksOf(content)] });
  }
  return turns;
}

const ids = (turn: Turn | undefined, type: string, name: string): string[] =>
  (turn?.content ?? []).filter((one) => one['type'] === type).map((one) => one[name] as string);

/** Every call has its result in the turn after, every result its call in the turn before. */
function pairs(turn: Turn, before: Turn | undefined, after: Turn | undefined): string[] {
  const calls = ids(turn, 'tool_use', 'id');
  const answers = ids(after, 'tool_result', 'tool_use_id');
  const called = ids(before, 'tool_use', 'id');
  return [
    ...(new Set(calls).size < calls.length ? ['`tool_use` ids must be unique'] : []),
    ...calls
      .filter((id) => !answers.includes(id))
      .map((id) => `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${id}`),
    ...ids(turn, 'tool_result', 'tool_use_id')
      .filter((id) => !called.includes(id))
      .map((id) => `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}`),
  ];
}

const drafts = new Ajv2020({ strict: false, validateFormats: false, logger: false });

/** The vendor reads a schema as one of draft 2020-12 although it names draft-07, as those of coding agents do. Source: anthropics/anthropic-sdk-python issue 1001, which says that they had been taken for months; 2026-11-26. */
const inDraft = ({ $schema: _draft, ...schema }: Body): Body => schema;

/** "JSON schema is invalid. It must match JSON Schema draft 2020-12". */
function schemas({ tools = [], output_config: output }: Body): string[] {
  const declared = (tools as readonly Body[]).filter(({ input_schema: schema }) => schema !== undefined);
  return [
    ...declared.flatMap(({ name, input_schema: schema }) =>
      drafts.validateSchema(inDraft(schema))
        ? []
        : [
            `tools: ${name}: input_schema does not match JSON Schema draft 2020-12: ${drafts.errorsText(drafts.errors)}`,
          ],
    ),
    ...declared
      .filter(({ input_schema: schema }) => ['anyOf', 'oneOf', 'allOf'].some((word) => word in schema))
      .map(({ name }) => `tools: ${name}: input_schema does not support oneOf, allOf, or anyOf at the top level`),
    ...[
      output?.format?.schema,
      ...declared.filter(({ strict }) => strict === true).map(({ input_schema: schema }) => schema),
    ]
      .filter(Boolean)
      .flatMap(strictSchema),
  ];
}

/** Keywords that the vendor's output format has no grammar for. */
const UNKNOWN = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'uniqueItems',
  'patternProperties',
  'propertyNames',
  'minProperties',
  'maxProperties',
  'not',
  'if',
];

function strictSchema(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(strictSchema);
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties, $defs: definitions, ...rest } = schema as Body;
  const { const: _value, enum: _values, default: _default, ...nested } = rest;
  return [
    ...UNKNOWN.filter((word) => word in nested).map(
      (word) => `output_config.format.schema: the keyword '${word}' is not supported`,
    ),
    ...(nested['type'] === 'object' && nested['additionalProperties'] !== false
      ? ["output_config.format.schema: for 'object' type, 'additionalProperties' must be explicitly set to false"]
      : []),
    ...(Number(nested['minItems'] ?? 0) > 1
      ? ["output_config.format.schema: for 'array' type, 'minItems' values other than 0 or 1 are not supported"]
      : []),
    ...[...Object.values(nested), ...Object.values(properties ?? {}), ...Object.values(definitions ?? {})].flatMap(
      strictSchema,
    ),
  ];
}

/** "A maximum of 4 blocks with cache_control may be provided." */
function marks(body: Body): string[] {
  const found = JSON.stringify(body).split('"cache_control":{').length - 1;
  return found > 4 ? [`A maximum of 4 blocks with cache_control may be provided. Found ${found}.`] : [];
}

function base64Only(body: Body): string[] {
  return /"source":\{"type":"url"/.test(JSON.stringify(body)) ? ['only base64 sources are supported here'] : [];
}
