import { type ChatRequest, GatewayError } from 'gw/contract';
import { isFields } from 'gw/common-wire';

const SEARCH = /^web_search(?:_|$)/;

/** A list of tools without searches of the web, and the paths of those. */
interface Without<T> {
  readonly tools: readonly T[];
  readonly lost: readonly string[];
}

/**
 * This service does not search the web: beside other tools that is left out. Throws a 400 where it is all that is asked for. Source:
 * platform.claude.com, "Web search tool", 2026-11-27.
 */
export function withoutSearch<T>(tools: readonly T[]): Without<T> {
  const lost = tools.flatMap((tool, at) => (isSearch(tool) ? [`tools[${at}]`] : []));
  if (lost.length > 0 && lost.length === tools.length)
    throw new GatewayError('unsupported_parameter', 'tools[0]: bedrock does not search the web');
  return lost.length === 0 ? { tools, lost } : { tools: tools.filter((tool) => !isSearch(tool)), lost };
}

const isSearch = (tool: unknown): boolean =>
  isFields(tool) && typeof tool['type'] === 'string' && SEARCH.test(tool['type']);

/** A chat without searches of the web. */
export function chatWithoutSearch(request: ChatRequest): {
  readonly request: ChatRequest;
  readonly lost: readonly string[];
} {
  const { tools, lost } = withoutSearch(request.tools ?? []);
  return lost.length === 0 ? { request, lost } : { request: { ...request, tools }, lost };
}
