import { type ClientBody, type Fields, isFields, type SameWire } from 'gw/contract';
import { BEDROCK, claudeTraits, type ClaudeTraits, clientBetas, withLateInTurns } from '../_common/anthropic/index.ts';
import { beginsWithSystem, withoutBilling } from './late-system.ts';
import { familyOf, modelPath } from './models.ts';
import { withoutSearch } from './web-search.ts';

/** Betas that bring `context_management`: edits of the context, and its compaction. */
const CONTEXT = ['context-management-2025-06-27', 'compact-2026-01-12'];

/** Betas that the service takes. Source: Amazon Bedrock user guide, "Anthropic Claude Messages API", `anthropic_beta`, and "Compaction", 2026-11-22. */
const BETAS: ReadonlySet<string> = new Set([
  'computer-use-2024-10-22',
  'computer-use-2025-01-24',
  'computer-use-2025-11-24',
  'token-efficient-tools-2025-02-19',
  'interleaved-thinking-2025-05-14',
  'output-128k-2025-02-19',
  'dev-full-thinking-2025-05-14',
  'context-1m-2025-08-07',
  ...CONTEXT,
  'effort-2025-11-24',
  'tool-search-tool-2025-10-19',
  'tool-examples-2025-10-29',
  'fine-grained-tool-streaming-2025-05-14',
]);

/** Members that the service refuses, beside those that its path says. See docs/reference/ingress.md#bodies-in-the-vendors-own-wire. */
const REFUSED: ReadonlySet<string> = new Set([
  'service_tier',
  'metadata',
  'container',
  'mcp_servers',
  'speed',
  'inference_geo',
  'diagnostics',
  'fallbacks',
]);
const IN_THE_PATH: ReadonlySet<string> = new Set(['model', 'stream']);

/** Claude takes the client's body, less what this service does not have. */
export const sameWire: SameWire = {
  toUpstream: (client, call) => {
    if (familyOf(call.model) !== 'claude' || holdsMore(client) || asksInVain(client, claudeTraits(call.facts)))
      return undefined;
    const asked = clientBetas(call);
    const betas = asked.filter((flag) => BETAS.has(flag));
    const isLost = (name: string): boolean =>
      REFUSED.has(name) || (name === 'context_management' && !CONTEXT.some((flag) => betas.includes(flag)));
    const { value, lostTools } = withoutSearches(withoutBilling(client.value));
    const { body, lost } = call.facts?.late_system === true ? { body: value, lost: [] } : withLateInTurns(value);
    const given = Object.entries(body);
    const kept = given.filter(([name]) => !isLost(name) && !IN_THE_PATH.has(name));
    const { max_tokens: maxTokens } = body;
    return {
      path: modelPath(call.model, call.stream ? 'invoke-with-response-stream' : 'invoke'),
      body: { ...Object.fromEntries(kept), ...BEDROCK.fixed, ...(betas.length > 0 && { anthropic_beta: betas }) },
      ...(typeof maxTokens === 'number' && { answerTokens: maxTokens }),
      ignored: [
        ...given.filter(([name, value]) => isLost(name) && value !== null).map(([name]) => name),
        ...lostTools,
        ...lost,
        ...asked.filter((flag) => !BETAS.has(flag)).map((flag) => `anthropic-beta:${flag}`),
      ],
    };
  },
};

/** A body without searches of the web. */
function withoutSearches(value: Readonly<Fields>): {
  readonly value: Readonly<Fields>;
  readonly lostTools: readonly string[];
} {
  const { tools, lost } = withoutSearch(Array.isArray(value['tools']) ? value['tools'] : []);
  return { value: lost.length === 0 ? value : { ...value, tools }, lostTools: lost };
}

/** Whether a body holds what this service's form has no place for: media by their address, and system messages in front of the first turn. */
function holdsMore({ value: { messages } }: ClientBody): boolean {
  return (
    Array.isArray(messages) &&
    (beginsWithSystem(messages) || messages.some((turn) => isFields(turn) && holdsAddress(turn['content'])))
  );
}

/** Whether the answer or a tool's input is to be held to a schema, which this service refuses of some models. */
function asksInVain({ value: { output_config: config, tools } }: ClientBody, traits: ClaudeTraits): boolean {
  if (!BEDROCK.holdsAnswers(traits) && isFields(config) && isFields(config['format'])) return true;
  return (
    !BEDROCK.holdsCalls(traits) &&
    Array.isArray(tools) &&
    tools.some((tool) => isFields(tool) && tool['strict'] === true)
  );
}

function holdsAddress(content: unknown): boolean {
  if (!Array.isArray(content)) return false;
  return content.some(
    (block) =>
      isFields(block) &&
      ((isFields(block['source']) && block['source']['type'] === 'url') ||
        (block['type'] === 'tool_result' && holdsAddress(block['content']))),
  );
}
