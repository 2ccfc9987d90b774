import type { ChatRequest, ChatTool } from 'gw/contract';
import { type Fields, invalidRequest, isFields, isGiven } from '../fields.ts';

/** The tool whose input is the content of a structured answer. */
export const ANSWER_TOOL = 'gw_structured_answer';

export interface ToolPlan {
  readonly tools?: readonly Fields[] | undefined;
  readonly choice?: Fields | undefined;
  readonly ignored: readonly string[];
}

/** Tools and the choice among them. Throws a 400 for tools that are no functions. Source: providers reference 4.3 and 5.1. */
export function planTools(request: ChatRequest, canForce: boolean): ToolPlan {
  const tools = (request.tools ?? []).map(toTool);
  if (tools.length === 0) return { ignored: [] };
  const asked = readChoice(request.tool_choice);
  const isRefused = (isGiven(request.tool_choice) && !asked) || (!canForce && isForcing(asked));
  return { tools, choice: withParallel(isRefused ? undefined : asked, request.parallel_tool_calls), ignored: isRefused ? ['tool_choice'] : [] };
}

export const isForcing = (choice: Fields | undefined): boolean => choice?.['type'] === 'any' || choice?.['type'] === 'tool';

function toTool(tool: ChatTool, index: number): Fields {
  const mark = isFields(tool.cache_control) ? { cache_control: tool.cache_control } : {};
  const { function: declared } = tool;
  if (isFields(declared) && typeof declared['name'] === 'string') {
    const { name, description, parameters } = declared;
    if (name === ANSWER_TOOL) throw invalidRequest(`tools[${index}]: the name "${name}" is reserved`);
    return { name, ...(isGiven(description) && { description }), input_schema: schemaOf(parameters), ...mark };
  }
  if (isVendors(tool)) return tool;
  throw invalidRequest(`tools[${index}] must be a function with a name`);
}

function schemaOf(parameters: unknown): Fields {
  return isFields(parameters) && Object.keys(parameters).length > 0 ? parameters : { type: 'object', properties: {} };
}

/** A tool that the vendor runs, in its own form: `{type: "web_search_20250305", name: "web_search"}`. */
function isVendors({ type, name }: Fields): boolean {
  return typeof type === 'string' && /_\d{8}$/.test(type) && typeof name === 'string';
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
