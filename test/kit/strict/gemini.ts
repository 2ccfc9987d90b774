import {
  anyObject,
  anything,
  type Body,
  closed,
  filled,
  flag,
  inOrder,
  listOf,
  matching,
  oneOf,
  type Schema,
  text,
  texts,
  unionOf,
  type Validator,
  validator,
  whole,
  within,
} from './schema.ts';

/**
 * `generateContent`. The service reads JSON into closed messages: `Unknown name "x": Cannot find field`. Sources:
 * @google/genai 2.32.0, `Schema`, `Part`, `GenerationConfig`, `Tool`, `ToolConfig`; ai.google.dev, API reference
 * "Generating content" and "Caching", "Function calling"; the texts of the service's own 400s; 2026-11-22.
 */
const TYPES = ['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL'];
const count = { anyOf: [whole(0), matching('^\\d+$')] };

const schema: Schema = {
  $id: 'gemini-schema',
  type: 'object',
  additionalProperties: false,
  properties: {
    type: oneOf(...TYPES, ...TYPES.map((name) => name.toLowerCase())),
    format: text,
    title: text,
    description: text,
    nullable: flag,
    enum: listOf(text),
    maxItems: count,
    minItems: count,
    properties: { type: 'object', additionalProperties: { $ref: 'gemini-schema' } },
    required: texts,
    minProperties: count,
    maxProperties: count,
    minLength: count,
    maxLength: count,
    pattern: text,
    example: anything,
    anyOf: listOf({ $ref: 'gemini-schema' }),
    propertyOrdering: texts,
    default: anything,
    items: { $ref: 'gemini-schema' },
    minimum: { type: 'number' },
    maximum: { type: 'number' },
  },
};

const NAME = matching('^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$');
const part = unionOf(
  {
    text,
    inlineData: closed({ mimeType: filled, data: filled }),
    fileData: closed({ fileUri: filled }, { mimeType: filled, displayName: text }),
    functionCall: closed({ name: NAME }, { id: text, args: anyObject }),
    functionResponse: closed(
      { name: NAME, response: anyObject },
      { id: text, parts: listOf(anything), willContinue: flag, scheduling: text },
    ),
    executableCode: anything,
    codeExecutionResult: anything,
  },
  {
    thought: flag,
    thoughtSignature: filled,
    videoMetadata: anything,
    mediaResolution: anything,
    partMetadata: anything,
  },
);

const penalty = within(-2, 2);
const generationConfig = closed(
  {},
  {
    temperature: within(0, 2),
    topP: within(0, 1),
    topK: { type: 'number', minimum: 1 },
    candidateCount: whole(1, 8),
    maxOutputTokens: whole(1),
    stopSequences: listOf(filled, { maxItems: 5 }),
    seed: whole(-(2 ** 31), 2 ** 31 - 1),
    presencePenalty: penalty,
    frequencyPenalty: penalty,
    responseLogprobs: flag,
    logprobs: whole(0, 20),
    responseMimeType: text,
    responseSchema: schema,
    responseJsonSchema: anything,
    responseModalities: listOf(oneOf('TEXT', 'IMAGE', 'AUDIO')),
    thinkingConfig: closed(
      {},
      {
        includeThoughts: flag,
        thinkingBudget: whole(-1, 32_768),
        thinkingLevel: oneOf('MINIMAL', 'LOW', 'MEDIUM', 'HIGH', 'XHIGH'),
      },
    ),
    imageConfig: anything,
    mediaResolution: anything,
    speechConfig: anything,
    enableEnhancedCivicAnswers: flag,
  },
);

const declaration = closed(
  { name: NAME },
  {
    description: text,
    parameters: { $ref: 'gemini-schema' },
    parametersJsonSchema: anything,
    response: { $ref: 'gemini-schema' },
    responseJsonSchema: anything,
    behavior: text,
  },
);
const request = closed(
  {
    contents: listOf(closed({ parts: listOf(part, { minItems: 1 }) }, { role: oneOf('user', 'model') }), {
      minItems: 1,
    }),
  },
  {
    systemInstruction: closed({ parts: listOf(part, { minItems: 1 }) }, { role: text }),
    generationConfig,
    cachedContent: text,
    serviceTier: text,
    labels: anyObject,
    store: flag,
    safetySettings: listOf(closed({ category: filled, threshold: filled }, { method: text })),
    tools: listOf(
      closed(
        {},
        {
          functionDeclarations: listOf(declaration, { minItems: 1 }),
          googleSearch: anyObject,
          googleSearchRetrieval: anyObject,
          codeExecution: anyObject,
          urlContext: anyObject,
          computerUse: anyObject,
          fileSearch: anyObject,
          googleMaps: anyObject,
        },
      ),
    ),
    toolConfig: closed(
      {},
      {
        functionCallingConfig: closed(
          {},
          { mode: oneOf('AUTO', 'ANY', 'NONE', 'VALIDATED'), allowedFunctionNames: listOf(NAME) },
        ),
        retrievalConfig: anything,
        includeServerSideToolInvocations: flag,
      },
    ),
  },
);

export const geminiRules: Validator = inOrder(validator(request), conversation, configuration, schemas);

const turnsOf = (turn: Body | undefined, kind: string): number =>
  ((turn?.['parts'] ?? []) as readonly Body[]).filter((one) => one[kind]).length;

function conversation({ contents }: Body): string[] {
  return (contents as readonly Body[]).flatMap((turn, at) => {
    const calls = turnsOf(turn, 'functionCall');
    const answers = turnsOf(contents[at + 1], 'functionResponse');
    return [
      ...untyped(turn),
      ...(calls > 0 && at === 0
        ? ['function call turn comes immediately after a user turn or after a function response turn']
        : []),
      ...(calls > 0 && at < contents.length - 1 && calls !== answers
        ? [
            'the number of function response parts is equal to the number of function call parts of the function call turn',
          ]
        : []),
      ...(turnsOf(turn, 'functionResponse') > 0 && turnsOf(contents[at - 1], 'functionCall') === 0
        ? ['function response turn comes immediately after a function call turn']
        : []),
    ];
  });
}

/** Whether the service knows the type of a file by itself: those that were uploaded to it, and videos of its own. */
const isOwn = (uri: string): boolean =>
  /^https:\/\/(generativelanguage\.googleapis\.com\/[^/]+\/files\/|(www\.)?youtube\.com\/|youtu\.be\/)/.test(uri);

function untyped({ parts }: Body): string[] {
  return (parts as readonly Body[])
    .filter(({ fileData: file }) => file && file.mimeType === undefined && !isOwn(file.fileUri))
    .map(() => "fileData: must have required property 'mimeType'");
}

function configuration({ generationConfig: config = {}, tools = [], toolConfig }: Body): string[] {
  const { thinkingConfig: plan = {} } = config as Body;
  return [
    ...(config.logprobs !== undefined && config.responseLogprobs !== true
      ? ['logprobs is only allowed when responseLogprobs is true']
      : []),
    ...(plan.thinkingBudget !== undefined && plan.thinkingLevel !== undefined
      ? ['only one of thinking budget and thinking level may be set']
      : []),
    ...((config.responseSchema || config.responseJsonSchema) && !config.responseMimeType
      ? ['a response schema needs a response mime type']
      : []),
    ...(toolConfig?.functionCallingConfig && !tools.some((one: Body) => one['functionDeclarations'])
      ? ['function calling config is set without function_declarations']
      : []),
  ];
}

function schemas({ generationConfig: config, tools = [] }: Body): string[] {
  const declared = (tools as readonly Body[]).flatMap(({ functionDeclarations: functions = [] }) =>
    (functions as readonly Body[]).map(({ parameters }) => parameters),
  );
  return [config?.responseSchema, ...declared].filter(Boolean).flatMap((one) => oddities(one, 'schema'));
}

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  string: ['enum', 'date-time'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
};

/** What the message takes and the service refuses all the same. */
function oddities(
  {
    type,
    format,
    enum: values,
    items,
    properties,
    required = [],
    anyOf,
    nullable: _nullable,
    description: _words,
    title: _title,
    default: _default,
    ...rest
  }: Body,
  at: string,
): string[] {
  const kind = typeof type === 'string' ? type.toLowerCase() : undefined;
  return [
    ...(values !== undefined && kind !== 'string' ? [`${at}.enum: only allowed for STRING type`] : []),
    ...(values?.includes('') ? [`${at}.enum: cannot be empty`] : []),
    ...(kind === 'array' && items === undefined ? [`${at}.items: missing field`] : []),
    ...(format !== undefined && !FORMATS[kind ?? '']?.includes(format)
      ? [`${at}.format: "${format}" is not supported for ${type} type`]
      : []),
    ...(properties !== undefined && kind !== 'object' ? [`${at}.properties: only allowed for OBJECT type`] : []),
    ...(required as readonly string[])
      .filter((name) => !(name in (properties ?? {})))
      .map((name) => `${at}.required: property is not defined: ${name}`),
    ...(anyOf && (kind !== undefined || Object.keys(rest).length > 0)
      ? [`${at}.any_of: when using any_of, it must be the only field set`]
      : []),
    ...Object.entries((properties ?? {}) as Body).flatMap(([name, one]) =>
      oddities(one as Body, `${at}.properties[${name}]`),
    ),
    ...(anyOf ?? []).flatMap((one: Body, place: number) => oddities(one, `${at}.any_of[${place}]`)),
    ...(items ? oddities(items as Body, `${at}.items`) : []),
  ];
}
