import { type AIMessage, AIMessageChunk, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { expect } from 'chai';
import {
  HARBOUR,
  HARBOUR_SCHEMA,
  langchainModel,
  PIXEL,
  REPLY_TEXT,
  STREAMED_TEXT,
  TOOL_CALLS,
  WIRE_TOOLS,
} from './support/clients.ts';
import { MODEL, withGateway } from './support/gateway.ts';
import { answering, breakingOff, expectClosed, holding } from './support/upstream.ts';

const question = 'when does the harbour open?';

describe('LangChain', () => {
  const gatewayBefore = withGateway();

  it('invokes a model', async () => {
    const setup = gatewayBefore(answering('reply'));
    const message = await langchainModel(setup, {}, { maxTokens: 50 }).invoke(question);
    expect(message.content).to.equal(REPLY_TEXT);
    expect(message.usage_metadata).to.deep.include({ input_tokens: 19, output_tokens: 11, total_tokens: 30 });
    expect(message.usage_metadata?.input_token_details?.cache_read).to.equal(8);
    expect(message.response_metadata).to.include({ finish_reason: 'stop', model_name: MODEL });
    expect(setup.upstream.seen[0]?.json()).to.deep.equal({
      model: MODEL,
      max_completion_tokens: 50,
      messages: [{ role: 'user', content: question }],
    });
  });

  it('streams to the end', async () => {
    const setup = gatewayBefore(answering('stream'));
    const message = await joined(await langchainModel(setup).stream(question));
    expect(message.content).to.equal(STREAMED_TEXT);
    expect(message.usage_metadata).to.include({ input_tokens: 19, output_tokens: 14, total_tokens: 33 });
    expect(message.response_metadata).to.include({ finish_reason: 'stop', model_name: MODEL });
  });

  it('hangs up on the upstream when a stream is aborted midway', async () => {
    const held = holding();
    const setup = gatewayBefore(held.handler);
    const controller = new AbortController();
    const stream = await langchainModel(setup).stream(question, { signal: controller.signal });
    let isAborted = false;
    let text = '';
    const reading = (async () => {
      for await (const chunk of stream) {
        text += chunk.text;
        if (text !== 'The harbour opens') continue;
        isAborted = true;
        controller.abort();
      }
    })();
    expect(
      await reading.then(
        () => 'read to its end',
        (error: Error) => error.message,
      ),
    ).to.match(/abort/i);
    expect(isAborted).to.equal(true);
    await expectClosed(held);
  });

  it('receives two parallel tool calls and sends them back with their results', async () => {
    const setup = gatewayBefore(answering('tools'));
    const model = langchainModel(setup).bindTools(WIRE_TOOLS);
    const message = await model.invoke(question);
    expect(callsOf(message)).to.deep.equal(TOOL_CALLS);
    expect(message.response_metadata['finish_reason']).to.equal('tool_calls');
    await model.invoke([
      new HumanMessage(question),
      message,
      ...TOOL_CALLS.map(({ id }) => new ToolMessage({ tool_call_id: id, content: 'calm' })),
    ]);
    expect(setup.upstream.seen[0]?.json()['tools']).to.deep.equal(WIRE_TOOLS);
    const sent = setup.upstream.seen[1]?.json()['messages'] as any[];
    expect(sent.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'tool', 'tool']);
    expect(sent[1].tool_calls.map(({ id }: { id: string }) => id)).to.deep.equal(
      sent.slice(2).map(({ tool_call_id: id }) => id),
    );
  });

  it('assembles two parallel tool calls from streamed fragments', async () => {
    const setup = gatewayBefore(answering('tools'));
    const chunks = await Array.fromAsync(await langchainModel(setup).bindTools(WIRE_TOOLS).stream(question));
    const message = concat(chunks);
    expect(callsOf(message)).to.deep.equal(TOOL_CALLS);
    const fragments = chunks
      .flatMap((chunk) => chunk.tool_call_chunks ?? [])
      .filter(({ args }) => args !== undefined && args !== '');
    expect(fragments.map(({ index }) => index)).to.deep.equal([0, 0, 0, 0, 1, 1, 1]);
  });

  it('parses structured output, whole and streamed', async () => {
    const setup = gatewayBefore(answering('structured'));
    const model = langchainModel(setup).withStructuredOutput(HARBOUR_SCHEMA as Record<string, any>, {
      name: 'harbour',
      method: 'jsonSchema',
      strict: true,
    });
    expect(await model.invoke(question)).to.deep.equal(HARBOUR);
    expect((await Array.fromAsync(await model.stream(question))).at(-1)).to.deep.equal(HARBOUR);
    for (const seen of setup.upstream.seen) {
      expect(seen.json()['response_format']).to.deep.include({
        type: 'json_schema',
        json_schema: { name: 'harbour', schema: HARBOUR_SCHEMA, strict: true },
      });
    }
  });

  it('sends text and images in one message, unchanged', async () => {
    const setup = gatewayBefore(answering('reply'));
    const content = [
      { type: 'text' as const, text: 'what is on these?' },
      { type: 'image_url' as const, image_url: { url: 'https://pictures.example/quay.png', detail: 'low' as const } },
      { type: 'image_url' as const, image_url: { url: PIXEL } },
    ];
    await langchainModel(setup).invoke([new HumanMessage({ content })]);
    expect(setup.upstream.seen[0]?.json()['messages']).to.deep.equal([{ role: 'user', content }]);
  });

  it('receives log probabilities, whole and streamed', async () => {
    const setup = gatewayBefore(answering('logprobs'));
    const model = langchainModel(setup, {}, { logprobs: true, topLogprobs: 2 });
    const whole = await model.invoke(question);
    expect(tokensOf(whole)).to.deep.equal(['High', ' tide']);
    expect(tokensOf(await joined(await model.stream(question)))).to.deep.equal(['High', ' tide']);
    for (const seen of setup.upstream.seen) expect(seen.json()).to.include({ logprobs: true, top_logprobs: 2 });
  });

  it('finds thoughts in reasoning_content, by whichever name the upstream sends them', async () => {
    let name = '';
    const setup = gatewayBefore(answering(() => name));
    for (name of ['reasoning', 'reasoning-content']) {
      const whole = await langchainModel(setup).invoke(question);
      const streamed = await joined(await langchainModel(setup).stream(question));
      for (const { content, additional_kwargs: more, usage_metadata: usage } of [whole, streamed]) {
        expect([more['reasoning_content'], content]).to.deep.equal(['Six plus three is nine.', 'Nine.']);
        expect(usage?.output_token_details?.reasoning).to.equal(9);
      }
    }
  });

  it('gets an error when the upstream fails in the middle of a stream', async () => {
    const setup = gatewayBefore(breakingOff('the model ran aground'));
    const stream = await langchainModel(setup).stream(question);
    let text = '';
    const reading = (async () => {
      for await (const chunk of stream) text += chunk.text;
    })();
    expect(
      await reading.then(
        () => 'read to its end',
        (error: Error) => error.message,
      ),
    ).to.include('the model ran aground');
    expect(text).to.equal('The harbour opens');
  });
});

async function joined(stream: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk> {
  return concat(await Array.fromAsync(stream));
}

function concat(chunks: readonly AIMessageChunk[]): AIMessageChunk {
  return chunks.reduce((all, chunk) => all.concat(chunk), new AIMessageChunk(''));
}

function callsOf({ tool_calls: calls = [] }: AIMessage | AIMessageChunk): object[] {
  return calls.map(({ id, name, args }) => ({ id, name, input: args }));
}

function tokensOf({ response_metadata: { logprobs } }: AIMessage | AIMessageChunk): string[] {
  return (logprobs as { content: { token: string }[] }).content.map(({ token }) => token);
}
