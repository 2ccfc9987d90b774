import type { CallInfo } from 'gw/contract';
import type { Fields } from '../fields.ts';
import type { MessagesVariant } from './variant.ts';

/** The header that switches on what the vendor still calls beta; a client's own goes along. */
export const BETA_HEADER = 'anthropic-beta';

const FILES = 'files-api-2025-04-14';
const BINDING = 'thinking-binding-controls-2026-08-01';
const SYSTEM_TURNS = 'mid-conversation-system-2026-04-07';

/**
 * Betas of the vendor's own tools, by their type. Some have left their beta at the vendor's own API, which still takes the
 * value. Sources: platform.claude.com, the page of each tool; types of `@anthropic-ai/sdk` 1.12.0; 2026-11-22.
 */
const BY_TOOL: ReadonlyMap<unknown, string> = new Map([
  ['bash_20241022', 'computer-use-2024-10-22'],
  ['computer_20241022', 'computer-use-2024-10-22'],
  ['text_editor_20241022', 'computer-use-2024-10-22'],
  ['computer_20250124', 'computer-use-2025-01-24'],
  ['computer_20251124', 'computer-use-2025-11-24'],
  ['code_execution_20250522', 'code-execution-2025-05-22'],
  ['code_execution_20250825', 'code-execution-2025-08-25'],
  ['web_fetch_20250910', 'web-fetch-2025-09-10'],
  ['web_fetch_20260209', 'code-execution-web-tools-2026-02-09'],
  ['web_search_20260209', 'code-execution-web-tools-2026-02-09'],
  ['memory_20250818', 'context-management-2025-06-27'],
  ['advisor_20260301', 'advisor-tool-2026-03-01'],
  ['mcp_toolset', 'mcp-client-2025-11-20'],
]);

/** What the rest of a request says about betas. */
export interface BetaFacts {
  readonly tools: readonly Fields[] | undefined;
  readonly namesFiles: boolean;
  readonly holdsSchema: boolean;
  /** The request says what becomes of thoughts that are bound to another beginning. */
  readonly controlsBinding: boolean;
  /** A client of the common wire has a system message among its turns. */
  readonly placesSystem: boolean;
}

/** The betas of a request, the client's first, each once. */
export function betasOf(
  { clientHeaders }: CallInfo,
  { tools, namesFiles, holdsSchema, controlsBinding, placesSystem }: BetaFacts,
  { schemaBeta, toolBetas }: MessagesVariant,
): string[] {
  const asked = (clientHeaders?.[BETA_HEADER] ?? '')
    .split(',')
    .map((beta) => beta.trim())
    .filter((beta) => beta !== '');
  const ofTools = (tools ?? []).flatMap(({ type }) => toolBetas?.get(String(type)) ?? BY_TOOL.get(type) ?? []);
  const others = [
    ...(namesFiles ? [FILES] : []),
    ...(holdsSchema && schemaBeta !== undefined ? [schemaBeta] : []),
    ...(controlsBinding ? [BINDING] : []),
    ...(placesSystem ? [SYSTEM_TURNS] : []),
  ];
  return [...new Set([...asked, ...ofTools, ...others])];
}
