import { bodyTexts } from '../../../host/contract/text/client-body.ts';
import { TOKEN } from '../../../host/contract/json/fields.ts';
import { textOfFile } from '../../../host/contract/text/file-text.ts';
import { type BodyTexts, type Fields, isText } from '../../../host/contract/index.ts';
import { openEnvelope } from '../envelope.ts';
import { REFERENCE } from './tool-reference.ts';

const ROLES: ReadonlySet<string> = new Set(['user', 'assistant', 'system']);
const MEDIA_TYPE = /^[a-z]+\/[\w.+-]+$/;
/** Types of blocks, sources, tools and choices: words joined by underscores. */
const TYPE = /^[a-z]+(_[a-z0-9]+)*$/;
/** Words that steer the call. */
const STEERING: ReadonlyMap<string, RegExp> = new Map([
  ['model', /^/],
  ['service_tier', /^(auto|standard_only|standard|priority|batch)$/],
  ['speed', /^(fast|standard)$/],
  ['inference_geo', /^(global|us|eu|not_available)$/],
]);
/** Words of answers, by their members. Source: platform.claude.com, API reference, "Create a Message", 2026-11-22. */
const STOP_REASON =
  /^(end_turn|max_tokens|stop_sequence|tool_use|pause_turn|refusal|compaction|model_context_window_exceeded)$/;
const ERROR_CODE =
  /^(invalid_tool_input|unavailable|max_uses_exceeded|too_many_requests|query_too_long|request_too_large|url_too_long|url_not_allowed|url_not_accessible|unsupported_content_type|execution_time_exceeded|container_expired|file_not_found|output_file_too_large|string_not_found)$/;
const CALLER = /^(direct|code_execution_\d{8})$/;
const MOMENT = /^[\d:.TZ+-]+$/;

/** What a member holds by its name, where the holder says that it is of the wire. See docs/reference/ingress.md#what-guardrails-read. */
const TOKENS_BY_TYPE: ReadonlyMap<unknown, ReadonlySet<string>> = new Map([
  ['tool_use', new Set(['id'])],
  ['server_tool_use', new Set(['id'])],
  ['mcp_tool_use', new Set(['id'])],
  ['tool_result', new Set(['tool_use_id'])],
  ['thinking', new Set(['signature'])],
  ['redacted_thinking', new Set(['data'])],
  ['base64', new Set(['data'])],
  ['file', new Set(['file_id'])],
]);

/** Where the texts are in requests and answers of the Messages wire. */
export const TEXTS: BodyTexts = {
  isWord: (value, name, holder) => {
    if (name === 'role') return ROLES.has(value) && 'content' in holder;
    if (name === 'type')
      return (
        (TYPE.test(value) && (value === REFERENCE || isOfWire(holder))) ||
        (CALLER.test(value) && Object.keys(holder).every((other) => other === 'type' || other === 'tool_id'))
      );
    if (name === 'media_type') return MEDIA_TYPE.test(value);
    if (name.startsWith('encrypted_')) return TOKEN.test(value);
    if (STEERING.has(name))
      return (
        ('messages' in holder || holder['type'] === 'message' || 'input_tokens' in holder) &&
        STEERING.get(name)?.test(value) === true
      );
    const { type } = holder;
    if (name === 'stop_reason') return (type === 'message' || 'stop_sequence' in holder) && STOP_REASON.test(value);
    if (name === 'error_code') return typeof type === 'string' && type.endsWith('_error') && ERROR_CODE.test(value);
    if ('expires_at' in holder)
      return (name === 'id' && TOKEN.test(value)) || (name === 'expires_at' && MOMENT.test(value));
    return (
      (TOKENS_BY_TYPE.get(type)?.has(name) === true ||
        (name === 'tool_use_id' && typeof type === 'string' && type.endsWith('_tool_result')) ||
        (name === 'id' && type === 'message')) &&
      TOKEN.test(value)
    );
  },
  isSealed: (name, { type }) => name === 'thinking' && type === 'thinking',
  hasNames: (name, { type }) => name === 'input' && typeof type === 'string' && type.endsWith('tool_use'),
  textOf: ({ type, text }) => (type === 'text' && typeof text === 'string' ? text : undefined),
  opened: (value, name, { media_type: type }) =>
    openEnvelope(value) ?? (name === 'data' && isText(type) ? textOfFile(value, type) : undefined),
};

/** Objects of the wire have a type and more; members of schemas and arguments may be called like its own. */
const isOfWire = (holder: Readonly<Fields>): boolean => WIRE_MEMBERS.some((name) => name in holder);
const WIRE_MEMBERS = [
  'text',
  'source',
  'media_type',
  'data',
  'content',
  'id',
  'tool_use_id',
  'thinking',
  'signature',
  'name',
  'input',
  'budget_tokens',
  'display',
  'ttl',
  'schema',
  'edits',
  'enabled',
  'url',
  'file_id',
  'disable_parallel_tool_use',
  'role',
  'input_tokens',
  'error_code',
];

/** What a block says, whatever it is: guardrails and routing see it also where no target of another wire can have it. */
export function textsOf(block: Readonly<Fields>): string[] {
  return [...bodyTexts({ wire: 'messages', operation: 'messages', value: block, texts: TEXTS })].filter(
    (text) => text !== '',
  );
}
