import { readShippedRules } from '../../builtins/catalog/load.ts';
import { MODULES } from '../../builtins/manifest.ts';
import { type ChatRequest, isFields, type ModelFacts, type ProviderModule } from '../../host/contract/index.ts';
import type { Adapted, Dialect, TargetFacts } from '../../host/wire/client-request.ts';
import { factsIn } from '../kit/facts.ts';
import { sentBy, type SentWire } from '../kit/index.ts';
import { BEARER, LLAMA, MISTRAL, NOVA, TITAN } from '../providers/bedrock-support.ts';

/** A target of a conversation: a provider's chats with one model, and what the rules say of that. */
export interface ChatTarget {
  readonly title: string;
  readonly module: ProviderModule;
  readonly model: string;
  readonly facts: ModelFacts;
}

/** Models of providers that have more than one form of chats, or whose form depends on the model. */
const MODELS: Readonly<Record<string, readonly string[]>> = {
  ai21: ['jamba-large', 'j2-ultra'],
  anthropic: ['claude-sonnet-4-6', 'claude-opus-4-8', 'claude-opus-5-5', 'claude-sonnet-latest'],
  'azure-foundry': ['claude-sonnet-4-6', 'claude-opus-4-8', 'gpt-6-sol'],
  bedrock: ['us.anthropic.claude-sonnet-4-6', 'us.anthropic.claude-opus-4-8', NOVA, LLAMA, MISTRAL, TITAN],
  cohere: ['command-a-03-2025'],
  gemini: ['gemini-3.1-pro', 'gemini-2.5-flash'],
  mistral: ['mistral-medium-3.5', 'mistral-large-latest'],
  replicate: ['meta/meta-llama-3.1-8b-instruct'],
  'vertex-ai': ['claude-sonnet-4-6', 'claude-opus-4-8', 'google/gemini-3.1-pro'],
};

const rules = await readShippedRules();

/** A model that each rule speaks of. */
const inRules = (provider: string): string[] =>
  rules.rules
    .filter(({ providers }) => providers.includes(provider))
    .map(({ models: [pattern = '*'] }) =>
      pattern === '*' ? 'some-model' : pattern.replace('claude-*', 'claude-opus').replaceAll('*', ''),
    );

/** Models with thoughts of their own, at others. */
const HOSTED: Readonly<Record<string, readonly string[]>> = {
  together: ['deepseek-ai/deepseek-v4', 'moonshotai/kimi-k2.6'],
  fireworks: ['accounts/fireworks/models/minimax-m3', 'accounts/fireworks/models/gpt-oss-120b'],
};

/** Every provider that chats, with each of its forms. */
export const CHAT_TARGETS: readonly ChatTarget[] = MODULES.filter((module) => module.kind === 'provider')
  .filter((module) => module.translators.chat !== undefined)
  .flatMap((module) =>
    [
      ...new Set([
        ...(MODELS[module.name] ?? ['some-model']),
        ...inRules(module.name).map((model) => (module.name === 'bedrock' ? `anthropic.${model}` : model)),
        ...(HOSTED[module.name] ?? []),
      ]),
    ].map((model) => ({
      title: `${module.name} with ${model}`,
      module,
      model,
      facts: factsIn(rules, module.name, model),
    })),
  );

export function targetNamed(provider: string, model?: string): ChatTarget {
  const found = CHAT_TARGETS.find(
    ({ module: { name }, model: id }) => name === provider && (model === undefined || id.includes(model)),
  );
  if (!found) throw new Error(`no target ${provider} ${model}`);
  return found;
}

export function factsOfTarget({ module, model, facts }: ChatTarget): TargetFacts {
  const traits = module.chatTraitsFor?.(model) ?? module.chatTraits ?? {};
  const { name: provider, wire } = module;
  return { provider, wire: traits.wire ?? wire, traits, entry: undefined, facts, streaming: false };
}

/** What a provider asks for beside what it requires. */
export const VARIABLES: ReadonlyMap<string, Readonly<Record<string, string>>> = new Map<string, Record<string, string>>(
  [
    ['bedrock', BEARER],
    ['vertex-ai', { VERTEX_AI_REGION: 'europe-west1', VERTEX_AI_API_KEY: 'key' }],
  ],
);

export interface Leaving {
  readonly request: ChatRequest;
  /** The client's own body. */
  readonly value: object;
  /** Whether the API of the service is the one that a gateway would choose; else it is chat. */
  readonly isChosen?: boolean;
}

/** A common request as it leaves for a target, and what is lost on its way. */
export async function leaving(
  target: ChatTarget,
  dialect: Dialect,
  { request, value, isChosen = false }: Leaving,
): Promise<{ readonly adapted: Adapted<ChatRequest>; readonly wire: SentWire }> {
  const { module, model, facts } = target;
  const adapted = dialect.adapt({ ...request, model }, factsOfTarget(target), value as never);
  const wire = await sentBy(module, 'chat', adapted.request, {
    facts,
    isChosen,
    clientWire: dialect.wire,
    ...(VARIABLES.has(module.name) && { variables: VARIABLES.get(module.name) }),
  });
  return { adapted, wire };
}

/** What of a body is the conversation, and what stands around it. */
export interface Conversation {
  /** Turns, or the one text that all of them became. */
  readonly turns: readonly unknown[] | string;
  readonly around: Readonly<Record<string, unknown>>;
}

const LISTS = ['messages', 'contents'];
const TEXTS = ['prompt', 'inputText'];
/** What ends a text for the answer. */
const ENDING = /(assistant: |<\|start_header_id\|>assistant<\|end_header_id\|>\n\n)$/;

/** The conversation of a body, with cache marks set aside. */
export function conversationIn(body: Readonly<Record<string, any>>): Conversation {
  const plain = withoutMarks('input' in body && isFields(body['input']) ? body['input'] : body) as Record<string, any>;
  const name = [...LISTS, ...TEXTS].find((one) => one in plain);
  if (name === undefined) throw new Error(`no conversation in ${JSON.stringify(body)}`);
  const { [name]: turns, thinking: _words, preserve_thinking: _switch, ...around } = plain; // these are said once there are thoughts
  return { turns: typeof turns === 'string' ? turns.replace(ENDING, '') : turns, around };
}

function withoutMarks(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => !(isFields(item) && 'cachePoint' in item)).map(withoutMarks);
  if (!isFields(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== 'cache_control')
      .map(([name, member]) => [name, withoutMarks(member)]),
  );
}

/** Each mark of a body: the text in front of it. */
export function marksIn(value: unknown, before: { text: unknown } = { text: undefined }): unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => marksIn(item, before));
  if (!isFields(value)) return [];
  if ('cachePoint' in value) return [before.text];
  if (typeof value['text'] === 'string') before.text = value['text'];
  const inside = Object.values(value).flatMap((member) => marksIn(member, before));
  return 'cache_control' in value ? [...inside, value['text'] ?? value['content'] ?? value['type']] : inside;
}

/** Fixtures of one conversation as different targets get it. */
export const GOLDEN = [
  ['bedrock/late-system/claude-4-6.json', 'bedrock', 'claude-sonnet-4-6'],
  ['bedrock/late-system/claude-4-8.json', 'bedrock', 'claude-opus-4-8'],
  ['bedrock/late-system/converse.json', 'bedrock', 'nova'],
  ['azure-foundry/late-system/claude-4-6.json', 'azure-foundry', 'claude-sonnet-4-6'],
  ['azure-foundry/late-system/claude-4-8.json', 'azure-foundry', 'claude-opus-4-8'],
  ['gemini/late-system/gemini-3-1.json', 'gemini', 'gemini-3.1-pro'],
  ['mistral/late-system/medium.json', 'mistral', 'mistral-medium-3.5'],
  ['cohere/late-system/command.json', 'cohere', 'command-a'],
  ['qwen/late-system/qwen.json', 'qwen', 'some-model'],
  ['openai/late-system/openai.json', 'openai', 'some-model'],
] as const;
