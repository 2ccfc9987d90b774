import Joi from 'joi';
import {
  type ChatReply,
  definePlugin,
  type Exchange,
  inPart,
  jsonSchema,
  parseJson,
  reject,
  type ReplyMessage,
  type SchemaCheck,
  type StreamGuard,
  type Verdict,
} from 'gw/contract';
import { observe, streamWhole, type StreamSettings } from './_common/settings.ts';

interface Settings extends StreamSettings {
  schema: object;
}

/** UTF-16 code units of a path that a message shows. */
const MOST_PATH = 200;

/** Passes every chunk on, to where they wait for the verdict: only a whole answer is JSON. */
const WAITING: StreamGuard = { push: (chunk) => [chunk], end: () => [], awaitsVerdict: true };

/** Refuses answers that are not JSON of a given shape. */
export default definePlugin<Settings>({
  name: 'schema-guard',
  type: 'guardrail',
  summary: 'Rejects answers that are not JSON of a given JSON Schema',
  stages: ['after_request'],
  surfaces: ['chat', 'completions', 'messages', 'generate_content', 'responses.translated'],
  settings: Joi.object<Settings, true>({
    schema: Joi.object()
      .unknown()
      .required()
      .custom(compiling)
      .description('a JSON Schema: draft 2020-12, or what its `$schema` names (2019-09, 7, 6)'),
    observe,
    stream: streamWhole,
  }),
  create: ({ schema, observe: isObserving, stream: mode }) => {
    const check = jsonSchema(schema);
    return {
      after_request: (exchange) => screen(exchange, check),
      ...(mode === 'window' && !isObserving && { stream: () => WAITING }),
    };
  },
});

function compiling(schema: object, helpers: Joi.CustomHelpers): unknown {
  try {
    jsonSchema(schema);
    return schema;
  } catch (error) {
    return helpers.message(
      { custom: '{{#label}} is not a JSON Schema that can be used: {{#why}}' },
      { why: error instanceof Error ? error.message : String(error) },
    );
  }
}

/** Every choice of the answer must fit. */
function screen({ reply }: Exchange, check: SchemaCheck): Verdict | undefined {
  for (const { message } of (reply as ChatReply | undefined)?.choices ?? []) {
    const problem = isCallsOnly(message) ? undefined : problemOf(message.content, check);
    if (problem !== undefined) return reject(problem);
  }
  return undefined;
}

/** A turn that only calls tools says nothing yet. */
function isCallsOnly({ content, tool_calls: calls }: ReplyMessage): boolean {
  return (content === null || content === undefined || content === '') && calls !== undefined && calls.length > 0;
}

function problemOf(text: string | null, check: SchemaCheck): string | undefined {
  let value: unknown;
  try {
    value = parseJson(text ?? '');
  } catch {
    return 'answer is not JSON';
  }
  const mismatch = check(value);
  return mismatch && `answer does not match the schema at ${inPart(mismatch.path, MOST_PATH)}: ${mismatch.message}`;
}
