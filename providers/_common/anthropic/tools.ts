import type { ChatRequest, ChatTool } from 'gw/contract';
import { withAllowedTools } from '../allowed-tools.ts';
import { toolMark } from '../cache-marks.ts';
import { type Fields, invalidRequest, isFields, isGiven } from '../fields.ts';
import { rootObject } from '../root-object.ts';
import { inCurrentDraft } from './draft.ts';
import type { ClaudeTraits } from './models.ts';
import type { SchemaRoom } from './schema-room.ts';
import { outputSchema } from './schema.ts';
import type { MessagesVariant } from './variant.ts';
import { isSearchTool, planSearch } from './web-search.ts';

/** The tool whose input is the content of a structured answer. */
export const ANSWER_TOOL = 'gw_structured_answer';

export interface ToolPlan {
  readonly tools?: readonly Fields[] | undefined;
  readonly choice?: Fields | undefined;
  readonly ignored: readonly string[];
  /** The input of at least one tool must match its schema. */
  readonly isStrict: boolean;
}

export interface ToolFacts {
  readonly traits: ClaudeTraits;
  readonly variant: MessagesVariant;
  readonly room: SchemaRoom;
}

/** Whether the body will hold tools of the caller's, or the vendor's search. */
export const hasTools = (request: ChatRequest, { searches }: MessagesVariant): boolean =>
  (request.tools?.length ?? 0) > 0 || (searches && isFields(request['web_search_options']));

/** Tools and the choice among them. Throws a 400 for tools that are not functions. See docs/reference/providers.md#tool-choice. */
export function planTools(asked: ChatRequest, facts: ToolFacts): ToolPlan {
  const request = withAllowedTools(asked);
  const declared = (request.tools ?? []).map((tool, index) => toTool(tool, index, facts));
  const search = planSearch(request, facts.variant, declared.some(isSearchTool));
  const tools = [...declared, ...search.tools];
  const isStrict = tools.some(({ strict }) => strict === true);
  const ignored = [...search.ignored, ...(strictAsked(request) > strictIn(tools) ? ['strict'] : [])];
  if (tools.length === 0) return { ignored, isStrict };
  const choice = readChoice(request.tool_choice);
  const isRefused =
    (isGiven(request.tool_choice) && !choice) || (facts.traits.forcedTool === 'never' && isForcing(choice));
  return {
    tools,
    choice: withParallel(isRefused ? undefined : choice, request.parallel_tool_calls),
    ignored: isRefused ? ['tool_choice', ...ignored] : ignored,
    isStrict,
  };
}

const isStrictFunction = ({ function: declared }: Fields): boolean => isFields(declared) && declared['strict'] === true;
const strictAsked = ({ tools }: ChatRequest): number => (tools ?? []).filter(isStrictFunction).length;
const strictIn = (tools: readonly Fields[]): number =>
  tools.filter(({ strict, type }) => strict === true && type === undefined).length;

export const isForcing = (choice: Fields | undefined): boolean =>
  choice?.['type'] === 'any' || choice?.['type'] === 'tool';

function toTool(tool: ChatTool, index: number, facts: ToolFacts): Fields {
  const { function: declared } = tool;
  if (isFields(declared) && typeof declared['name'] === 'string') {
    const { name, description, parameters } = declared;
    if (name === ANSWER_TOOL) throw invalidRequest(`tools[${index}]: the name "${name}" is reserved`);
    const mark = toolMark(tool);
    return {
      name,
      ...(isGiven(description) && { description }),
      ...inputOf(schemaOf(parameters), isStrictFunction(tool), facts),
      ...(mark && { cache_control: mark }),
    };
  }
  if (isVendors(tool)) return tool;
  throw invalidRequest(`tools[${index}] must be a function with a name`);
}

/** The schema of a tool's input, held to it where the caller asks and model, place, schema and the vendor's limits allow it. */
function inputOf(schema: Fields, isStrict: boolean, { traits, variant, room }: ToolFacts): Fields {
  const held = isStrict && variant.holdsCalls(traits) ? outputSchema(schema) : undefined;
  return held && room.takeTool(held) ? { input_schema: held, strict: true } : { input_schema: schema };
}

function schemaOf(parameters: unknown): Fields {
  return isFields(parameters) && Object.keys(parameters).length > 0
    ? rootObject(inCurrentDraft(parameters))
    : { type: 'object', properties: {} };
}

/** A tool that the vendor runs or knows, in its own form: `{type: "web_search_20250305", name: "web_search"}`. */
function isVendors({ type, name }: Fields): boolean {
  return (
    typeof type === 'string' &&
    ((/_\d{8}$/.test(type) && (typeof name === 'string' || type.includes('_toolset_'))) || type === 'mcp_toolset')
  );
}

function readChoice(choice: unknown): Fields | undefined {
  if (choice === 'auto' || choice === 'none') return { type: choice };
  if (choice === 'required') return { type: 'any' };
  if (!isFields(choice) || choice['type'] !== 'function' || !isFields(choice['function'])) return undefined;
  const { name } = choice['function'];
  return typeof name === 'string' && name !== '' ? { type: 'tool', name } : undefined;
}

function withParallel(choice: Fields | undefined, parallel: unknown): Fields | undefined {
  if (parallel !== false || choice?.['type'] === 'none') return choice;
  return { ...(choice ?? { type: 'auto' }), disable_parallel_tool_use: true };
}
