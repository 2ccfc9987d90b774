/** What the loopback upstream answers, and what the load generator asks. Sizes are those of an ordinary short chat. */

export type Shape = 'unary' | 'forwarded' | 'burst' | 'paced';
export const SHAPES: readonly Shape[] = ['unary', 'forwarded', 'burst', 'paced'];
export const isStream = (shape: Shape): boolean => shape === 'burst' || shape === 'paced';

/** What is asked for below `/v1`: a chat, or what no route of the gateway takes, so that it is sent on as it is. */
export const pathOf = (shape: Shape): string => (shape === 'forwarded' ? '/fine_tuning/jobs' : '/chat/completions');

export const isShape = (text: string): text is Shape => SHAPES.some((shape) => shape === text);

/** `same` answers with the model that was asked for, `dated` with another name, which must be replaced everywhere. */
export type Naming = 'same' | 'dated';
export const NAMINGS: readonly Naming[] = ['same', 'dated'];
export const isNaming = (text: string): text is Naming => NAMINGS.some((naming) => naming === text);

export const MODEL = 'bench-model';
const DATED = 'bench-model-2026-01-15';
/** Content events of a stream. */
const WORDS = 198;
/** Events of a stream: one with the role, the content, one with the finish reason, one with usage; the end marker is not counted. */
export const CHUNKS = WORDS + 3;

export function requestBody(shape: Shape): string {
  const messages = [
    { role: 'system', content: 'You are a helpful assistant that answers in one short paragraph.' },
    { role: 'user', content: 'Explain in a few words why the sky is blue, please, and mention the name of the effect.' },
  ];
  return JSON.stringify({ model: MODEL, messages, temperature: 0.7, max_tokens: 256, ...(isStream(shape) && { stream: true }) });
}

/** An answer in one piece. */
export function replyBody(shape: Shape, naming: Naming): string {
  return isStream(shape) ? streamEvents(naming).join('') : unaryReply(naming);
}

function unaryReply(naming: Naming): string {
  const content = 'The sky looks blue because air molecules scatter short wavelengths of sunlight much more than long ones; the effect is called Rayleigh scattering.';
  return JSON.stringify({
    id: 'chatcmpl-bench', object: 'chat.completion', created: 1_760_000_000, model: naming === 'same' ? MODEL : DATED,
    choices: [{ index: 0, message: { role: 'assistant', content, refusal: null }, logprobs: null, finish_reason: 'stop' }],
    usage: { prompt_tokens: 42, completion_tokens: 31, total_tokens: 73, prompt_tokens_details: { cached_tokens: 0 }, completion_tokens_details: { reasoning_tokens: 0 } },
    system_fingerprint: 'fp_bench',
  });
}

/** The events of a stream, each with its blank line; the end marker is the last. */
export function streamEvents(naming: Naming): string[] {
  const model = naming === 'same' ? MODEL : DATED;
  const head = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_760_000_000, model, system_fingerprint: 'fp_bench' };
  const event = (delta: object, finish: string | null): string =>
    `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] })}\n\n`;
  const words = Array.from({ length: WORDS }, (_unused, index) => event({ content: ` word${index % 10}` }, null));
  const usage = `data: ${JSON.stringify({ ...head, choices: [], usage: { prompt_tokens: 42, completion_tokens: WORDS, total_tokens: 42 + WORDS } })}\n\n`;
  return [event({ role: 'assistant', content: '' }, null), ...words, event({}, 'stop'), usage, 'data: [DONE]\n\n'];
}
