import type { ChatChunk, ChatReply, ChatTranslator, ModelFacts, ProviderModule, ViaResponses } from 'gw/contract';
import { commonTranslators } from 'gw/common-wire';
import {
  chatChunks,
  chatReply,
  openSse,
  replyJson,
  sseEvent,
  type StubHandler,
  type StubUpstream,
} from '../kit/index.ts';

type Json = Record<string, any>;

/**
 * A service that answers chats by two APIs. What differs of the second one does not matter here: it takes the conversation as
 * `input`, and answers with what the common wire calls a message.
 */
const SECOND: ViaResponses = {
  isAutomatic: true,
  toUpstream: ({ messages, tools, reasoning_effort: effort, reasoning }, { model, stream, wantsThoughts, facts }) => ({
    path: '/responses',
    body: {
      model,
      input: messages,
      ...(stream && { stream }),
      ...(tools && { tools }),
      ...(facts?.thoughts_back === 'sealed' && { include: ['reasoning.encrypted_content'] }),
      reasoning: {
        ...(reasoning as object),
        ...(typeof effort === 'string' && { effort }),
        ...(wantsThoughts === true && facts?.summaries !== false && { summary: 'auto' }),
      },
    },
  }),
  fromUpstream: (reply) => (reply.json() as Json)['answer'] as ChatReply,
  openStream: () => (event) => [(JSON.parse(event.data) as Json)['chunk'] as ChatChunk],
};

export const twofold = (more: Partial<ViaResponses> = {}): Partial<ProviderModule> => ({
  chatTraits: { history: { late_system: true }, fields: ['verbosity'] },
  translators: {
    chat: { ...(commonTranslators(['chat'], {}).chat as ChatTranslator), viaResponses: { ...SECOND, ...more } },
  },
});

/** A target whose service has two APIs, and whose model reasons and has these facts. */
export const twofoldTarget = (upstream: StubUpstream, name: string, facts: ModelFacts, more: object = {}): object =>
  upstream.target(name, { model_facts: [{ models: ['*'], as: 'openai/gpt-5', set: facts }], ...more }, twofold());

/** Answers either API, whole or streamed. */
export const answers =
  (message: object = { content: 'hello' }): StubHandler =>
  (request, response) => {
    const isSecond = request.url.endsWith('/responses');
    const reply = chatReply('hello') as Json;
    reply['choices'][0].message = { role: 'assistant', ...message };
    if (request.json()['stream'] !== true) {
      replyJson(response, 200, isSecond ? { error: null, answer: reply } : reply);
      return;
    }
    openSse(response);
    const chunks = chatChunks(['hel', 'lo']);
    for (const chunk of chunks) response.write(sseEvent(isSecond ? { chunk } : chunk));
    response.end('data: [DONE]\n\n');
  };

export const TOOL = { type: 'function', function: { name: 'look', description: '', parameters: { type: 'object' } } };

const levelOf = (effort: string | undefined): object => {
  if (effort === undefined) return {};
  return effort === 'none' ? { thinkingBudget: 0 } : { thinkingLevel: effort.toUpperCase() };
};

/** Clients of each wire, each asking for the same: tools, an effort, thoughts. */
export interface Client {
  readonly name: string;
  /** What it calls an effort in the loss report. */
  readonly effortPath: string;
  readonly ask: (asking: {
    readonly streaming: boolean;
    readonly effort?: string | undefined;
    readonly hasTools?: boolean;
    readonly wantsThoughts?: boolean;
  }) => { readonly path: string; readonly body: object };
}

export const CLIENTS: readonly Client[] = [
  {
    name: 'chat',
    effortPath: 'reasoning_effort',
    ask: ({ streaming, effort, hasTools, wantsThoughts }) => ({
      path: '/v1/chat/completions',
      body: {
        model: 'm',
        messages: [{ role: 'user', content: 'hi' }],
        ...(effort && { reasoning_effort: effort }),
        ...(hasTools && { tools: [TOOL] }),
        ...(wantsThoughts && { include_reasoning: true }),
        ...(streaming && { stream: true }),
      },
    }),
  },
  {
    name: 'Messages',
    effortPath: 'output_config.effort',
    ask: ({ streaming, effort, hasTools, wantsThoughts }) => ({
      path: '/v1/messages',
      body: {
        model: 'm',
        max_tokens: 64,
        messages: [{ role: 'user', content: 'hi' }],
        ...(effort && (effort === 'none' ? { thinking: { type: 'disabled' } } : { output_config: { effort } })),
        ...(hasTools && { tools: [{ name: 'look', input_schema: { type: 'object' } }] }),
        ...(wantsThoughts && { thinking: { type: 'adaptive' } }),
        ...(streaming && { stream: true }),
      },
    }),
  },
  {
    name: 'Gemini',
    effortPath: 'generationConfig.thinkingConfig',
    ask: ({ streaming, effort, hasTools, wantsThoughts }) => ({
      path: `/v1beta/models/m:${streaming ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
      body: {
        contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
        ...(hasTools && { tools: [{ functionDeclarations: [{ name: 'look', description: 'd' }] }] }),
        ...((effort ?? wantsThoughts) && {
          generationConfig: {
            thinkingConfig: { ...levelOf(effort), includeThoughts: wantsThoughts },
          },
        }),
      },
    }),
  },
  {
    name: 'Responses',
    effortPath: 'reasoning.effort',
    ask: ({ streaming, effort, hasTools, wantsThoughts }) => ({
      path: '/v1/responses',
      body: {
        model: 'm',
        input: 'hi',
        ...(hasTools && { tools: [{ type: 'function', name: 'look', parameters: { type: 'object' } }] }),
        ...((effort ?? wantsThoughts) && {
          reasoning: { ...(effort && { effort }), ...(wantsThoughts && { summary: 'auto' }) },
        }),
        ...(streaming && { stream: true }),
      },
    }),
  },
];

/** Requests of the Responses API are translated for this target. */
export const TRANSLATED = { responses: { translate: 'auto' } };
