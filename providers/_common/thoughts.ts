import type { ChatMessage, ChatRequest, ModelFacts } from 'gw/contract';
import { isFields } from './fields.ts';

/** Members in which thoughts stand, of any host. */
const MEMBERS = ['reasoning_content', 'reasoning', 'reasoning_details'] as const;

/**
 * How a turn of the assistant is sent, as far as its thoughts are concerned; `undefined` where nothing is known of the model:
 * then what the client sends goes on as it came. See docs/catalog.md#rules-of-models.
 */
export function thoughtsTo(
  facts: ModelFacts,
  request: Readonly<Record<string, unknown>>,
): ((message: ChatMessage) => ChatMessage) | undefined {
  const { thoughts_back: back, thoughts_field: field = 'reasoning_content' } = facts;
  if (back === 'refused') return withoutThoughts;
  const isMoved = facts.thoughts_field === 'reasoning';
  const isFilled = (back === 'every_turn' || back === 'tool_turns') && isThinking(request);
  if (!isMoved && !isFilled) return undefined;
  return (message) => {
    if (message.role !== 'assistant') return message;
    const moved = isMoved ? withReasoning(message) : message;
    const isAsked = isFilled && (back === 'every_turn' || (message.tool_calls?.length ?? 0) > 0);
    return isAsked && !hasText(moved[field]) ? { ...moved, [field]: otherText(moved) } : moved;
  };
}

const hasText = (value: unknown): value is string => typeof value === 'string' && value !== '';

function withoutThoughts(message: ChatMessage): ChatMessage {
  if (!MEMBERS.some((name) => name in message)) return message;
  const { reasoning_content: _text, reasoning: _same, reasoning_details: _items, ...rest } = message;
  return rest;
}

/** A host calls the text of thoughts `reasoning`, and does not know the other name. */
function withReasoning(message: ChatMessage): ChatMessage {
  if (!('reasoning_content' in message)) return message;
  const { reasoning_content: text, ...rest } = message;
  return hasText(text) && !hasText(rest['reasoning']) ? { ...rest, reasoning: text } : rest;
}

/** What stands in for thoughts that a turn does not have in the member where the model wants them: the model takes an empty text. */
const otherText = ({ reasoning_content: own, reasoning: other }: ChatMessage): string =>
  [own, other].find(hasText) ?? '';

/** Whether the model thinks in this call: what it does unless the request says otherwise, in the words of any host. */
export function isThinking(request: Readonly<Partial<ChatRequest>>): boolean {
  const { reasoning_effort: effort, thinking, enable_thinking: isEnabled, reasoning } = request;
  const isOff =
    effort === 'none' ||
    isEnabled === false ||
    (isFields(thinking) && thinking['type'] === 'disabled') ||
    (isFields(reasoning) && (reasoning['enabled'] === false || reasoning['effort'] === 'none'));
  return !isOff;
}
