import type { Fields } from '../fields.ts';
import type { ClaudeTraits } from './models.ts';

/** What differs between the places that speak the Messages wire. */
export interface MessagesVariant {
  /** Names the place in errors. */
  readonly label: string;
  /** Members that every body carries. */
  readonly fixed: Fields;
  /** Whether the body names the end user and says that it streams, and the answer's own model and role are used. Elsewhere the path says that it streams, and the rest is not sent. */
  readonly isDirect: boolean;
  /** Whether the body names the model; else the path does. */
  readonly namesModel: boolean;
  /** Whether the body may ask for a service tier. */
  readonly hasTiers: boolean;
  /** Whether media may be addresses and data of any encoding; else only base64 data addresses. */
  readonly fetchesMedia: boolean;
  /** Whether files may be named by an id that the place gave them. */
  readonly keepsFiles: boolean;
  /** Whether tool arguments that are not a JSON object become `{}`; else they are refused. */
  readonly repairsArguments: boolean;
  /** Whether the place searches the web by itself. */
  readonly searches: boolean;
  /** Whether a model holds its answer to a schema here, whether it holds its input of a tool to one, and the beta that it needs, if any. */
  readonly holdsAnswers: (traits: ClaudeTraits) => boolean;
  readonly holdsCalls: (traits: ClaudeTraits) => boolean;
  readonly schemaBeta?: string;
  /** Whether the place takes the word on what becomes of thoughts that are bound to another beginning. */
  readonly controlsBinding: boolean;
  /** Betas of tools by their type, where they are others than at the vendor's own API. */
  readonly toolBetas?: ReadonlyMap<string, string>;
}

const whereTheModelCan = ({ holdsSchemas }: ClaudeTraits): boolean => holdsSchemas;

/** The vendor's own API. See docs/providers.md#claude-models. */
export const DIRECT: MessagesVariant = {
  label: 'anthropic',
  fixed: {},
  isDirect: true,
  namesModel: true,
  hasTiers: true,
  fetchesMedia: true,
  keepsFiles: true,
  repairsArguments: false,
  controlsBinding: true,
  searches: true,
  holdsAnswers: whereTheModelCan,
  holdsCalls: whereTheModelCan,
};

/**
 * Claude behind Bedrock's invoke: the model stands in the path. It refuses `output_config.format` of Opus 4.7 and 4.8, and a
 * tool's `strict` of those and of several since: "Extra inputs are not permitted". See docs/providers.md#claude-models. Sources: GitHub
 * vercel/ai issues 14773 and 18199 and release amazon-bedrock 5.0.131, lobehub/lobehub issue 19876; 2026-11-23.
 */
export const BEDROCK: MessagesVariant = {
  label: 'bedrock',
  fixed: { anthropic_version: 'bedrock-2023-05-31' },
  isDirect: false,
  namesModel: false,
  hasTiers: false,
  fetchesMedia: false,
  keepsFiles: false,
  repairsArguments: true,
  controlsBinding: false,
  searches: false,
  holdsAnswers: ({ holdsSchemas, samples, thinksUnasked }) => holdsSchemas && (samples || thinksUnasked),
  holdsCalls: ({ holdsSchemas, samples }) => holdsSchemas && samples, // those that sample are the older ones
  toolBetas: new Map([
    ['bash_20250124', 'computer-use-2025-01-24'],
    ['text_editor_20250124', 'computer-use-2025-01-24'],
    ['text_editor_20250429', 'computer-use-2025-01-24'],
    ['text_editor_20250728', 'computer-use-2025-01-24'],
    ['tool_search_tool_regex_20251119', 'tool-search-tool-2025-10-19'],
    ['tool_search_tool_bm25_20251119', 'tool-search-tool-2025-10-19'],
  ]),
};

/**
 * Claude behind Vertex AI: the model stands in the path. Schemas are off unless a policy of the organisation allows them.
 * Sources: platform.claude.com, "Claude on Vertex AI"; docs.cloud.google.com, "Web search with Anthropic Claude models",
 * "Structured outputs with Anthropic Claude models"; 2026-11-22.
 */
export const VERTEX: MessagesVariant = {
  label: 'vertex-ai',
  fixed: { anthropic_version: 'vertex-2023-10-16' },
  isDirect: true,
  namesModel: false,
  hasTiers: false,
  fetchesMedia: false,
  keepsFiles: false,
  repairsArguments: false,
  controlsBinding: true,
  searches: true,
  holdsAnswers: () => false,
  holdsCalls: () => false,
  toolBetas: new Map([['web_search_20250305', 'web-search-2025-03-05']]),
};

/** Claude in Microsoft Foundry. Sources: platform.claude.com, "Claude in Microsoft Foundry", "Structured outputs", 2026-11-22. */
export const FOUNDRY: MessagesVariant = {
  label: 'azure-foundry',
  fixed: {},
  isDirect: true,
  namesModel: true,
  hasTiers: false,
  fetchesMedia: true,
  keepsFiles: true,
  repairsArguments: false,
  controlsBinding: true,
  searches: true,
  holdsAnswers: whereTheModelCan,
  holdsCalls: whereTheModelCan,
  schemaBeta: 'structured-outputs-2025-11-13',
};
