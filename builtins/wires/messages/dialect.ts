import { type BodyTexts, type Fields, isFields, isText } from '../../../host/contract/index.ts';
import type { Dialect, TargetFacts } from '../../../host/wire/client-request.ts';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import { adaptCommon } from '../adapt.ts';
import { openEnvelope } from '../envelope.ts';
import { marksCaches, speaksCommon } from '../targets.ts';
import { effortPath } from './effort.ts';
import { envelopeOf, unreadThoughts } from './thoughts.ts';

type Body = Readonly<Fields>;

/** Ids, signatures, sealed data, bytes in base64: one run of characters without a meaning in any language. */
const TOKEN = /^[\w+/=.:-]*$/;
const ROLES: ReadonlySet<string> = new Set(['user', 'assistant', 'system']);
const MEDIA_TYPE = /^[a-z]+\/[\w.+-]+$/;
/** Types of blocks, sources, tools and choices: words joined by underscores. */
const TYPE = /^[a-z]+(_[a-z0-9]+)*$/;
/** Words that steer the call. */
const STEERING: ReadonlySet<string> = new Set(['model', 'service_tier', 'speed', 'inference_geo']);

/** What a member holds by its name, where the holder says that it is of the wire. Source: ingress reference 12. */
const TOKENS_BY_TYPE: ReadonlyMap<unknown, ReadonlySet<string>> = new Map([
  ['tool_use', new Set(['id'])], ['server_tool_use', new Set(['id'])], ['mcp_tool_use', new Set(['id'])], ['tool_result', new Set(['tool_use_id'])],
  ['thinking', new Set(['signature'])], ['redacted_thinking', new Set(['data'])], ['base64', new Set(['data'])], ['file', new Set(['file_id'])],
]);

const TEXTS: BodyTexts = {
  isWord: (value, name, holder) => {
    if (name === 'role') return ROLES.has(value) && 'content' in holder;
    if (name === 'type') return TYPE.test(value) && isOfWire(holder);
    if (name === 'media_type') return MEDIA_TYPE.test(value);
    if (name.startsWith('encrypted_')) return TOKEN.test(value);
    if (STEERING.has(name)) return 'messages' in holder || holder['type'] === 'message';
    const { type } = holder;
    return (TOKENS_BY_TYPE.get(type)?.has(name) === true || (name === 'tool_use_id' && typeof type === 'string' && type.endsWith('_tool_result')) || (name === 'id' && type === 'message')) && TOKEN.test(value);
  },
  isSealed: (name, { type }) => name === 'thinking' && type === 'thinking',
  textOf: ({ type, text }) => (type === 'text' && typeof text === 'string' ? text : undefined),
  opened: (value) => openEnvelope(value),
};

/** Objects of the wire have a type and more; members of schemas and arguments may be called like its own. */
const isOfWire = (holder: Body): boolean => WIRE_MEMBERS.some((name) => name in holder);
const WIRE_MEMBERS = ['text', 'source', 'media_type', 'data', 'content', 'id', 'tool_use_id', 'thinking', 'signature', 'name', 'input', 'budget_tokens', 'display', 'ttl', 'schema', 'edits', 'enabled', 'url', 'file_id', 'disable_parallel_tool_use', 'role'];

/** What the Messages wire knows of its requests. */
export const MESSAGES: Dialect = {
  wire: 'messages',
  texts: TEXTS,
  forSameWire: (value) => {
    const { messages } = value;
    if (!Array.isArray(messages) || !messages.some((turn) => isFields(turn) && Array.isArray(turn['content']) && turn['content'].some(isEnveloped))) return { request: value, lost: [] };
    return withoutEnvelopes(value, messages);
  },
  adapt: (request, target, value) => {
    refuseAddresses(value['messages'], target);
    return adaptCommon(request, target, {
      effort: effortPath(value), top_k: 'top_k', service_tier: 'service_tier',
      reasoning: (isKnown) => unreadThoughts(value['messages'], isKnown),
      marks: () => [...marksIn(value)],
    });
  },
  pathOf: (field, target) => {
    if (field === 'cache_control') return marksCaches(target) === 'unasked' ? undefined : 'cache_control';
    return field in PATHS ? PATHS[field as keyof typeof PATHS] : field;
  },
};

const PATHS = {
  user: undefined, metadata: undefined, stop: 'stop_sequences', max_completion_tokens: undefined, reasoning_effort: 'thinking', thinking: 'thinking', response_format: 'output_config.format',
  parallel_tool_calls: 'tool_choice.disable_parallel_tool_use', strict: 'tools', stream_options: undefined,
} as const;

const isEnveloped = (block: unknown): boolean => isFields(block) && envelopeOf(block) !== undefined;

/** Reasoning of other vendors stays behind, and a turn that held nothing else with it. */
function withoutEnvelopes(value: Body, messages: readonly unknown[]): { request: Body; lost: readonly string[] } {
  const lost: string[] = [];
  const kept = messages.flatMap((turn, at) => {
    if (!isFields(turn) || !Array.isArray(turn['content'])) return [turn];
    const content = turn['content'].filter((block, place) => {
      if (!isEnveloped(block)) return true;
      lost.push(`messages[${at}].content[${place}]`);
      return false;
    });
    if (content.length === turn['content'].length) return [turn];
    return content.length === 0 ? [] : [{ ...turn, content }];
  });
  return { request: { ...value, messages: kept }, lost };
}

/** Targets of the common wire have no document that is an address. */
function refuseAddresses(messages: unknown, target: TargetFacts): void {
  if (!speaksCommon(target) || !Array.isArray(messages)) return;
  for (const [at, turn] of messages.entries()) {
    for (const { block, path } of blocksOf(turn, `messages[${at}]`)) {
      if (block['type'] === 'document' && isFields(block['source']) && block['source']['type'] === 'url') throw invalidRequest(`${path}.source: this provider does not take documents by their address`);
    }
  }
}

interface PlacedBlock {
  readonly block: Body;
  readonly path: string;
}

/** The blocks of a turn, and those of its results. */
function* blocksOf(holder: unknown, at: string): Generator<PlacedBlock> {
  if (!isFields(holder) || !Array.isArray(holder['content'])) return;
  for (const [place, block] of holder['content'].entries()) {
    if (!isFields(block)) continue;
    const path = `${at}.content[${place}]`;
    yield { block, path };
    if (block['type'] === 'tool_result') yield* blocksOf(block, path);
  }
}

/** Where the client marks caches. */
function* marksIn(value: Body): Generator<string> {
  const isMarked = (holder: unknown): boolean => isFields(holder) && isFields(holder['cache_control']);
  if (isMarked(value)) yield 'cache_control';
  for (const name of ['system', 'tools']) {
    const list = value[name];
    if (Array.isArray(list)) for (const [at, item] of list.entries()) if (isMarked(item)) yield `${name}[${at}].cache_control`;
  }
  if (!Array.isArray(value['messages'])) return;
  for (const [at, turn] of value['messages'].entries()) for (const { block, path } of blocksOf(turn, `messages[${at}]`)) if (isMarked(block)) yield `${path}.cache_control`;
}

/** Names of the client's tools. */
export function toolNames({ tools }: Body): string[] {
  return Array.isArray(tools) ? tools.filter(isFields).map(({ name }) => name).filter(isText) : [];
}
