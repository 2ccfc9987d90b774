import {
  type ChatMessage,
  type ChatReply,
  type ChatRequest,
  isChat,
  isText,
  type OpaqueRequest,
  SURFACES,
  type ToolCall,
} from '../../../host/contract/index.ts';
import type { LiveExchange } from '../../../host/pipeline/live-exchange.ts';

/** Characters of what was asked, and of what was answered, that one span may carry: collectors refuse a batch of more than a few megabytes. */
const MOST_CHARACTERS = 64 * 1024;

interface Part {
  readonly type: string;
  readonly [member: string]: unknown;
}

/**
 * Prompt and answer as the OpenTelemetry conventions for generative models write them. Source: opentelemetry.io/docs/specs/semconv/gen-ai,
 * "gen_ai.input.messages" and "gen_ai.output.messages", read 2026-11-22. Bodies of other surfaces than chat go as the JSON they are; `undefined` where there is none.
 */
export function inputMessages(exchange: LiveExchange): string | undefined {
  if (SURFACES[exchange.surface].isForwarded) {
    const { json } = exchange.request as OpaqueRequest;
    return json === undefined ? undefined : bounded(json);
  }
  if (!isChat(exchange)) return bounded(exchange.request);
  const { messages } = exchange.request as ChatRequest;
  return bounded(messages.map((message) => ({ role: message.role, parts: partsOf(message) })));
}

export function outputMessages(exchange: LiveExchange): string | undefined {
  if (!isChat(exchange) || !exchange.reply) return undefined;
  const { choices } = exchange.reply as ChatReply;
  return bounded(
    choices.map(({ message, finish_reason }) => ({ role: message.role, parts: partsOf(message), finish_reason })),
  );
}

function partsOf({
  content,
  tool_calls: calls,
  tool_call_id: answered,
  reasoning_content: reasoning,
}: Partial<ChatMessage>): Part[] {
  if (isText(answered)) return [{ type: 'tool_call_response', id: answered, response: content }];
  const texts =
    typeof content === 'string'
      ? [{ type: 'text', content }]
      : (content ?? []).map((part) => (part.type === 'text' ? { type: 'text', content: part.text } : { ...part }));
  return [
    ...(isText(reasoning) ? [{ type: 'reasoning', content: reasoning }] : []),
    ...texts,
    ...(calls ?? []).map((call: ToolCall) => ({
      type: 'tool_call',
      id: call.id,
      name: call.function.name,
      arguments: call.function.arguments,
    })),
  ];
}

/** Numbers that JavaScript cannot hold stand in bodies as `JSON.rawJSON`, which this writes as they came. */
function bounded(value: unknown): string {
  const text =
    JSON.stringify(value, (_name, member: unknown) =>
      member instanceof Uint8Array ? `${member.length} bytes` : member,
    ) ?? '';
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}
