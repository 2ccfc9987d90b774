import { generateText, jsonSchema, Output, streamText, tool } from 'ai';
import { expect } from 'chai';
import {
  aiSdkModel,
  HARBOUR,
  HARBOUR_SCHEMA,
  PIXEL,
  REPLY_TEXT,
  STREAMED_TEXT,
  TOOL_CALLS,
  TOOL_PARAMETERS,
  WIRE_TOOLS,
} from './support/clients.ts';
import { MODEL, withGateway } from './support/gateway.ts';
import { answering, breakingOff, expectClosed, holding } from './support/upstream.ts';

const call = { prompt: 'when does the harbour open?', maxRetries: 0 };
const messages = [{ role: 'user', content: call.prompt }];

const tools = Object.fromEntries(
  Object.entries(TOOL_PARAMETERS).map(([name, parameters]) => [
    name,
    tool({ description: `the ${name} at a harbour`, inputSchema: jsonSchema(parameters as any) }),
  ]),
);

describe('the AI SDK', () => {
  const gatewayBefore = withGateway();

  it('generates a text', async () => {
    const setup = gatewayBefore(answering('reply'));
    const { text, finishReason, usage, response } = await generateText({
      ...call,
      model: aiSdkModel(setup),
      maxOutputTokens: 50,
    });
    expect(text).to.equal(REPLY_TEXT);
    expect(finishReason).to.equal('stop');
    expect(usage).to.include({ inputTokens: 19, outputTokens: 11, totalTokens: 30 });
    expect(usage.inputTokenDetails.cacheReadTokens).to.equal(8);
    expect(response).to.include({ id: 'chatcmpl-B9k2Qm7VtXw4', modelId: MODEL });
    expect(response.headers).to.include({ 'x-gateway-provider': 'openai', 'x-gateway-attempts': '1' });
    expect(setup.upstream.seen[0]?.json()).to.deep.equal({ model: MODEL, messages, max_completion_tokens: 50 });
  });

  it('streams to the end', async () => {
    const setup = gatewayBefore(answering('stream'));
    const result = streamText({ ...call, model: aiSdkModel(setup) });
    expect((await Array.fromAsync(result.textStream)).join('')).to.equal(STREAMED_TEXT);
    expect(await result.finishReason).to.equal('stop');
    expect(await result.usage).to.include({ inputTokens: 19, outputTokens: 14, totalTokens: 33 });
    expect((await result.response).modelId).to.equal(MODEL);
  });

  it('hangs up on the upstream when a stream is aborted midway', async () => {
    const held = holding();
    const setup = gatewayBefore(held.handler);
    const controller = new AbortController();
    const { fullStream } = streamText({ ...call, model: aiSdkModel(setup), abortSignal: controller.signal });
    const ends: string[] = [];
    let isAborted = false;
    let text = '';
    for await (const part of fullStream) {
      if (part.type === 'text-delta') text += part.text;
      else ends.push(part.type);
      if (text !== 'The harbour opens' || isAborted) continue;
      isAborted = true;
      controller.abort();
    }
    expect(isAborted).to.equal(true);
    expect(ends).to.include('abort').and.not.include('finish');
    await expectClosed(held);
  });

  it('receives two parallel tool calls and sends them back with their results', async () => {
    const setup = gatewayBefore(answering('tools'));
    const first = await generateText({ ...call, model: aiSdkModel(setup), tools });
    expect(first.finishReason).to.equal('tool-calls');
    expect(callsOf(first.toolCalls)).to.deep.equal(TOOL_CALLS);
    expect(setup.upstream.seen[0]?.json()['tools']).to.deep.equal(WIRE_TOOLS);
    const results = TOOL_CALLS.map(({ id, name }) => ({
      type: 'tool-result' as const,
      toolCallId: id,
      toolName: name,
      output: { type: 'text' as const, value: 'calm' },
    }));
    const talk = [
      { role: 'user' as const, content: call.prompt },
      ...first.response.messages,
      { role: 'tool' as const, content: results },
    ];
    await generateText({ model: aiSdkModel(setup), maxRetries: 0, tools, messages: talk });
    const sent = setup.upstream.seen[1]?.json()['messages'] as any[];
    expect(sent.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'tool', 'tool']);
    expect(sent[1].tool_calls.map(({ id }: { id: string }) => id)).to.deep.equal(
      sent.slice(2).map(({ tool_call_id: id }) => id),
    );
  });

  it('assembles two parallel tool calls from streamed fragments', async () => {
    const setup = gatewayBefore(answering('tools'));
    const result = streamText({ ...call, model: aiSdkModel(setup), tools });
    const fragments = new Map<string, number>();
    for await (const part of result.fullStream) {
      if (part.type === 'tool-input-delta' && part.delta !== '')
        fragments.set(part.id, (fragments.get(part.id) ?? 0) + 1);
    }
    expect(callsOf(await result.toolCalls)).to.deep.equal(TOOL_CALLS);
    expect(await result.finishReason).to.equal('tool-calls');
    expect(Object.fromEntries(fragments)).to.deep.equal({ call_Tq81: 4, call_Mw27: 3 });
  });

  it('parses structured output, whole and streamed', async () => {
    const setup = gatewayBefore(answering('structured'));
    const output = Output.object({ name: 'harbour', schema: jsonSchema(HARBOUR_SCHEMA as any) });
    expect((await generateText({ ...call, model: aiSdkModel(setup), output })).output).to.deep.equal(HARBOUR);
    const streamed = streamText({ ...call, model: aiSdkModel(setup), output });
    const partial = await Array.fromAsync(streamed.partialOutputStream);
    expect(partial.at(-1)).to.deep.equal(HARBOUR);
    expect(partial.length).to.be.greaterThan(1);
    for (const seen of setup.upstream.seen) {
      expect(seen.json()['response_format']).to.deep.equal({
        type: 'json_schema',
        json_schema: { name: 'harbour', schema: HARBOUR_SCHEMA, strict: true },
      });
    }
  });

  it('sends text and an image in one message', async () => {
    const setup = gatewayBefore(answering('reply'));
    const file = { type: 'file' as const, mediaType: 'image/png', data: PIXEL.slice(PIXEL.indexOf(',') + 1) };
    const content = [{ type: 'text' as const, text: 'what is on this?' }, file];
    await generateText({ model: aiSdkModel(setup), maxRetries: 0, messages: [{ role: 'user', content }] });
    const sent = [
      { type: 'text', text: 'what is on this?' },
      { type: 'image_url', image_url: { url: PIXEL } },
    ];
    expect(setup.upstream.seen[0]?.json()['messages']).to.deep.equal([{ role: 'user', content: sent }]);
  });

  it('passes log probabilities on', async () => {
    const setup = gatewayBefore(answering('logprobs'));
    const options = { providerOptions: { gw: { logprobs: true, top_logprobs: 2 } }, include: { responseBody: true } };
    const { response } = await generateText({ ...call, ...options, model: aiSdkModel(setup) });
    expect(setup.upstream.seen[0]?.json()).to.include({ logprobs: true, top_logprobs: 2 });
    const {
      choices: [choice],
    } = response.body as { choices: [{ logprobs: { content: { token: string }[] } }] };
    expect(choice.logprobs.content.map(({ token }) => token)).to.deep.equal(['High', ' tide']);
  });

  it('shows thoughts as reasoning, by whichever name the upstream sends them', async () => {
    let name = '';
    const setup = gatewayBefore(answering(() => name));
    for (name of ['reasoning', 'reasoning-content']) {
      const whole = await generateText({ ...call, model: aiSdkModel(setup) });
      expect([whole.reasoningText, whole.text]).to.deep.equal(['Six plus three is nine.', 'Nine.']);
      expect(whole.usage.outputTokenDetails.reasoningTokens).to.equal(9);
      const streamed = streamText({ ...call, model: aiSdkModel(setup) });
      expect([await streamed.reasoningText, await streamed.text]).to.deep.equal(['Six plus three is nine.', 'Nine.']);
    }
  });

  it('gets an error when the upstream fails in the middle of a stream', async () => {
    const setup = gatewayBefore(breakingOff('the model ran aground'));
    const { fullStream } = streamText({ ...call, model: aiSdkModel(setup), onError: () => {} });
    const parts = await Array.fromAsync(fullStream);
    const failure = parts.find((part) => part.type === 'error')?.error;
    expect(failure instanceof Error ? failure.message : failure).to.include('the model ran aground');
    expect(parts.flatMap((part) => (part.type === 'text-delta' ? [part.text] : [])).join('')).to.equal(
      'The harbour opens',
    );
  });
});

function callsOf(
  calls: readonly { readonly toolCallId: string; readonly toolName: string; readonly input: unknown }[],
): object[] {
  return calls.map(({ toolCallId, toolName, input }) => ({ id: toolCallId, name: toolName, input }));
}
