import {
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
  type Schema,
  text,
  texts,
  type Validator,
  validator,
  whole,
  within,
} from './schema.ts';

/** What a vendor of the common wire takes otherwise than the next one. */
export interface Dialect {
  /** Roles that it knows beside system, user, assistant and tool. */
  readonly roles?: readonly string[];
  /** Every field of a closed schema. */
  readonly only?: readonly string[];
  /** Fields that it refuses by name. */
  readonly refused?: readonly string[];
  /** Members of messages that it refuses by name. */
  readonly refusedInMessages?: readonly string[];
  /** Kinds of parts that it has another form for. */
  readonly refusedParts?: readonly string[];
  /** Fields whose values it bounds, or of another shape than usual. */
  readonly fields?: Members;
  /** Kinds of `response_format`. */
  readonly formats?: readonly string[];
}

/** Members of messages that mean something between this gateway and its clients only, or to some vendors: others read past them. */
const call = open({ function: open({ name: filled, arguments: text }) }, { id: filled, type: { const: 'function' } });

function messageOf({ roles = [], refusedInMessages = [] }: Dialect): Schema {
  const refused = Object.fromEntries(refusedInMessages.map((name) => [name, false as unknown as Schema]));
  return {
    ...open(
      {
        role: oneOf('system', 'user', 'assistant', 'tool', ...roles),
        content: orNull(either(text, listOf(open({ type: filled })))),
      },
      { tool_calls: listOf(call, { minItems: 1 }), tool_call_id: filled, ...refused },
    ),
  };
}

const format = (kinds: readonly string[]): Schema =>
  open({ type: oneOf(...kinds) }, { json_schema: open({ name: filled, schema: anything }) });
const tool = open(
  { type: filled },
  {
    function: open(
      { name: matching('^[a-zA-Z0-9_.-]{1,128}$') },
      { description: text, parameters: { type: 'object' }, strict: orNull(flag) },
    ),
  },
);

/** Fields of the format that every vendor of it reads alike. Source: openai 7.55.0, `ChatCompletionCreateParamsBase`, 2026-11-22. */
const FIELDS: Members = {
  temperature: orNull(within(0, 2)),
  top_p: orNull(within(0, 1)),
  n: orNull(whole(1)),
  seed: orNull({ type: 'number' }),
  max_tokens: orNull(whole(1)),
  max_completion_tokens: orNull(whole(1)),
  presence_penalty: orNull(within(-2, 2)),
  frequency_penalty: orNull(within(-2, 2)),
  stop: either(text, texts, { type: 'null' }),
  tools: listOf(tool),
  tool_choice: either(text, { type: 'object' }),
  parallel_tool_calls: orNull(flag),
  logprobs: orNull(flag),
  top_logprobs: orNull(whole(0, 20)),
  stream: flag,
  stream_options: orNull(closed({}, { include_usage: flag, include_obfuscation: flag })),
  user: orNull(text),
  logit_bias: orNull({ type: 'object' }),
};

export function commonRules(dialect: Dialect = {}): Validator {
  const {
    only,
    refused = [],
    fields = {},
    formats = ['text', 'json_object', 'json_schema'],
    refusedParts = [],
  } = dialect;
  const never = Object.fromEntries(refused.map((name) => [name, false as unknown as Schema]));
  const known: Members = { ...FIELDS, response_format: orNull(format(formats)), ...fields, ...never };
  const required: Members = { model: text, messages: listOf(messageOf(dialect), { minItems: 1 }) };
  const schema = only
    ? closed(
        required,
        Object.fromEntries(only.filter((name) => !(name in required)).map((name) => [name, known[name] ?? anything])),
      )
    : open(required, known);
  return inOrder(validator(schema), streaming, (body) => partsIn(body, refusedParts));
}

function streaming({ stream, stream_options: options }: Body): string[] {
  return options !== undefined && options !== null && stream !== true
    ? ["The 'stream_options' parameter is only allowed when 'stream' is enabled."]
    : [];
}

function partsIn({ messages }: Body, refused: readonly string[]): string[] {
  const found = (messages as readonly Body[]).flatMap(({ content }) =>
    Array.isArray(content) ? content.map(({ type }: Body) => type as string) : [],
  );
  return [...new Set(found)]
    .filter((type) => refused.includes(type))
    .map((type) => `messages: content of the type '${type}' is not supported`);
}

const ROLES: ReadonlySet<unknown> = new Set(['system', 'developer', 'user', 'assistant', 'tool']);

/**
 * What is wrong with a request before anybody translates it: what the format's own vendor refuses (source: the texts of
 * its 400s, 2026-11-22), and conversations that no user has begun. Such requests are the client's mistake at every vendor.
 */
export function ownFaults({
  messages,
  tools,
  tool_choice: choice,
  parallel_tool_calls: parallel,
  top_logprobs: top,
  logprobs,
  stop,
}: Body): string[] {
  const hasTools = Array.isArray(tools) && tools.length > 0;
  const said = messages as readonly Body[];
  const first = said.find(
    ({ role, content, tool_calls: calls }) =>
      role !== 'system' && role !== 'developer' && (calls || saysSomething(content)),
  );
  return [
    ...(said.every(({ role }) => ROLES.has(role)) ? [] : ['a role that is not one of the format']),
    ...(first?.['role'] === 'user' ? [] : ["the first turn that says something is not a user's"]),
    ...(JSON.stringify([messages, tools]).split('"cache_control":{').length > 5
      ? ['more than four marks of caches']
      : []),
    ...(isSaid(choice) && !hasTools ? ["'tool_choice' is only allowed when 'tools' are specified."] : []),
    ...(isSaid(parallel) && !hasTools ? ["'parallel_tool_calls' is only allowed when 'tools' are specified."] : []),
    ...(isSaid(top) && logprobs !== true ? ["'top_logprobs' is only allowed when 'logprobs' is enabled."] : []),
    ...(Array.isArray(stop) && stop.length > 4 ? ['at most four stop sequences'] : []),
    ...said.flatMap((message, at) => faultsOfTurn(message, at, said)),
  ];
}

const saysSomething = (content: unknown): boolean =>
  Array.isArray(content)
    ? content.some(({ type, text: words }: Body) => type !== 'text' || !isBlank(words))
    : typeof content === 'string' && !isBlank(content);
const isSaid = (value: unknown): boolean => value !== undefined && value !== null;

function faultsOfTurn(
  { role, tool_calls: given, tool_call_id: id }: Body,
  at: number,
  said: readonly Body[],
): string[] {
  const calls = (given ?? []) as readonly Body[];
  const answered = new Set<unknown>();
  for (let next = at + 1; said[next]?.['role'] === 'tool'; next += 1) answered.add(said[next]?.['tool_call_id']);
  let first = at;
  while (said[first]?.['role'] === 'tool') first -= 1;
  const open = new Set((said[first]?.['tool_calls'] ?? []).map((one: Body) => one['id']));
  return [
    ...calls
      .filter((one) => !/^[a-zA-Z0-9_.:-]{1,128}$/.test(one['function']?.name ?? ''))
      .map((one) => `a function that is called "${one['function']?.name}"`),
    ...calls
      .filter((one) => !answered.has(one['id']))
      .map(
        (one) =>
          `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id': ${one['id']}`,
      ),
    ...(role === 'tool' && !open.has(id)
      ? ["messages with role 'tool' must be a response to a preceding message with 'tool_calls'."]
      : []),
  ];
}
