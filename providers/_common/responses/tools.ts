import type { ChatRequest } from 'gw/contract';
import { type Fields, isFields, isGiven, withoutAbsent } from '../fields.ts';

/** The tools of a request and the choice among them; nothing without tools. */
export function toolFields({ tools, tool_choice: choice, web_search_options: search }: ChatRequest): Fields {
  const declared = [...(tools ?? []).map(toolOf), ...searchTool(search)];
  if (declared.length === 0) return {};
  return { tools: declared, ...(isGiven(choice) && { tool_choice: choiceOf(choice) }) };
}

/** Names of the functions that a request declares. */
export function declaredNames({ tools }: ChatRequest): ReadonlySet<unknown> {
  return new Set((tools ?? []).map(({ function: declared }) => declared?.name).filter((name) => name !== undefined));
}

/** A tool that the vendor runs is sent as it came. */
function toolOf({ cache_control: _mark, ...tool }: Fields): Fields {
  const { type, function: declared, custom, ...beside } = tool;
  if (type === 'function' && isFields(declared)) return { ...beside, ...functionTool(declared) };
  if (type === 'custom' && isFields(custom)) return { ...beside, ...customTool(custom) };
  return tool;
}

/** This API takes a schema for strict unless it is asked not to, and wants one that says what it is. */
function functionTool({ cache_control: _mark, parameters, strict, ...declared }: Fields): Fields {
  const isSaid = isFields(parameters) && Object.keys(parameters).length > 0;
  return {
    type: 'function',
    ...declared,
    parameters: isSaid ? parameters : { type: 'object', properties: {} },
    strict: strict ?? false,
  };
}

/** Source: openai 7.57 (npm), `CustomTool` and `CustomToolInputFormat`, 2026-11-26. */
function customTool({ format, ...declared }: Fields): Fields {
  const { grammar, ...kind } = isFields(format) ? format : {};
  const flat = isFields(grammar) ? { ...kind, ...grammar } : format;
  return { type: 'custom', ...declared, ...(isGiven(flat) && { format: flat }) };
}

function searchTool(options: unknown): Fields[] {
  if (!isFields(options)) return [];
  const { search_context_size: size, user_location: place } = options;
  const given = isFields(place) && isFields(place['approximate']) ? place['approximate'] : place;
  const location = isFields(given) ? { ...given, type: 'approximate' } : undefined;
  return [{ type: 'web_search', ...withoutAbsent({ search_context_size: size, user_location: location }) }];
}

/** Words and tools that the vendor runs are sent as they came. */
function choiceOf(choice: unknown): unknown {
  if (!isFields(choice)) return choice;
  const { type, allowed_tools: allowed } = choice;
  if (type !== 'allowed_tools' || !isFields(allowed)) return flatName(choice);
  const { tools, ...mode } = allowed;
  return { type, ...mode, tools: Array.isArray(tools) ? tools.map(flatName) : tools };
}

/** `{type: function, function: {name}}` as `{type: function, name}`. */
function flatName(choice: unknown): unknown {
  if (!isFields(choice)) return choice;
  const { type, function: called, custom } = choice;
  const named = type === 'function' ? called : type === 'custom' ? custom : undefined;
  return isFields(named) ? { type, name: named['name'] } : choice;
}
