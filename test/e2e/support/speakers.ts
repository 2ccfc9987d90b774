import { chatReply, openSse, replyJson, type SeenRequest, sseEvent, type StubHandler } from '../../kit/index.ts';

/** What gives one set of answers in the wire of each target: thoughts with what proves them, a text, a call. */
export interface Speaker {
  readonly target: string;
  readonly model: string;
  /** The answer to a request, whole or streamed. */
  readonly answer: StubHandler;
  /** What the second turn must bring back of the first one's reasoning. */
  readonly proof: unknown;
  /** What it does bring back. */
  proofIn(request: SeenRequest): unknown;
  /** The images and results that a request holds. */
  read(request: SeenRequest): { readonly images: number; readonly results: readonly string[] };
}

/** The text of the first answers: it is JSON, and some guards take it for the beginning of what they look for. */
export const SAID = '4111';

type Json = Record<string, any>;

const isStream = (request: SeenRequest): boolean => request.json()['stream'] === true || request.url.includes('stream');
const isSecond = (request: SeenRequest): boolean => /tool_result|"role":"tool"|functionResponse/.test(request.text);

export const COMMON: Speaker = {
  target: 'deepseek',
  model: 'deepseek-v4-pro',
  answer: (request, response) => {
    const message = isSecond(request)
      ? { content: 'it is high' }
      : {
          reasoning_content: 'let me see',
          content: SAID,
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'tide', arguments: '{"harbour":"Brest"}' } },
          ],
        };
    const finish = isSecond(request) ? 'stop' : 'tool_calls';
    if (!isStream(request)) {
      replyJson(
        response,
        200,
        chatReply('', { choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }] }),
      );
      return;
    }
    openSse(response);
    const { tool_calls: calls, ...texts } = message as Json;
    for (const [name, text] of Object.entries(texts))
      response.write(sseEvent({ choices: [{ index: 0, delta: { [name]: text } }] }));
    for (const [index, call] of (calls ?? []).entries())
      response.write(sseEvent({ choices: [{ index: 0, delta: { tool_calls: [{ index, ...call }] } }] }));
    response.write(sseEvent({ choices: [{ index: 0, delta: {}, finish_reason: finish }] }));
    response.end(
      sseEvent({ choices: [], usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 } }) +
        sseEvent('[DONE]'),
    );
  },
  proof: 'let me see',
  proofIn: (request) =>
    (request.json()['messages'] as Json[]).find(({ role }) => role === 'assistant')?.['reasoning_content'],
  read: (request) => {
    const messages = request.json()['messages'] as Json[];
    return {
      images: JSON.stringify(messages).split('"image_url":{').length - 1,
      results: messages.filter(({ role }) => role === 'tool').map(({ content }) => content as string),
    };
  },
};

const ANTHROPIC_BLOCKS: Json[] = [
  { type: 'thinking', thinking: 'let me see', signature: 'c2lnbmF0dXJl' },
  { type: 'text', text: SAID },
  { type: 'tool_use', id: 'toolu_1', name: 'tide', input: { harbour: 'Brest' } },
];

export const ANTHROPIC: Speaker = {
  target: 'anthropic',
  model: 'claude-sonnet-4-6',
  answer: (request, response) => {
    const content = isSecond(request) ? [{ type: 'text', text: 'it is high' }] : ANTHROPIC_BLOCKS;
    const stop = isSecond(request) ? 'end_turn' : 'tool_use';
    const usage = { input_tokens: 11, output_tokens: 7 };
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-6',
      stop_sequence: null,
    };
    if (!isStream(request)) {
      replyJson(response, 200, { ...message, content, stop_reason: stop, usage });
      return;
    }
    openSse(response);
    const send = (event: Json): void => {
      response.write(`event: ${event['type']}\ndata: ${JSON.stringify(event)}\n\n`);
    };
    send({
      type: 'message_start',
      message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
    });
    content.forEach((block, index) => {
      const { thinking, signature, text, input } = block;
      send({
        type: 'content_block_start',
        index,
        content_block: {
          ...block,
          ...(thinking && { thinking: '', signature: '' }),
          ...(text && { text: '' }),
          ...(input && { input: {} }),
        },
      });
      if (thinking) send({ type: 'content_block_delta', index, delta: { type: 'thinking_delta', thinking } });
      if (signature) send({ type: 'content_block_delta', index, delta: { type: 'signature_delta', signature } });
      if (text) send({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } });
      if (input)
        send({
          type: 'content_block_delta',
          index,
          delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) },
        });
      send({ type: 'content_block_stop', index });
    });
    send({ type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 7 } });
    send({ type: 'message_stop' });
    response.end();
  },
  proof: ANTHROPIC_BLOCKS[0],
  proofIn: (request) => (request.json()['messages'] as Json[]).find(({ role }) => role === 'assistant')?.['content'][0],
  read: (request) => {
    const blocks = (request.json()['messages'] as Json[]).flatMap(({ content }) =>
      Array.isArray(content) ? (content as Json[]) : [],
    );
    return {
      images: blocks.filter(({ type }) => type === 'image').length,
      results: blocks.filter(({ type }) => type === 'tool_result').map(({ content }) => content as string),
    };
  },
};

export const GEMINI: Speaker = {
  target: 'gemini',
  model: 'gemini-3.1-pro-preview',
  answer: (request, response) => {
    const parts = isSecond(request)
      ? [{ text: 'it is high' }]
      : [
          { text: 'let me see', thought: true },
          { text: SAID },
          { functionCall: { id: 'fc_1', name: 'tide', args: { harbour: 'Brest' } }, thoughtSignature: 'c2lnbmF0dXJl' },
        ];
    const body = {
      candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 },
      modelVersion: 'gemini-3.1-pro-preview',
    };
    if (!isStream(request)) {
      replyJson(response, 200, body);
      return;
    }
    openSse(response);
    for (const part of parts)
      response.write(sseEvent({ candidates: [{ content: { role: 'model', parts: [part] }, index: 0 }] }));
    response.end(
      sseEvent({
        ...body,
        candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP', index: 0 }],
      }),
    );
  },
  proof: 'c2lnbmF0dXJl',
  proofIn: (request) =>
    (request.json()['contents'] as Json[])
      .flatMap(({ parts }) => parts as Json[])
      .find((part) => part['functionCall'])?.['thoughtSignature'],
  read: (request) => {
    const parts = (request.json()['contents'] as Json[]).flatMap(({ parts: list }) => list as Json[]);
    return {
      images: parts.filter((part) => part['inlineData']).length,
      results: parts.flatMap((part) =>
        part['functionResponse'] ? [JSON.stringify(part['functionResponse'].response)] : [],
      ),
    };
  },
};
