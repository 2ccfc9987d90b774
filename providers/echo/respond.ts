import { type CallInfo, type ChatRequest, type ChatTool, contentTexts, type WireReply } from 'gw/contract';
import { type Behaviour, behaviourOf } from './models.ts';

interface Plan {
  readonly words: readonly string[];
  readonly finishReason: 'stop' | 'length' | 'tool_calls';
  readonly tool: ChatTool | undefined;
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number; readonly total_tokens: number };
}

/** One answer, whole or streamed. The same request always gets the same answer. */
export async function respond(request: ChatRequest, call: CallInfo): Promise<WireReply> {
  const behaviour = behaviourOf(call.model);
  if (behaviour.errorStatus !== undefined) return failure(behaviour.errorStatus);
  const plan = planAnswer(request, behaviour);
  if (call.stream)
    return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: streamed(plan, behaviour, call) };
  if (behaviour.pauseMs > 0) await call.wait(behaviour.pauseMs * Math.max(1, plan.words.length));
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: bytes(JSON.stringify(whole(plan, call))),
  };
}

function failure(status: number): WireReply {
  const body = {
    error: { message: `echo was asked to fail with ${status}`, type: 'echo_error', code: `echo_${status}` },
  };
  return { status, headers: { 'content-type': 'application/json' }, body: bytes(JSON.stringify(body)) };
}

/** A token is a word with the space before it; `max_tokens` cuts the answer there. */
function planAnswer(request: ChatRequest, { callsTool }: Behaviour): Plan {
  const texts = request.messages.flatMap((message) => [...contentTexts(message)]);
  const spoken = request.messages.findLast(({ role }) => role === 'user');
  const all = wordsOf((spoken ? [...contentTexts(spoken)].join(' ') : '') || 'echo');
  const limit = request.max_completion_tokens ?? request.max_tokens ?? Infinity;
  const tool = callsTool ? request.tools?.[0] : undefined;
  const words = all.slice(0, limit);
  const promptTokens = texts.reduce((sum, text) => sum + wordsOf(text).length, 0);
  const finishReason = tool ? 'tool_calls' : words.length < all.length ? 'length' : 'stop';
  return {
    words,
    tool,
    finishReason,
    usage: { prompt_tokens: promptTokens, completion_tokens: words.length, total_tokens: promptTokens + words.length },
  };
}

/** Words with the white space before them; one pass. */
function wordsOf(text: string): string[] {
  let end = 0;
  return Array.from(text.matchAll(/\S+/g), ({ 0: word, index }) => {
    const start = end;
    end = index + word.length;
    return text.slice(start, end);
  });
}

function head(call: CallInfo): { id: string; created: number; model: string } {
  return { id: `chatcmpl-echo-${call.exchangeId.slice(0, 12)}`, created: 0, model: call.model };
}

function toolCall(
  tool: ChatTool,
  plan: Plan,
): { id: string; type: string; function: { name: string; arguments: string } } {
  return {
    id: 'call_echo_0',
    type: 'function',
    function: { name: tool.function?.name ?? '', arguments: JSON.stringify({ text: plan.words.join('') }) },
  };
}

function whole(plan: Plan, call: CallInfo): object {
  const message = plan.tool
    ? { role: 'assistant', content: null, tool_calls: [toolCall(plan.tool, plan)] }
    : { role: 'assistant', content: plan.words.join('') };
  return {
    ...head(call),
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: plan.finishReason }],
    usage: plan.usage,
  };
}

async function* streamed(plan: Plan, { pauseMs, ending }: Behaviour, call: CallInfo): AsyncGenerator<Uint8Array> {
  const chunk = (choices: readonly object[], more: object = {}): Uint8Array =>
    event({ ...head(call), object: 'chat.completion.chunk', choices, ...more });
  const delta = (value: object, finish: string | null = null): Uint8Array =>
    chunk([{ index: 0, delta: value, finish_reason: finish }]);
  yield delta({ role: 'assistant', content: plan.tool ? null : '' });
  for (const piece of deltas(plan)) {
    if (pauseMs > 0) await call.wait(pauseMs);
    yield delta(piece);
    if (ending !== 'complete') {
      if (ending === 'error')
        yield event({ error: { message: 'echo was asked to break its stream', type: 'echo_error' } });
      return;
    }
  }
  yield delta({}, plan.finishReason);
  yield chunk([], { usage: plan.usage });
  yield bytes('data: [DONE]\n\n');
}

/** The words, or the tool call with its arguments in two fragments. */
function deltas(plan: Plan): object[] {
  if (!plan.tool) return plan.words.map((content) => ({ content }));
  const {
    id,
    type,
    function: { name, arguments: text },
  } = toolCall(plan.tool, plan);
  const middle = Math.floor(text.length / 2);
  return [
    { tool_calls: [{ index: 0, id, type, function: { name, arguments: '' } }] },
    { tool_calls: [{ index: 0, function: { arguments: text.slice(0, middle) } }] },
    { tool_calls: [{ index: 0, function: { arguments: text.slice(middle) } }] },
  ];
}

function event(value: object): Uint8Array {
  return bytes(`data: ${JSON.stringify(value)}\n\n`);
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
