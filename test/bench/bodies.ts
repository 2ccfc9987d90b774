/** What the loopback upstream answers, and what the load generator asks. Sizes are those of an ordinary short chat. */

/** `messages` is `burst` in the wire of Anthropic's Messages, for a client that speaks it to a provider that does too. */
export type Shape = 'unary' | 'forwarded' | 'burst' | 'paced' | 'messages';
export const SHAPES: readonly Shape[] = ['unary', 'forwarded', 'burst', 'paced', 'messages'];
export const isStream = (shape: Shape): boolean => shape !== 'unary' && shape !== 'forwarded';
export const isShape = (text: string): text is Shape => SHAPES.some((shape) => shape === text);

/** `same` answers with the model that was asked for, `dated` with another name, which must be replaced everywhere. */
export type Naming = 'same' | 'dated';
export const NAMINGS: readonly Naming[] = ['same', 'dated'];
export const isNaming = (text: string): text is Naming => NAMINGS.some((naming) => naming === text);

export const MODEL = 'bench-model';
/** The model of `messages`. */
export const CLAUDE = 'bench-claude';
const DATED = 'bench-model-2026-01-15';

/** Other addresses than that of a chat. What is forwarded goes where no route of the gateway is, so that it is sent on as it is. */
const ENDPOINTS: Readonly<Partial<Record<Shape, string>>> = { forwarded: '/fine_tuning/jobs', messages: '/messages' };

/** What a request of the shape is sent to, below the base URL of a subject or an upstream. */
export const endpointOf = (shape: Shape): string => ENDPOINTS[shape] ?? '/chat/completions';

/** Content events of a stream. */
const WORDS = 198;
/** Events of a stream: one with the role, the content, one with the finish reason, one with usage; the end marker is not counted. */
export const CHUNKS = WORDS + 3;

export function requestBody(shape: Shape): string {
  const system = 'You are a helpful assistant that answers in one short paragraph.';
  const asked = {
    role: 'user',
    content: 'Explain in a few words why the sky is blue, please, and mention the name of the effect.',
  };
  if (shape === 'messages')
    return JSON.stringify({
      model: CLAUDE,
      system,
      messages: [asked],
      temperature: 0.7,
      max_tokens: 256,
      stream: true,
    });
  const messages = [{ role: 'system', content: system }, asked];
  return JSON.stringify({
    model: MODEL,
    messages,
    temperature: 0.7,
    max_tokens: 256,
    ...(isStream(shape) && { stream: true }),
  });
}

/** An answer in one piece. */
export function replyBody(shape: Shape, naming: Naming): string {
  if (shape === 'messages') return messageEvents(naming).join('');
  return isStream(shape) ? streamEvents(naming).join('') : unaryReply(naming);
}

function unaryReply(naming: Naming): string {
  const content =
    'The sky looks blue because air molecules scatter short wavelengths of sunlight much more than long ones; the effect is called Rayleigh scattering.';
  return JSON.stringify({
    id: 'chatcmpl-bench',
    object: 'chat.completion',
    created: 1_760_000_000,
    model: naming === 'same' ? MODEL : DATED,
    choices: [
      { index: 0, message: { role: 'assistant', content, refusal: null }, logprobs: null, finish_reason: 'stop' },
    ],
    usage: {
      prompt_tokens: 42,
      completion_tokens: 31,
      total_tokens: 73,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
    system_fingerprint: 'fp_bench',
  });
}

/** The events of a stream, each with its blank line; the end marker is the last. */
export function streamEvents(naming: Naming): string[] {
  const model = naming === 'same' ? MODEL : DATED;
  const head = {
    id: 'chatcmpl-bench',
    object: 'chat.completion.chunk',
    created: 1_760_000_000,
    model,
    system_fingerprint: 'fp_bench',
  };
  const event = (delta: object, finish: string | null): string =>
    `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] })}\n\n`;
  const words = Array.from({ length: WORDS }, (_unused, index) => event({ content: ` word${index % 10}` }, null));
  const usage = `data: ${JSON.stringify({ ...head, choices: [], usage: { prompt_tokens: 42, completion_tokens: WORDS, total_tokens: 42 + WORDS } })}\n\n`;
  return [event({ role: 'assistant', content: '' }, null), ...words, event({}, 'stop'), usage, 'data: [DONE]\n\n'];
}

/** As many events with text as of a stream of the common wire, in Anthropic's wire. Source of the form: platform.claude.com, "Streaming messages", 2026-11-22. */
function messageEvents(naming: Naming): string[] {
  const event = (type: string, members: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
  const usage = { input_tokens: 42, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 };
  const message = {
    id: 'msg_bench',
    type: 'message',
    role: 'assistant',
    model: naming === 'same' ? CLAUDE : DATED,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  return [
    event('message_start', { message }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ...Array.from({ length: WORDS }, (_unused, index) =>
      event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: ` word${index % 10}` } }),
    ),
    event('content_block_stop', { index: 0 }),
    event('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: WORDS },
    }),
    event('message_stop', {}),
  ];
}
