import Anthropic from '@anthropic-ai/sdk';
import { type Content, GoogleGenAI, type Part } from '@google/genai';
import { expect } from 'chai';
import OpenAI from 'openai';
import { forSuite, MASTER_KEY, startHost, type StubUpstream, stubUpstream, type TestHost } from '../kit/index.ts';
import { shippedGuards } from './support/guards.ts';
import { ANTHROPIC, COMMON, GEMINI } from './support/speakers.ts';

/**
 * What the vendors' own clients put together of a stream under a guard, beside the whole answer without one. The upstreams say what some guards take for
 * the beginning of a match, so ends are held and given out between the texts.
 */
const SPEAKERS = [COMMON, ANTHROPIC, GEMINI];
const PROMPT = 'how is the tide?';
const HEADERS = { 'x-request-id': 'one-and-the-same' };
const PARAMETERS = { type: 'object', properties: { harbour: { type: 'string' } } } as const;

type Ask = (url: string, model: string, isStreamed: boolean) => Promise<unknown>;

const messages: Ask = async (url, model, isStreamed) => {
  const client = new Anthropic({ baseURL: url, apiKey: MASTER_KEY, maxRetries: 0, defaultHeaders: HEADERS });
  const ask: Anthropic.MessageCreateParamsNonStreaming = {
    model,
    max_tokens: 2_000,
    thinking: { type: 'adaptive' },
    messages: [{ role: 'user', content: PROMPT }],
    tools: [{ name: 'tide', input_schema: PARAMETERS }],
  };
  const { content, stop_reason, usage } = isStreamed
    ? await client.messages.stream(ask).finalMessage()
    : await client.messages.create(ask);
  return { content: content.map(withoutMade), stop_reason, input: usage.input_tokens, output: usage.output_tokens };
};

const responses: Ask = async (url, model, isStreamed) => {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: MASTER_KEY, maxRetries: 0, defaultHeaders: HEADERS });
  const ask: OpenAI.Responses.ResponseCreateParamsNonStreaming = {
    model,
    input: PROMPT,
    reasoning: { summary: 'auto' },
    include: ['reasoning.encrypted_content'],
    tools: [{ type: 'function', name: 'tide', parameters: PARAMETERS, strict: false }],
  };
  const { output, output_text, status, usage } = isStreamed
    ? await client.responses.stream({ ...ask, stream: true }).finalResponse()
    : await client.responses.create(ask);
  return { output: output.map((item) => withoutMade(item)), output_text, status, usage };
};

/** Without the id that each answer makes anew, what a client's stream helper adds, and the `citations: null` that whole answers alone have. */
function withoutMade(item: object): object {
  const { id, type, citations: _none, parsed_arguments: _parsed, ...others } = item as Record<string, unknown>;
  const content = Array.isArray(others['content']) ? (others['content'] as Record<string, unknown>[]) : undefined;
  return {
    type,
    ...(type === 'tool_use' && { id }),
    ...others,
    ...(content && { content: content.map(({ parsed: _own, ...part }) => part) }),
  };
}

const chats: Ask = async (url, model, isStreamed) => {
  const ai = new GoogleGenAI({ apiKey: MASTER_KEY, httpOptions: { baseUrl: url, headers: HEADERS } });
  const chat = ai.chats.create({
    model,
    config: {
      thinkingConfig: { includeThoughts: true },
      tools: [{ functionDeclarations: [{ name: 'tide', parametersJsonSchema: PARAMETERS }] }],
    },
  });
  if (isStreamed) for await (const _piece of await chat.sendMessageStream({ message: PROMPT }));
  else await chat.sendMessage({ message: PROMPT });
  return partsOf(chat.getHistory());
};

/** The parts of the model's turn, neighbouring texts of a kind joined, as the history of a chat holds them piece by piece. */
function partsOf(history: readonly Content[]): Part[] {
  const joined: Part[] = [];
  for (const part of history.filter(({ role }) => role === 'model').flatMap(({ parts = [] }) => parts)) {
    const last = joined.at(-1);
    if (part.text === '' && part.thoughtSignature === undefined) continue;
    if (last?.text !== undefined && part.text !== undefined && last.thought === part.thought)
      joined.splice(-1, 1, { ...last, ...part, text: last.text + part.text });
    else joined.push(part);
  }
  return joined;
}

const CLIENTS: Readonly<Record<string, Ask>> = {
  'messages.stream of @anthropic-ai/sdk': messages,
  'responses.stream of openai': responses,
  'chats of @google/genai': chats,
};

async function vendors(): Promise<StubUpstream> {
  return stubUpstream((request, response) => {
    const speaker = SPEAKERS.find(({ target }) => request.url.startsWith(`/${target}/`)) ?? COMMON;
    return speaker.answer(request, response);
  });
}

async function gatewayWith(plugins: readonly object[]): Promise<TestHost> {
  const { url } = await vendors();
  return startHost(
    {
      strategy: { mode: 'fallback' },
      targets: SPEAKERS.map(({ target, model }) => ({ virtual_key: target, models: [model] })),
      responses: { translate: 'auto' },
      plugins,
    },
    {
      variables: Object.fromEntries(
        SPEAKERS.flatMap(({ target }) => [
          [`${target.toUpperCase()}_API_KEY`, 'vendor-key-0123456789'],
          [`${target.toUpperCase()}_BASE_URL`, `${url}/${target}`],
        ]),
      ),
    },
  );
}

describe('a stream under a guard that finds nothing, put together by the vendors’ clients', () => {
  const bare = forSuite(() => gatewayWith([]));

  for (const { name, plugins } of shippedGuards()) {
    describe(name, () => {
      const guarded = forSuite(async () => gatewayWith(await plugins()));

      for (const [client, ask] of Object.entries(CLIENTS))
        it(`is the whole answer: ${client}`, async () => {
          for (const { target, model } of SPEAKERS) {
            const streamed = await ask(guarded().url, model, true);
            expect(streamed, target).to.deep.equal(await ask(bare().url, model, false));
          }
        });
    });
  }
});
