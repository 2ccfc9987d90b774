import { expect } from 'chai';
import type { TestHost } from '../kit/index.ts';
import { TOOL } from '../pipeline/two-apis.ts';

export type Json = Record<string, any>;

/** The message that the pieces of an answer make. */
export function messageOf(deltas: readonly Json[]): Json {
  const joined = (name: string): string => deltas.map((delta) => delta[name] ?? '').join('');
  const calls: Json[] = [];
  for (const { tool_calls: [piece] = [] } of deltas as Json[]) {
    if (!piece) continue;
    const known = calls[piece.index];
    if (known) known['function'].arguments += piece.function.arguments;
    else calls[piece.index] = { id: piece.id, type: 'function', function: { ...piece.function } };
  }
  return {
    role: 'assistant',
    content: joined('content') || null,
    ...(joined('reasoning_content') && { reasoning_content: joined('reasoning_content') }),
    reasoning_details: deltas.flatMap(({ reasoning_details: details = [] }) => details),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

/** A client that sends the history back as it got it, with a result for each call. */
export interface Client {
  readonly name: string;
  readonly wantsThoughts: boolean;
  /** What a turn adds to the history: the answer, and what the client says next. */
  readonly ask: (t: TestHost, streaming: boolean, history: readonly Json[]) => Promise<readonly Json[]>;
}

const eventsIn = (text: string): Json[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as Json);

const ok = async (t: TestHost, path: string, body: object): Promise<string> => {
  const { status, text } = await t.post(path, body);
  expect(status, text).to.equal(200);
  return text;
};

const onChat = (wantsThoughts: boolean): Client => ({
  name: 'chat',
  wantsThoughts,
  async ask(t, stream, history) {
    const messages = [{ role: 'user', content: 'hi' }, ...history];
    const text = await ok(t, '/v1/chat/completions', {
      model: 'm',
      messages,
      tools: [TOOL],
      stream,
      ...(wantsThoughts && { include_reasoning: true }),
    });
    const message = stream
      ? messageOf(eventsIn(text).flatMap(({ choices }) => choices.map(({ delta }: Json) => delta)))
      : JSON.parse(text).choices[0].message;
    const results = (message.tool_calls ?? []).map(({ id }: Json) => ({
      role: 'tool',
      tool_call_id: id,
      content: 'r',
    }));
    return [message, ...(results.length > 0 ? results : [{ role: 'user', content: 'more' }])];
  },
});

function blocksOf(events: readonly Json[]): Json[] {
  const blocks: Json[] = [];
  for (const { type, index, content_block: block, delta } of events) {
    if (type === 'content_block_start') blocks[index] = { ...block, ...(block.type === 'tool_use' && { input: '' }) };
    const open = blocks[index];
    if (type !== 'content_block_delta' || !open) continue;
    if (delta.type === 'text_delta') open['text'] += delta.text;
    if (delta.type === 'thinking_delta') open['thinking'] += delta.thinking;
    if (delta.type === 'signature_delta') open['signature'] = delta.signature;
    if (delta.type === 'input_json_delta') open['input'] += delta.partial_json;
  }
  return blocks.map((block) =>
    block['type'] === 'tool_use' ? { ...block, input: JSON.parse(block['input']) } : block,
  );
}

const onMessages = (wantsThoughts: boolean): Client => ({
  name: 'Messages',
  wantsThoughts,
  async ask(t, stream, history) {
    const text = await ok(t, '/v1/messages', {
      model: 'm',
      max_tokens: 64,
      messages: [{ role: 'user', content: 'hi' }, ...history],
      tools: [{ name: 'look', input_schema: { type: 'object' } }],
      stream,
      ...(wantsThoughts && { thinking: { type: 'adaptive' } }),
    });
    const content: Json[] = stream ? blocksOf(eventsIn(text)) : JSON.parse(text).content;
    expect(content.map(({ type }) => type)).not.to.include('redacted_thinking');
    expect(content.at(-1)!['type'], 'a client that prints the last block shows the text').not.to.equal('thinking');
    const thoughts = content.filter(({ type }) => type === 'thinking');
    if (!stream && thoughts.some(({ thinking }) => thinking !== ''))
      expect(thoughts, 'what was thought and what seals it are one block').to.have.length(1);
    const results = content
      .filter(({ type }) => type === 'tool_use')
      .map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'r' }));
    return [
      { role: 'assistant', content },
      { role: 'user', content: results.length > 0 ? results : 'more' },
    ];
  },
});

const onGemini = (includeThoughts: boolean): Client => ({
  name: 'Gemini',
  wantsThoughts: includeThoughts,
  async ask(t, stream, history) {
    const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
    const text = await ok(t, `/v1beta/models/m:${method}`, {
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }, ...history],
      tools: [{ functionDeclarations: [{ name: 'look', description: 'd' }] }],
      generationConfig: { thinkingConfig: { includeThoughts } },
    });
    const frames: Json[] = stream ? eventsIn(text) : [JSON.parse(text)];
    const parts = frames.flatMap(({ candidates: [candidate] }) => candidate.content.parts as Json[]);
    const results = parts
      .filter(({ functionCall: called }) => called)
      .map(({ functionCall: { id, name } }) => ({ functionResponse: { id, name, response: { result: 'r' } } }));
    if (!includeThoughts && results.length > 0)
      expect(
        parts.filter((part) => part['thoughtSignature'] && !part['functionCall']),
        'calls carry what belongs to them',
      ).to.deep.equal([]);
    return [
      { role: 'model', parts },
      { role: 'user', parts: results.length > 0 ? results : [{ text: 'more' }] },
    ];
  },
});

const onResponses = (wantsThoughts: boolean): Client => ({
  name: 'Responses',
  wantsThoughts,
  async ask(t, stream, history) {
    const text = await ok(t, '/v1/responses', {
      model: 'm',
      input: [{ role: 'user', content: 'hi' }, ...history],
      tools: [{ type: 'function', name: 'look', parameters: { type: 'object' } }],
      stream,
      ...(wantsThoughts && { reasoning: { summary: 'auto' } }),
    });
    const { output }: Json = stream ? eventsIn(text).at(-1)!['response'] : JSON.parse(text);
    for (const item of output as Json[])
      if (item['type'] === 'reasoning') {
        expect(item['encrypted_content']).to.be.a('string');
        if (!wantsThoughts) expect(item['summary']).to.deep.equal([]);
      }
    const results = (output as Json[])
      .filter(({ type }) => type === 'function_call')
      .map(({ call_id: id }) => ({ type: 'function_call_output', call_id: id, output: 'r' }));
    return [...output, ...(results.length > 0 ? results : [{ role: 'user', content: 'more' }])];
  },
});

/** Clients of each wire, that ask to see thoughts and that do not. */
export const CLIENTS = [onChat, onMessages, onGemini, onResponses].flatMap((make) => [make(false), make(true)]);
