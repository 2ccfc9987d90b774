import type { ChatRequest } from 'gw/contract';
import { type Fields, isFields } from '../fields.ts';
import { inCurrentDraft } from './draft.ts';
import type { ClaudeTraits } from './models.ts';
import type { SchemaRoom } from './schema-room.ts';
import { outputSchema } from './schema.ts';
import { ANSWER_TOOL } from './tools.ts';
import type { MessagesVariant } from './variant.ts';

export interface FormatPlan {
  /** The body's `output_config.format`. */
  readonly format?: Fields;
  /** The tool that must be called, and whose input is the answer. */
  readonly tool?: Fields;
  readonly ignored: readonly string[];
}

const ANY_OBJECT: Fields = { type: 'object', additionalProperties: true };

/** What the rest of the request says about the form of the answer. */
export interface FormatFacts {
  readonly traits: ClaudeTraits;
  readonly variant: MessagesVariant;
  readonly room: SchemaRoom;
  readonly hasTools: boolean;
}

/**
 * `response_format` by the vendor's own means: its output format where model and schema allow it, else a forced tool,
 * which needs that the caller has no tools of its own. See docs/providers.md#claude-models.
 */
export function planFormat(
  { response_format: asked }: ChatRequest,
  { traits, variant, room, hasTools }: FormatFacts,
): FormatPlan {
  if (asked === undefined || asked === null || asked.type === 'text') return { ignored: [] };
  if (asked.type !== 'json_object' && asked.type !== 'json_schema') return { ignored: ['response_format'] };
  const { schema, description } = schemaIn(asked);
  const format = variant.holdsAnswers(traits) && schema ? outputSchema(schema) : undefined;
  if (format) room.takeAnswer(format);
  if (format) return { format: { type: 'json_schema', schema: format }, ignored: [] };
  if (hasTools || traits.forcedTool === 'never') return { ignored: ['response_format'] };
  return { tool: { name: ANSWER_TOOL, description, input_schema: inputSchema(schema) }, ignored: [] };
}

interface AskedSchema {
  readonly schema: Fields | undefined;
  readonly description: string;
}

function schemaIn({
  type,
  json_schema: asked,
}: {
  readonly type: string;
  readonly json_schema?: unknown;
}): AskedSchema {
  const { schema, description } = type === 'json_schema' && isFields(asked) ? asked : {};
  return {
    schema: isFields(schema) ? schema : undefined,
    description: typeof description === 'string' ? description : 'Gives the answer, as JSON.',
  };
}

/** A tool's input must be an object: the vendor refuses any other schema. */
function inputSchema(schema: Fields | undefined): Fields {
  return schema && (schema['type'] === 'object' || isFields(schema['properties']))
    ? { type: 'object', ...inCurrentDraft(schema) }
    : ANY_OBJECT;
}
