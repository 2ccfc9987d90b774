import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { ChatOpenAI } from '@langchain/openai';
import { streamText } from 'ai';
import OldAnthropic from 'anthropic-sdk-0137';
import { expect } from 'chai';
import OpenAI from 'openai';
import { eventually, MASTER_KEY } from '../kit/index.ts';
import { PIECES, silentGateway } from './kit.ts';

/** Streams an answer of a model, and gives its text piece by piece. */
type Streams = (url: string, model: string) => AsyncIterable<string>;

const messages = [{ role: 'user', content: 'hi' }] as const;
const once = { maxRetries: 0, apiKey: MASTER_KEY } as const;

const openai = (url: string): OpenAI => new OpenAI({ ...once, baseURL: `${url}/v1` });

async function* vercel(model: Parameters<typeof streamText>[0]['model']): AsyncIterable<string> {
  for await (const part of streamText({ model, prompt: 'hi', maxOutputTokens: 64, maxRetries: 0, onError: () => {} })
    .fullStream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'text-delta') yield part.text;
  }
}

async function* anthropic(client: Anthropic | OldAnthropic, model: string): AsyncIterable<string> {
  const stream = (client as Anthropic).messages.stream({ model, max_tokens: 64, messages: [...messages] });
  for await (const event of stream)
    if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') yield event.delta.text;
  expect((await stream.finalMessage()).stop_reason).to.equal('end_turn');
}

const CLIENTS: Readonly<Record<string, Streams>> = {
  'openai, chat': async function* chat(url, model) {
    const stream = await openai(url).chat.completions.create({ model, stream: true, messages: [...messages] });
    for await (const { choices } of stream) yield choices[0]?.delta.content ?? '';
  },
  'openai, chat helper': async function* helper(url, model) {
    const stream = openai(url).chat.completions.stream({ model, messages: [...messages] });
    for await (const { choices } of stream) yield choices[0]?.delta.content ?? '';
    expect(await stream.finalContent()).to.equal(PIECES.join(''));
  },
  'openai, Responses': async function* responses(url, model) {
    const stream = await openai(url).responses.create({ model, stream: true, input: 'hi' });
    for await (const event of stream) if (event.type === 'response.output_text.delta') yield event.delta;
  },
  'openai, Responses helper': async function* helper(url, model) {
    const stream = openai(url).responses.stream({ model, input: 'hi' });
    for await (const event of stream) if (event.type === 'response.output_text.delta') yield event.delta;
    expect((await stream.finalResponse()).output_text).to.equal(PIECES.join(''));
  },
  '@anthropic-ai/sdk': (url, model) => anthropic(new Anthropic({ ...once, baseURL: url }), model),
  '@anthropic-ai/sdk 0.137': (url, model) => anthropic(new OldAnthropic({ ...once, baseURL: url }), model),
  '@google/genai': async function* genai(url, model) {
    const ai = new GoogleGenAI({ apiKey: MASTER_KEY, httpOptions: { baseUrl: url, retryOptions: { attempts: 1 } } });
    for await (const { text } of await ai.models.generateContentStream({ model, contents: 'hi' })) yield text ?? '';
  },
  'AI SDK, chat': (url, model) =>
    vercel(createOpenAICompatible({ name: 'gw', baseURL: `${url}/v1`, apiKey: MASTER_KEY })(model)),
  'AI SDK, Responses': (url, model) => vercel(createOpenAI({ baseURL: `${url}/v1`, apiKey: MASTER_KEY })(model)),
  'AI SDK, Messages': (url, model) => vercel(createAnthropic({ baseURL: `${url}/v1`, apiKey: MASTER_KEY })(model)),
  'AI SDK, Gemini': (url, model) =>
    vercel(createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey: MASTER_KEY })(model)),
  LangChain: async function* langchain(url, model) {
    const chat = new ChatOpenAI({ ...once, model, configuration: { baseURL: `${url}/v1` } });
    for await (const { text } of await chat.stream('hi')) yield text;
  },
};

describe('a client whose stream was opened early, and was silent before its first event and after it', () => {
  for (const [name, streams] of Object.entries(CLIENTS))
    it(`gets the whole answer: ${name}`, async () => {
      const { host, clock, call } = await silentGateway();
      let text = '';
      const reading = (async () => {
        for await (const piece of streams(host.url, 'plain')) text += piece;
      })();
      const upstream = await call(0);
      clock.advance(45_000);
      for (let beat = 0; beat < 4; beat += 1) clock.advance(15_000);
      upstream.begin();
      await eventually(() => text === PIECES[0]);
      for (let beat = 0; beat < 5; beat += 1) clock.advance(15_000);
      upstream.finish();
      await reading;
      expect(text).to.equal(PIECES.join(''));
      expect(host.lines.filter(({ level }) => level === 'ERROR')).to.deep.equal([]);
    });

  for (const [name, streams] of Object.entries(CLIENTS))
    it(`learns of a failure of every target, and does not ask again: ${name}`, async () => {
      const { host, clock, call, calls } = await silentGateway();
      let text = '';
      const reading = (async () => {
        for await (const piece of streams(host.url, 'plain')) text += piece;
      })().then(
        () => undefined,
        (error: unknown) => error,
      );
      const upstream = await call(0);
      clock.advance(45_000);
      clock.advance(15_000);
      upstream.fail(500);
      const error = await reading;
      if (!QUIET.has(name)) expect((error as Error).message).to.include('the provider failed');
      expect(text).to.equal('');
      expect(calls).to.have.length(1);
    });
});

/** Iterating the raw events of Responses throws nothing: `response.failed` is one of them. */
const QUIET = new Set(['openai, Responses', 'openai, Responses helper']);
