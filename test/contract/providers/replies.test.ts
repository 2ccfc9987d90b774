import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import Joi from 'joi';
import { definePlugin } from 'gw/contract';
import {
  canonicalChat,
  CHAT,
  gatewayOf,
  readReply,
  sendText,
  sseEvent,
  temporaryFolder,
  valueOf,
  wireReply,
} from '../../kit/index.ts';
import { FACTS } from './facts.ts';
import { connected, factsOf, goldenJson } from './support.ts';

const answering =
  (body: unknown) =>
  (_request: unknown, response: Parameters<typeof sendText>[0]): void =>
    sendText(response, 200, 'application/json', JSON.stringify(body));

describe('chat replies', () => {
  it('of deepseek count cache hits and reasoning, whole and streamed', async () => {
    const facts = factsOf('deepseek');
    const expected = { prompt_tokens: 11, completion_tokens: 7, cache_read_tokens: 4, reasoning_tokens: 3 };
    const { host } = await gatewayOf(facts, ({ text }, response) =>
      sendText(
        response,
        200,
        'application/json',
        facts.golden(text.includes('"stream":true') ? 'stream.txt' : 'reply.json'),
      ),
    );
    expect((await host.post(CHAT, canonicalChat(facts))).json().usage).to.include(expected);
    expect(
      (await host.post(CHAT, canonicalChat(facts, { stream: true }))).events().findLast(({ usage }) => usage).usage,
    ).to.include(expected);
  });

  it('of deepseek count cache hits that only the flat field states', async () => {
    const facts = factsOf('deepseek');
    const { prompt_tokens_details: _details, ...usage } = goldenJson('deepseek/chat/reply.json').usage;
    const { host } = await gatewayOf(facts, answering({ ...goldenJson('deepseek/chat/reply.json'), usage }));
    expect((await host.post(CHAT, canonicalChat(facts))).json().usage).to.include({ cache_read_tokens: 4 });
  });

  it('of xai count reasoning as completion, and cost what the vendor bills, whole and streamed', async () => {
    // Numbers and bill of grok-4.20, whose price then was 1.25, 0.20 cached and 2.50 dollars. Source: Wei-Shaw/sub2api issue 5771, 2026-08-18.
    const facts = factsOf('xai');
    const usage = {
      prompt_tokens: 10_120,
      completion_tokens: 1499,
      total_tokens: 14_428,
      prompt_tokens_details: { cached_tokens: 128 },
      completion_tokens_details: { reasoning_tokens: 2809 },
    };
    const overlay = join(await temporaryFolder(), 'prices.json');
    await writeFile(
      overlay,
      JSON.stringify({
        [`xai/${facts.surfaces.chat.model}`]: {
          mode: 'chat',
          pricing: { input_per_m_tokens: 1.25, cache_read_per_m_tokens: 0.2, output_per_m_tokens: 2.5 },
        },
      }),
    );
    const costs: unknown[] = [];
    const spy = definePlugin({
      name: 'spy',
      type: 'logging',
      summary: 'Notes costs',
      stages: ['after_request'],
      settings: Joi.object({}),
      create: () => ({
        after_request: ({ measurements }) => {
          costs.push(measurements.costUsd);
        },
      }),
    });
    const { host } = await gatewayOf(
      facts,
      ({ text }, response) => {
        const isStream = text.includes('"stream":true');
        sendText(
          response,
          200,
          'application/json',
          isStream
            ? sseEvent(chunk({ content: 'x' })) + sseEvent({ ...end, usage }) + sseEvent('[DONE]')
            : JSON.stringify({ ...goldenJson('xai/chat/reply.json'), usage }),
        );
      },
      {
        config: {
          targets: [{ virtual_key: 'xai', models: [facts.surfaces.chat.model] }],
          plugins: [{ name: 'spy', stage: 'after_request', enabled: true }],
        },
        modules: [spy],
        variables: { GW_MODEL_CATALOG_OVERLAY: overlay },
      },
    );
    const expected = {
      prompt_tokens: 10_120,
      completion_tokens: 4308,
      total_tokens: 14_428,
      reasoning_tokens: 2809,
      cache_read_tokens: 128,
    };
    expect((await host.post(CHAT, canonicalChat(facts))).json().usage).to.include(expected);
    expect(
      (await host.post(CHAT, canonicalChat(facts, { stream: true }))).events().findLast(({ usage: counted }) => counted)
        .usage,
    ).to.include(expected);
    expect(costs).to.deep.equal([0.0232856, 0.0232856]);
  });

  it('of moonshot count cached tokens that stand beside the others, whole and streamed', async () => {
    const facts = factsOf('moonshot');
    const usage = { prompt_tokens: 19, completion_tokens: 21, total_tokens: 40, cached_tokens: 10 }; // Source: Moonshot AI documentation, "Chat", 2026-11-22.
    const { host } = await gatewayOf(facts, ({ text }, response) =>
      sendText(
        response,
        200,
        'application/json',
        text.includes('"stream":true')
          ? sseEvent(chunk({ content: 'x' })) + sseEvent({ ...end, usage }) + sseEvent('[DONE]')
          : JSON.stringify({ ...goldenJson('moonshot/chat/reply.json'), usage }),
      ),
    );
    const expected = {
      prompt_tokens: 19,
      completion_tokens: 21,
      total_tokens: 40,
      cache_read_tokens: 10,
      prompt_tokens_details: { cached_tokens: 10 },
    };
    expect((await host.post(CHAT, canonicalChat(facts))).json().usage).to.deep.equal(expected);
    expect(
      (await host.post(CHAT, canonicalChat(facts, { stream: true }))).events().findLast(({ usage: counted }) => counted)
        .usage,
    ).to.deep.equal(expected);
  });

  it('of databricks hold thoughts among the parts of the content, whole and streamed', async () => {
    // Source: Databricks documentation, "Query reasoning models", 2026-11-22.
    const facts = factsOf('databricks');
    const content = [
      {
        type: 'reasoning',
        summary: [
          { type: 'summary_text', text: 'Two ', signature: 's' },
          { type: 'summary_text', text: 'plus two.' },
        ],
      },
      { type: 'text', text: 'four' },
    ];
    const { host } = await gatewayOf(facts, ({ text }, response) =>
      sendText(
        response,
        200,
        'application/json',
        text.includes('"stream":true')
          ? content.map((part) => sseEvent(chunk({ content: [part] }))).join('') + sseEvent(end) + sseEvent('[DONE]')
          : JSON.stringify({
              ...goldenJson('databricks/chat/reply.json'),
              choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
            }),
      ),
    );
    expect((await host.post(CHAT, canonicalChat(facts))).json().choices[0].message).to.deep.equal({
      role: 'assistant',
      content: 'four',
      reasoning_content: 'Two plus two.',
    });
    const deltas = (await host.post(CHAT, canonicalChat(facts, { stream: true })))
      .events()
      .slice(0, -1)
      .map(({ choices: [choice] }) => choice.delta);
    expect(deltas.map(({ content: text, reasoning_content: thought }) => [text ?? '', thought ?? ''])).to.deep.equal([
      ['', 'Two plus two.'],
      ['four', ''],
      ['', ''],
    ]);
  });

  it('of perplexity keep what it found beside the answer as metadata, whole replies only', async () => {
    const facts = factsOf('perplexity');
    const { citations, search_results, images, related_questions } = goldenJson('perplexity/chat/reply.json');
    const { host } = await gatewayOf(facts, ({ text }, response) =>
      sendText(
        response,
        200,
        'application/json',
        facts.golden(text.includes('"stream":true') ? 'stream.txt' : 'reply.json'),
      ),
    );
    expect((await host.post(CHAT, canonicalChat(facts))).json().provider_metadata).to.deep.equal({
      citations,
      search_results,
      images,
      related_questions,
    });
    for (const event of (await host.post(CHAT, canonicalChat(facts, { stream: true }))).events())
      expect(event).to.not.have.property('provider_metadata');
  });

  it('of ai21 models before Jamba are completions, one choice each and no usage', async () => {
    const provider = await connected('ai21');
    const body = {
      id: 'c-1',
      completions: [
        { data: { text: 'one' }, finishReason: { reason: 'length' } },
        { data: { text: 'two' }, finishReason: { reason: 'endoftext' } },
      ],
    };
    const reply = readReply(
      provider,
      'chat',
      { model: 'j2-ultra', messages: [{ role: 'user', content: 'hi' }] },
      wireReply(body),
    );
    expect(reply).to.deep.include({ id: 'c-1' }).and.not.have.property('usage');
    expect(reply.choices.map(({ index, message: { role, content } }) => ({ index, role, content }))).to.deep.equal([
      { index: 0, role: 'assistant', content: 'one' },
      { index: 1, role: 'assistant', content: 'two' },
    ]);
    expect(reply.choices[0]?.finish_reason).to.equal('length');
  });
});

const chunk = (delta: object, more: object = {}): object => ({
  id: 'c',
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: null }],
  ...more,
});
const end = { id: 'c', model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };

/** Odd framing around an ordinary answer, and a chunk that comes too late. */
const ODD_STREAM = [
  ': ping\r\n\r\n',
  `data:${JSON.stringify(chunk({ role: 'assistant', content: 'conformance' }))}\r\n\r\n`,
  'data: {"broken\n\n',
  'event: x\nid: 7\n',
  `data: ${JSON.stringify(chunk({ content: ' ok' }, { error: null }))}\n\n`,
  `data: ${JSON.stringify({ ...end, error: {} })}\n\n`,
  sseEvent('[DONE]'),
  sseEvent(chunk({ content: 'too late' })),
].join('');

describe('chat answers that are unlike the others', () => {
  for (const facts of FACTS) {
    it(`are read at ${facts.name}: parts, reasoning under either name, tool calls, nothing invented`, async () => {
      const { host, answerWith } = await gatewayOf(facts);
      const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
      const messages = [
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'conformance' },
            { type: 'text', text: ' ok' },
          ],
        },
        { role: 'assistant', content: 'x', reasoning: 'because' },
        { role: 'assistant', content: '', tool_calls: [call] },
      ];
      const {
        citations: _c,
        search_results: _s,
        images: _i,
        related_questions: _r,
        ...plain
      } = JSON.parse(facts.golden('reply.json')) as Record<string, unknown>;
      const found = facts.name === 'perplexity' ? {} : { citations: ['https://h'] };
      answerWith(
        answering({
          ...plain,
          ...found,
          choices: messages.map((message, index) => ({
            index,
            message,
            finish_reason: index === 2 ? 'tool_calls' : 'stop',
          })),
        }),
      );
      const { choices, ...rest } = (await host.post(CHAT, canonicalChat(facts))).json();
      expect(rest).to.not.have.property('provider_metadata');
      expect(choices.map(({ message }: any) => message.content)).to.deep.equal(['conformance ok', 'x', null]);
      expect(choices[1].message).to.include({ reasoning_content: 'because' }).and.not.have.property('reasoning');
      expect(choices[2]).to.deep.include({ finish_reason: 'tool_calls' });
      expect(choices[2].message.tool_calls).to.deep.equal([call]);

      answerWith((_request, response) => sendText(response, 200, 'text/event-stream', ODD_STREAM));
      const events = (await host.post(CHAT, canonicalChat(facts, { stream: true }))).events();
      expect(
        events
          .slice(0, -1)
          .map(({ choices: [choice] }: any) => choice?.delta.content)
          .join(''),
      ).to.equal('conformance ok');
      expect(events.at(-1)).to.equal('[DONE]');

      const secret = facts.credential === undefined ? 'sk-abcdefghijklmnopqrstuvwxyz' : valueOf(facts.credential);
      for (const tail of [
        sseEvent({ error: { message: `overloaded by ${secret}`, type: 'x' } }),
        sseEvent({ error: { message: `overloaded by ${secret}` } }),
        '',
      ]) {
        answerWith((_request, response) =>
          sendText(response, 200, 'text/event-stream', sseEvent(chunk({ role: 'assistant', content: 'a' })) + tail),
        );
        const { text } = await host.post(CHAT, canonicalChat(facts, { stream: true }));
        expect(text, 'a stream that broke').to.include('"error"').and.not.include('[DONE]').and.not.include(secret);
        if (tail !== '') expect(text).to.include('overloaded by');
      }
    });
  }
});
