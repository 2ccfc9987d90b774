import { bodyTexts } from '../../../host/contract/client-body.ts';
import type { BodyTexts, Fields } from '../../../host/contract/index.ts';
import { openEnvelope } from '../envelope.ts';

/** Ids, signatures, sealed data, bytes in base64: one run of characters without a meaning in any language. */
const TOKEN = /^[\w+/=.:-]*$/;
const ROLES: ReadonlySet<string> = new Set(['user', 'assistant', 'system']);
const MEDIA_TYPE = /^[a-z]+\/[\w.+-]+$/;
/** Types of blocks, sources, tools and choices: words joined by underscores. */
const TYPE = /^[a-z]+(_[a-z0-9]+)*$/;
/** Words that steer the call. */
const STEERING: ReadonlyMap<string, RegExp> = new Map([['model', /^/], ['service_tier', /^(auto|standard_only|standard|priority|batch)$/], ['speed', /^(fast|standard)$/], ['inference_geo', /^(global|us|eu)$/]]);

/** What a member holds by its name, where the holder says that it is of the wire. Source: ingress reference 12. */
const TOKENS_BY_TYPE: ReadonlyMap<unknown, ReadonlySet<string>> = new Map([
  ['tool_use', new Set(['id'])], ['server_tool_use', new Set(['id'])], ['mcp_tool_use', new Set(['id'])], ['tool_result', new Set(['tool_use_id'])],
  ['thinking', new Set(['signature'])], ['redacted_thinking', new Set(['data'])], ['base64', new Set(['data'])], ['file', new Set(['file_id'])],
]);

/** Where the texts are in requests and answers of the Messages wire. */
export const TEXTS: BodyTexts = {
  isWord: (value, name, holder) => {
    if (name === 'role') return ROLES.has(value) && 'content' in holder;
    if (name === 'type') return TYPE.test(value) && isOfWire(holder);
    if (name === 'media_type') return MEDIA_TYPE.test(value);
    if (name.startsWith('encrypted_')) return TOKEN.test(value);
    if (STEERING.has(name)) return ('messages' in holder || holder['type'] === 'message') && STEERING.get(name)?.test(value) === true;
    const { type } = holder;
    return (TOKENS_BY_TYPE.get(type)?.has(name) === true || (name === 'tool_use_id' && typeof type === 'string' && type.endsWith('_tool_result')) || (name === 'id' && type === 'message')) && TOKEN.test(value);
  },
  isSealed: (name, { type }) => name === 'thinking' && type === 'thinking',
  textOf: ({ type, text }) => (type === 'text' && typeof text === 'string' ? text : undefined),
  opened: (value) => openEnvelope(value),
};

/** Objects of the wire have a type and more; members of schemas and arguments may be called like its own. */
const isOfWire = (holder: Readonly<Fields>): boolean => WIRE_MEMBERS.some((name) => name in holder);
const WIRE_MEMBERS = ['text', 'source', 'media_type', 'data', 'content', 'id', 'tool_use_id', 'thinking', 'signature', 'name', 'input', 'budget_tokens', 'display', 'ttl', 'schema', 'edits', 'enabled', 'url', 'file_id', 'disable_parallel_tool_use', 'role'];

/** What a block says, whatever it is: guardrails and routing see it also where no target of another wire can have it. */
export function textsOf(block: Readonly<Fields>): string[] {
  return [...bodyTexts({ wire: 'messages', operation: 'messages', value: block, texts: TEXTS })].filter((text) => text !== '');
}
