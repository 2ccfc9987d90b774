import { isPhase } from '../../common/sealed-thoughts.ts';
import { type ChatMessage, type ChatRequest, isFields } from '../../contract/index.ts';

/** A request whose assistant turns hold no thoughts. The phase of a message is none, and stays. */
export function withoutThoughts(request: ChatRequest): ChatRequest {
  return { ...request, messages: request.messages.map(withoutOwn) };
}

function withoutOwn(message: ChatMessage): ChatMessage {
  if (message.role !== 'assistant') return message;
  const { reasoning_content: _text, reasoning: _other, reasoning_details: details, ...rest } = message;
  const phases = Array.isArray(details) ? details.filter((item) => isFields(item) && isPhase(item)) : [];
  return phases.length > 0 ? { ...rest, reasoning_details: phases } : rest;
}
