import { type ChatRequest, GatewayError } from 'gw/contract';
import { isFields } from './fields.ts';

/**
 * A request whose `tool_choice` is a list of allowed tools, for a wire without such a choice: the other tools are left out, and its mode becomes the
 * choice. Names without a tool are overlooked. Throws a 400 where none is left. See docs/reference/providers.md#tool-choice.
 */
export function withAllowedTools(request: ChatRequest): ChatRequest {
  const { tool_choice: choice, tools = [] } = request;
  if (!isFields(choice) || choice['type'] !== 'allowed_tools') return request;
  const { mode, tools: allowed } = isFields(choice['allowed_tools']) ? choice['allowed_tools'] : choice;
  const names = new Set(Array.isArray(allowed) ? allowed.map(nameOf) : []);
  const kept = (tools ?? []).filter((tool) => {
    const name = nameOf(tool);
    return name !== undefined && names.has(name);
  });
  if (kept.length === 0)
    throw new GatewayError('unsupported_parameter', 'tool_choice: it allows none of the tools of the request');
  return { ...request, tools: kept, tool_choice: mode === 'required' ? 'required' : 'auto' };
}

/** A function or a custom tool has its name in a member of its kind, a tool of a vendor's own beside its type. */
function nameOf(tool: unknown): string | undefined {
  if (!isFields(tool)) return undefined;
  const { function: declared, custom, name } = tool;
  const own = isFields(declared) ? declared['name'] : isFields(custom) ? custom['name'] : name;
  return typeof own === 'string' ? own : undefined;
}
