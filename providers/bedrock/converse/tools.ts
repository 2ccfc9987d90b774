import type { ChatRequest, ChatTool } from 'gw/contract';
import { type Fields, invalidRequest, isFields, isGiven } from 'gw/common-wire';
import { ANSWER_TOOL } from '../../_common/anthropic/tools.ts';
import { toolMark } from '../../_common/cache-marks.ts';
import { rootObject } from '../../_common/root-object.ts';
import type { Traits } from '../models.ts';
import { cachePoint } from './cache.ts';
import { calledTools, hasToolTurns } from './messages.ts';

export interface ToolPlan {
  readonly toolConfig?: Fields | undefined;
  readonly outputConfig?: Fields | undefined;
  /** A text that asks the model for the tool, where the wire cannot make it answer through one. */
  readonly instruction?: string | undefined;
  readonly ignored: readonly string[];
}

interface Answer {
  readonly schema: Fields;
  /** Absent where no schema is asked for. */
  readonly name: string | undefined;
}

/**
 * Tools, the choice among them and the form of the answer. A structured answer is the vendor's own text format, where the
 * model has it; else the input of a tool that the model must call. Throws a 400 for tools that are not functions.
 * See docs/reference/providers.md#tool-choice. Source: Amazon Bedrock API reference, "ToolConfiguration", "OutputConfig", 2026-11-21.
 */
export function planTools(request: ChatRequest, traits: Traits, takesChoice: boolean): ToolPlan {
  const asked = takesChoice ? readChoice(request.tool_choice) : undefined;
  const declared = (request.tools ?? []).flatMap((tool, index) => toolSpec(tool, index, traits));
  const own = asked === 'none' && !hasToolTurns(request.messages) ? [] : declared;
  const answer = answerOf(request.response_format);
  const isLost =
    own.length > 0 && (asked === 'none' || (asked === undefined && takesChoice && isGiven(request.tool_choice)));
  const isStrict = (request.tools ?? []).some(
    ({ function: declared }) => isFields(declared) && declared['strict'] === true,
  );
  const ignored = [...(isLost ? ['tool_choice'] : []), ...(isStrict ? ['strict'] : [])];
  if (!answer) return { toolConfig: configOf(withCalled(own, request), toChoice(asked)), ignored };
  if (own.length > 0 && asked !== undefined && asked !== 'auto' && asked !== 'none')
    return { toolConfig: configOf(own, toChoice(asked)), ignored: ['response_format', ...ignored] };
  if (traits.hasTextFormat && answer.name !== undefined) {
    return {
      toolConfig: configOf(withCalled(own, request), toChoice(asked)),
      outputConfig: textFormat(answer),
      ignored,
    };
  }
  const tools = [...withCalled(own, request), answerTool(answer)];
  if (traits.forcing === 'none')
    return {
      toolConfig: configOf(tools),
      instruction: `Give your answer by calling the tool ${ANSWER_TOOL}.`,
      ignored,
    };
  return {
    toolConfig: configOf(
      tools,
      tools.length === 1 && traits.forcing === 'tool' ? { tool: { name: ANSWER_TOOL } } : { any: {} },
    ),
    ignored,
  };
}

function configOf(tools: readonly Fields[], toolChoice?: Fields): Fields | undefined {
  return tools.length === 0 ? undefined : { tools, ...(toolChoice && { toolChoice }) };
}

/** Earlier calls need a declaration, also when the caller declares nothing any more. */
function withCalled(own: readonly Fields[], { messages }: ChatRequest): readonly Fields[] {
  if (own.length > 0) return own;
  return calledTools(messages).map((name) => ({ toolSpec: { name, inputSchema: { json: schemaOf(undefined) } } }));
}

function toolSpec(tool: ChatTool, index: number, traits: Traits): Fields[] {
  const { function: declared } = tool;
  if (!isFields(declared) || typeof declared['name'] !== 'string')
    throw invalidRequest(`tools[${index}] must be a function with a name`);
  const { name, description, parameters } = declared;
  if (name === ANSWER_TOOL) throw invalidRequest(`tools[${index}]: the name "${name}" is reserved`);
  return [
    { toolSpec: { name, ...(isGiven(description) && { description }), inputSchema: { json: schemaOf(parameters) } } },
    ...(traits.cachesTools ? cachePoint(toolMark(tool), traits) : []),
  ];
}

/** Members at the top of a schema that some models refuse. Source: Amazon Nova, "Tool use", "Defining a tool", 2026-11-21. */
const REFUSED = new Set(['$schema', '$id', '$comment', 'title', 'additionalProperties']);

function schemaOf(parameters: unknown): Fields {
  const given = isFields(parameters)
    ? Object.entries(rootObject(parameters)).filter(([name]) => !REFUSED.has(name))
    : [];
  return { type: 'object', properties: {}, ...Object.fromEntries(given) };
}

type Choice = 'auto' | 'none' | 'required' | { readonly name: string };

function readChoice(choice: unknown): Choice | undefined {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  const name =
    isFields(choice) && choice['type'] === 'function' && isFields(choice['function'])
      ? choice['function']['name']
      : undefined;
  return typeof name === 'string' && name !== '' ? { name } : undefined;
}

function toChoice(choice: Choice | undefined): Fields | undefined {
  if (choice === undefined || choice === 'none') return undefined;
  if (choice === 'auto') return { auto: {} };
  return choice === 'required' ? { any: {} } : { tool: { name: choice.name } };
}

export const asksForJson = (format: ChatRequest['response_format']): boolean =>
  format?.type === 'json_object' || format?.type === 'json_schema';

function answerOf(format: ChatRequest['response_format']): Answer | undefined {
  if (!asksForJson(format)) return undefined;
  const declared = format?.type === 'json_schema' && isFields(format.json_schema) ? format.json_schema : {};
  const { schema, name } = declared;
  if (!isFields(schema)) return { schema: {}, name: undefined };
  return { schema, name: typeof name === 'string' && name !== '' ? name : 'answer' };
}

function answerTool({ schema }: Answer): Fields {
  return {
    toolSpec: {
      name: ANSWER_TOOL,
      description: 'Takes the answer. Its input is the whole answer, as one JSON object.',
      inputSchema: { json: schemaOf(schema) },
    },
  };
}

/** The schema travels as text, and as it is. */
function textFormat({ schema, name }: Answer): Fields {
  return { textFormat: { type: 'json_schema', structure: { jsonSchema: { name, schema: JSON.stringify(schema) } } } };
}
