import { commonTranslators } from 'gw/common-wire';
import {
  type Answer,
  ask,
  chatReply,
  openSse,
  replyJson,
  sseEvent,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';

export const PATH = '/v1/chat/completions';

export interface Scene {
  readonly host: TestHost;
  readonly upstream: StubUpstream;
  /** A chat request with this text of the user, or these messages. */
  readonly chat: (text: string, request?: object) => Promise<Answer>;
  /** Messages that reached the upstream last. */
  readonly sent: () => any;
}

export interface Said {
  readonly content?: readonly string[];
  readonly reasoning_content?: readonly string[];
  readonly arguments?: readonly string[];
}

export interface SceneOptions {
  readonly config?: object;
  readonly stages?: readonly string[];
  /** What the upstream says, in pieces; or a function of the request. */
  readonly says?: Said | ((request: any) => Said);
  readonly more?: readonly object[];
  readonly usage?: object;
}

export const entry = (name: string, stage: string, config: object = {}): object => ({
  name,
  stage,
  enabled: true,
  config,
});

/** A gateway with one guardrail in front of an upstream that says something. */
export async function scene(
  name: string,
  { config = {}, stages = ['before_request'], says = { content: ['hello'] }, more = [] }: SceneOptions = {},
): Promise<Scene> {
  const upstream = await stubUpstream((seen, response) => {
    const request = seen.json();
    if (!seen.url.endsWith('/chat/completions')) replyJson(response, 200, otherReply(seen.url));
    else if (request['stream'] === true) streamed(response, typeof says === 'function' ? says(request) : says);
    else
      replyJson(
        response,
        200,
        chatReply('', {
          choices: [
            { index: 0, message: messageOf(typeof says === 'function' ? says(request) : says), finish_reason: 'stop' },
          ],
        }),
      );
  });
  const surfaces = [
    'chat',
    'embeddings',
    'rerank',
    'moderations',
    'images',
    'audio.transcriptions',
    'audio.speech',
  ] as const;
  const host = await startHost({
    targets: [upstream.target('a', {}, { translators: commonTranslators([...surfaces], {}) })],
    plugins: [...stages.map((stage) => entry(name, stage, config)), ...more],
  });
  return {
    host,
    upstream,
    chat: (text, request = {}) => host.post(PATH, ask(text, request)),
    sent: () => upstream.seen.at(-1)?.json()['messages'],
  };
}

function otherReply(url: string): object {
  if (url.endsWith('/embeddings'))
    return {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [1] }],
      model: 'm',
      usage: { prompt_tokens: 1, total_tokens: 1 },
    };
  if (url.endsWith('/rerank')) return { results: [{ index: 0, relevance_score: 1 }] };
  if (url.endsWith('/moderations'))
    return { id: 'x', model: 'm', results: [{ flagged: false, categories: {}, category_scores: {} }] };
  return { created: 1, data: [{ url: 'https://h/i.png' }] };
}

function messageOf({ content, reasoning_content: reasoning, arguments: args }: Said): object {
  return {
    role: 'assistant',
    content: content ? content.join('') : null,
    ...(reasoning && { reasoning_content: reasoning.join('') }),
    ...(args && { tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: args.join('') } }] }),
  };
}

function streamed(response: any, said: Said): void {
  openSse(response);
  const chunk = (delta: object, finish_reason: string | null = null): string =>
    sseEvent({
      id: 'x',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta, finish_reason }],
    });
  response.write(chunk({ role: 'assistant' }));
  for (const piece of said.reasoning_content ?? []) response.write(chunk({ reasoning_content: piece }));
  for (const piece of said.content ?? []) response.write(chunk({ content: piece }));
  for (const piece of said.arguments ?? [])
    response.write(
      chunk({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: piece } }] }),
    );
  response.write(chunk({}, 'stop'));
  response.end(
    sseEvent({
      id: 'x',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    }) + sseEvent('[DONE]'),
  );
}

/** What a client got of a stream, by kind of text. */
export function delivered(answer: Answer): { content: string; reasoning: string; arguments: string; last: any } {
  const events = answer.events();
  const deltas = events.map((event) => event.choices?.[0]?.delta ?? {});
  return {
    content: deltas.map(({ content }) => content ?? '').join(''),
    reasoning: deltas.map(({ reasoning_content: text }) => text ?? '').join(''),
    arguments: deltas.map(({ tool_calls: calls }) => calls?.[0]?.function?.arguments ?? '').join(''),
    last: events.at(-1),
  };
}

export const messageOfReply = (answer: Answer): any => answer.json().choices[0].message;
export const error = (answer: Answer): unknown[] => [
  answer.status,
  answer.json().error?.code,
  answer.json().error?.message,
];
export const verdicts = ({ host }: Scene): unknown[] =>
  host.samples
    .filter(({ name }) => name === 'gateway_guardrail_verdicts_total')
    .map(({ labels }) => [labels['stage'], labels['action']]);
/** Whether a text stands in any line or figure. */
export const isTold = ({ host }: Scene, text: string): boolean =>
  host.texts.some((line) => line.includes(text)) || JSON.stringify(host.samples).includes(text);
/** A text in pieces of so many characters. */
export const cut = (text: string, size: number): string[] =>
  Array.from({ length: Math.ceil(text.length / size) }, (_none, at) => text.slice(at * size, (at + 1) * size));
