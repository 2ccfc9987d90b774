import { streamText } from 'ai';
import { expect } from 'chai';
import { eventsOf } from '../kit/index.ts';
import { aiSdkModel, langchainModel, openaiClient, STREAMED_TEXT } from './support/clients.ts';
import { MODEL, type Setup, UPSTREAM_MODEL, withGateway } from './support/gateway.ts';
import { answering, fixtureChunks } from './support/upstream.ts';

const messages = [{ role: 'user' as const, content: 'when does the harbour open?' }];

/** A streamed call without any client library. */
async function streamed(
  setup: Setup,
  more: object = {},
): Promise<{ readonly headers: Headers; readonly text: string }> {
  const response = await fetch(`${setup.baseURL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${setup.gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, messages, stream: true, ...more }),
  });
  expect(response.status).to.equal(200);
  return { headers: response.headers, text: await response.text() };
}

/** What a client that asked for `model` must get for a fixture: that model, and usage without its zeros. */
function expectedChunks(name: string, model = MODEL): any[] {
  return fixtureChunks(name).map((chunk) => {
    expect(chunk.model).to.equal(UPSTREAM_MODEL);
    if (!chunk.usage) return { ...chunk, model };
    const {
      prompt_tokens,
      completion_tokens,
      total_tokens,
      prompt_tokens_details: { cached_tokens },
    } = chunk.usage;
    const cached =
      cached_tokens > 0 ? { cache_read_tokens: cached_tokens, prompt_tokens_details: { cached_tokens } } : {};
    return { ...chunk, model, usage: { prompt_tokens, completion_tokens, total_tokens, ...cached } };
  });
}

describe('streams of a gateway', () => {
  const gatewayBefore = withGateway();

  describe('a stream on the wire', () => {
    it('carries the chunks that the upstream sent, but for the model, under the headers of an event stream', async () => {
      let name = '';
      const setup = gatewayBefore(answering(() => name));
      for (name of ['stream', 'choices', 'tools', 'structured', 'refusal', 'logprobs']) {
        for (const model of [MODEL, UPSTREAM_MODEL]) {
          const { headers, text } = await streamed(setup, { model });
          expect(Object.fromEntries(headers)).to.include({
            'content-type': 'text/event-stream',
            'cache-control': 'no-cache',
            connection: 'keep-alive',
            'x-gateway-provider': 'openai',
            'x-gateway-target': 'openai',
            'x-gateway-model': model,
            'x-gateway-attempts': '1',
          });
          expect(text.split('\n').filter((line) => line !== '' && !line.startsWith('data: '))).to.deep.equal([]);
          expect(eventsOf(text), `${name} for ${model}`).to.deep.equal([
            ...expectedChunks(`${name}.sse`, model),
            '[DONE]',
          ]);
        }
      }
    });
  });

  describe('usage in a stream', () => {
    it('is sent to a client that asks for it, and to one that says nothing about it', async () => {
      const setup = gatewayBefore(answering('stream'));
      for (const options of [{}, { stream_options: null }, { stream_options: { include_usage: true } }]) {
        const events = eventsOf((await streamed(setup, options)).text);
        expect(events.at(-2), JSON.stringify(options)).to.deep.include({
          choices: [],
          usage: expectedChunks('stream.sse').at(-1).usage,
        });
        expect(setup.upstream.seen.at(-1)?.json()['stream_options']).to.deep.equal({ include_usage: true });
      }
    });

    const withheld: readonly (readonly [string, object])[] = [
      ['include_usage false', { stream_options: { include_usage: false } }],
      ['empty stream_options', { stream_options: {} }],
    ];
    for (const [what, options] of withheld) {
      it(`is withheld with ${what}, asked of the upstream all the same, and back for the next request`, async () => {
        let name = '';
        const setup = gatewayBefore(answering(() => name));
        for (name of ['structured', 'stream']) {
          for (const model of [MODEL, UPSTREAM_MODEL]) {
            const events = eventsOf((await streamed(setup, { ...options, model })).text);
            const wanted = expectedChunks(`${name}.sse`, model).map(({ usage: _usage, ...chunk }) => chunk);
            expect(events, `${name} for ${model}`).to.deep.equal([...wanted, '[DONE]']);
            expect(setup.upstream.seen.at(-1)?.json()['stream_options']).to.deep.equal({ include_usage: true });
          }
        }
        expect(eventsOf((await streamed(setup)).text).at(-2).usage).to.include({ total_tokens: 33 });
      });
    }

    it('does not disturb clients that never asked for it, nor its absence those that declined it', async () => {
      const setup = gatewayBefore(answering('stream'));
      const chunks = await Array.fromAsync(
        await openaiClient(setup).chat.completions.create({
          model: MODEL,
          messages,
          stream: true,
          stream_options: { include_usage: false },
        }),
      );
      expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).to.equal(STREAMED_TEXT);
      expect(chunks.filter(({ usage }) => usage)).to.deep.equal([]);
      const pieces = await Array.fromAsync(await langchainModel(setup, {}, { streamUsage: false }).stream(messages));
      expect(pieces.map((piece) => piece.text).join('')).to.equal(STREAMED_TEXT);
      expect(await streamText({ model: aiSdkModel(setup), messages, maxRetries: 0 }).text).to.equal(STREAMED_TEXT);
    });
  });
});
