import { expect } from 'chai';
import { APIError, type OpenAI } from 'openai';
import {
  HARBOUR,
  HARBOUR_SCHEMA,
  openaiClient,
  PIXEL,
  REPLY_TEXT,
  STREAMED_TEXT,
  TOOL_CALLS,
  WIRE_TOOLS,
} from './support/clients.ts';
import { MODEL, UPSTREAM_KEY, withGateway } from './support/gateway.ts';
import { answering, breakingOff, expectClosed, holding } from './support/upstream.ts';

const messages = [{ role: 'user' as const, content: 'when does the harbour open?' }];
const ask = { model: MODEL, messages };

describe('the openai client', () => {
  const gatewayBefore = withGateway();

  it('creates a completion and sees who answered', async () => {
    const setup = gatewayBefore(answering('reply'));
    const {
      data,
      response,
      request_id: requestId,
    } = await openaiClient(setup)
      .chat.completions.create({ ...ask, max_tokens: 50 })
      .withResponse();
    expect(data).to.include({
      id: 'chatcmpl-B9k2Qm7VtXw4',
      object: 'chat.completion',
      model: MODEL,
      provider: 'openai',
    });
    expect(data.choices).to.have.length(1);
    expect(data.choices[0]).to.deep.include({ index: 0, finish_reason: 'stop', logprobs: null });
    expect(data.choices[0]?.message).to.include({ role: 'assistant', content: REPLY_TEXT, refusal: null });
    expect(data.usage).to.deep.include({
      prompt_tokens: 19,
      completion_tokens: 11,
      total_tokens: 30,
      prompt_tokens_details: { cached_tokens: 8 },
    });
    expect(Object.fromEntries(response.headers)).to.include({
      'content-type': 'application/json',
      'x-gateway-provider': 'openai',
      'x-gateway-target': 'openai',
      'x-gateway-model': MODEL,
      'x-gateway-attempts': '1',
    });
    expect(response.headers.get('x-gateway-overhead-ms')).to.match(/^\d+\.\d{3}$/);
    expect(requestId).to.be.a('string').and.to.not.equal('');
  });

  it("reaches the upstream with the gateway's credential and the newer token ceiling", async () => {
    const setup = gatewayBefore(answering('reply'));
    await openaiClient(setup).chat.completions.create({ ...ask, max_tokens: 50, metadata: { deck: 'aft' } });
    const [seen] = setup.upstream.seen;
    expect(seen).to.include({ method: 'POST', url: '/v1/chat/completions' });
    expect(seen?.headers.authorization).to.equal(`Bearer ${UPSTREAM_KEY}`);
    expect(JSON.stringify(seen?.headers)).to.not.include(setup.gateway.key);
    expect(seen?.json()).to.deep.equal({ ...ask, max_completion_tokens: 50, metadata: { deck: 'aft' } });
  });

  it('streams to the end', async () => {
    const setup = gatewayBefore(answering('stream'));
    const { data, response } = await openaiClient(setup)
      .chat.completions.create({ ...ask, stream: true })
      .withResponse();
    const chunks = await Array.fromAsync(data);
    expect(response.headers.get('x-gateway-target')).to.equal('openai');
    expect(new Set(chunks.map(({ model, id, object }) => `${model} ${id} ${object}`))).to.have.all.keys(
      `${MODEL} chatcmpl-B9k2Qm7VtXw4 chat.completion.chunk`,
    );
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).to.equal(STREAMED_TEXT);
    expect(chunks.filter((chunk) => chunk.choices[0]?.delta.role).length).to.equal(1);
    expect(chunks.at(-2)?.choices[0]?.finish_reason).to.equal('stop');
    expect(chunks.at(-1)).to.deep.include({ choices: [] });
    expect(chunks.at(-1)?.usage).to.include({ prompt_tokens: 19, completion_tokens: 14, total_tokens: 33 });
  });

  it('hangs up on the upstream when a stream is aborted midway', async () => {
    const held = holding();
    const setup = gatewayBefore(held.handler);
    const controller = new AbortController();
    const stream = await openaiClient(setup).chat.completions.create(
      { ...ask, stream: true },
      { signal: controller.signal },
    );
    let isAborted = false;
    let text = '';
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      if (text !== 'The harbour opens') continue;
      isAborted = true;
      controller.abort();
    }
    expect(isAborted).to.equal(true);
    await expectClosed(held);
  });

  for (const stream of [false, true]) {
    it(`hangs up on the upstream when a ${stream ? 'streamed call is aborted before its first chunk' : 'call without a stream is aborted'}`, async () => {
      const held = holding({ isSilent: true });
      const setup = gatewayBefore(held.handler);
      const controller = new AbortController();
      const answer = openaiClient(setup)
        .chat.completions.create({ ...ask, stream }, { signal: controller.signal })
        .then(
          () => 'answered',
          (error: Error) => error.constructor.name,
        );
      await held.asked;
      controller.abort();
      expect(await answer).to.equal('APIUserAbortError');
      await expectClosed(held);
    });
  }

  it('gets an error when the upstream fails in the middle of a stream', async () => {
    const setup = gatewayBefore(breakingOff('the model ran aground'));
    const stream = await openaiClient(setup).chat.completions.create({ ...ask, stream: true });
    let text = '';
    const reading = (async () => {
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    })();
    const error = await reading.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(APIError).and.to.include({ type: 'stream_error', code: 'stream_error' });
    expect((error as APIError).error).to.include({ message: 'the model ran aground' });
    expect(text).to.equal('The harbour opens');
  });

  it('keeps several choices apart, whole and streamed', async () => {
    const setup = gatewayBefore(answering('choices'));
    const { completions } = openaiClient(setup).chat;
    const whole = await completions.create({ ...ask, n: 2 });
    const streamed = await completions.stream({ ...ask, n: 2 }).finalChatCompletion();
    for (const { choices } of [whole, streamed]) {
      expect(choices.map(({ index, message }) => [index, message.role, message.content])).to.deep.equal([
        [0, 'assistant', 'At six sharp.'],
        [1, 'assistant', 'With the tide.'],
      ]);
    }
  });

  it('gets an error when its request is too large', async () => {
    const setup = gatewayBefore(answering('reply'));
    const content = 'x'.repeat(11 * 1024 * 1024);
    const error = await openaiClient(setup)
      .chat.completions.create({ ...ask, messages: [{ role: 'user', content }] })
      .then(
        () => undefined,
        (reason: unknown) => reason,
      );
    expect(error).to.be.instanceOf(APIError).and.to.include({ status: 413, code: 'request_too_large' });
    expect(setup.upstream.seen).to.deep.equal([]);
  });

  it('receives two parallel tool calls and sends them back with their results', async () => {
    const setup = gatewayBefore(answering('tools'));
    const client = openaiClient(setup);
    const {
      choices: [choice],
    } = await client.chat.completions.create({ ...ask, tools: WIRE_TOOLS, parallel_tool_calls: true });
    expect(choice?.finish_reason).to.equal('tool_calls');
    expect(choice?.message.content).to.equal(null);
    expect(callsOf(choice?.message)).to.deep.equal(TOOL_CALLS);
    const results = TOOL_CALLS.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: 'calm' }));
    await client.chat.completions.create({
      ...ask,
      messages: [...messages, choice!.message, ...results],
      tools: WIRE_TOOLS,
    });
    const sent = setup.upstream.seen[1]?.json()['messages'] as any[];
    expect(sent).to.have.length(4);
    expect(sent[1].tool_calls).to.deep.equal(choice?.message.tool_calls);
    expect(sent.slice(2)).to.deep.equal(results);
  });

  it('assembles two parallel tool calls from streamed fragments', async () => {
    const setup = gatewayBefore(answering('tools'));
    const stream = openaiClient(setup).chat.completions.stream({ ...ask, tools: WIRE_TOOLS });
    const fragments: string[] = [];
    stream.on('tool_calls.function.arguments.delta', ({ name, arguments_delta: delta }) => {
      fragments.push(`${name} ${delta}`);
    });
    const {
      choices: [choice],
    } = await stream.finalChatCompletion();
    expect(callsOf(choice?.message)).to.deep.equal(TOOL_CALLS);
    expect(choice?.finish_reason).to.equal('tool_calls');
    expect(fragments.filter((fragment) => fragment.startsWith('tide ') && fragment.length > 5)).to.have.length(4);
    expect(fragments.filter((fragment) => fragment.startsWith('wind ') && fragment.length > 5)).to.have.length(3);
  });

  it('parses structured output, whole and streamed', async () => {
    const setup = gatewayBefore(answering('structured'));
    const { completions } = openaiClient(setup).chat;
    const format = {
      type: 'json_schema' as const,
      json_schema: { name: 'harbour', schema: HARBOUR_SCHEMA as any, strict: true },
    };
    const whole = await completions.parse({ ...ask, response_format: format });
    expect(whole.choices[0]?.message.parsed).to.deep.equal(HARBOUR);
    const streamed = await completions.stream({ ...ask, response_format: format }).finalChatCompletion();
    expect(streamed.choices[0]?.message.parsed).to.deep.equal(HARBOUR);
    for (const seen of setup.upstream.seen) expect(seen.json()['response_format']).to.deep.equal(format);
  });

  it('sees a refusal, whole and streamed', async () => {
    const setup = gatewayBefore(answering('refusal'));
    const { completions } = openaiClient(setup).chat;
    const whole = await completions.create(ask);
    expect(whole.choices[0]?.message).to.include({ content: null, refusal: 'I cannot help with that.' });
    const streamed = await completions.stream(ask).finalChatCompletion();
    expect(streamed.choices[0]?.message).to.include({ refusal: 'I cannot help with that.' });
  });

  it('receives log probabilities, whole and streamed', async () => {
    const setup = gatewayBefore(answering('logprobs'));
    const { completions } = openaiClient(setup).chat;
    const whole = await completions.create({ ...ask, logprobs: true, top_logprobs: 2 });
    const streamed = await completions.stream({ ...ask, logprobs: true, top_logprobs: 2 }).finalChatCompletion();
    for (const {
      choices: [choice],
    } of [whole, streamed]) {
      expect(choice?.logprobs?.content?.map(({ token, logprob }) => [token, logprob])).to.deep.equal([
        ['High', -0.0152],
        [' tide', -0.2031],
      ]);
      expect(choice?.logprobs?.content?.[1]?.top_logprobs[1]).to.deep.equal({
        token: ' water',
        logprob: -1.875,
        bytes: [32, 119, 97, 116, 101, 114],
      });
    }
    for (const seen of setup.upstream.seen) expect(seen.json()).to.include({ logprobs: true, top_logprobs: 2 });
  });

  it('sends text and images in one message, unchanged', async () => {
    const setup = gatewayBefore(answering('reply'));
    const content: OpenAI.ChatCompletionContentPart[] = [
      { type: 'text', text: 'what is on these?' },
      { type: 'image_url', image_url: { url: 'https://pictures.example/quay.png', detail: 'low' } },
      { type: 'image_url', image_url: { url: PIXEL } },
    ];
    await openaiClient(setup).chat.completions.create({ ...ask, messages: [{ role: 'user', content }] });
    expect(setup.upstream.seen[0]?.json()['messages']).to.deep.equal([{ role: 'user', content }]);
  });

  it('finds thoughts in reasoning_content, by whichever name the upstream sends them', async () => {
    let name = '';
    const setup = gatewayBefore(answering(() => name));
    const { completions } = openaiClient(setup).chat;
    for (name of ['reasoning', 'reasoning-content']) {
      const whole = await completions.create(ask);
      expect(whole.choices[0]?.message)
        .to.include({ content: 'Nine.', reasoning_content: 'Six plus three is nine.' })
        .and.not.have.property('reasoning');
      expect(whole.usage?.completion_tokens_details?.reasoning_tokens).to.equal(9);
      const chunks = await Array.fromAsync(await completions.create({ ...ask, stream: true }));
      const deltas = chunks.flatMap(({ choices }) =>
        choices.map(({ delta }) => delta as { content?: string; reasoning_content?: string }),
      );
      expect(deltas.map((delta) => delta.reasoning_content ?? '').join('')).to.equal('Six plus three is nine.');
      expect(deltas.map((delta) => delta.content ?? '').join('')).to.equal('Nine.');
      for (const delta of deltas) expect(delta).to.not.have.property('reasoning');
      expect(deltas.flatMap((delta) => ('role' in delta ? [delta.role] : []))).to.deep.equal(['assistant']);
    }
  });
});

function callsOf(message: OpenAI.ChatCompletionMessage | undefined): object[] {
  return (message?.tool_calls ?? []).map((call) => {
    if (call.type !== 'function') throw new Error(`a call of type ${call.type}`);
    return { id: call.id, name: call.function.name, input: JSON.parse(call.function.arguments) as unknown };
  });
}
