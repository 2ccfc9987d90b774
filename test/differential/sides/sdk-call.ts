import type { LanguageModelV4CallOptions, LanguageModelV4Message } from '@ai-sdk/provider';
import type { Body } from '../generate/request.ts';
import { mediaOf, parsed } from '../meaning/meaning.ts';

type Fields = Record<string, any>;
type Prompt = LanguageModelV4Message[];

/**
 * A request as the toolkit's users write it. What has no place there (names, `logit_bias`, …) is left to the
 * options of the package, which the side fills.
 */
export function callOf(body: Body, namespace: string, options: Fields): LanguageModelV4CallOptions {
  const more = Object.keys(options).length > 0 ? { providerOptions: { [namespace]: options } } : {};
  const prompt = promptOf(body['messages'] as readonly Fields[], namespace);
  return {
    prompt,
    ...given({
      maxOutputTokens: body['max_completion_tokens'] ?? body['max_tokens'],
      temperature: body['temperature'],
      topP: body['top_p'],
      topK: body['top_k'],
      presencePenalty: body['presence_penalty'],
      frequencyPenalty: body['frequency_penalty'],
      seed: body['seed'],
      stopSequences: body['stop'] === undefined ? undefined : [body['stop']].flat(),
      tools: toolsOf(body, namespace),
      toolChoice: choiceOf(body['tool_choice']),
      responseFormat: formatOf(body['response_format']),
      reasoning: body['reasoning_effort'],
    }),
    ...more,
  };
}

const given = (members: Fields): Fields =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

function toolsOf({ tools }: Body, namespace: string): object[] | undefined {
  return (tools as readonly Fields[] | undefined)?.map(
    ({ function: { name, description, parameters, strict, cache_control: inner }, cache_control: mark = inner }) => ({
      type: 'function',
      name,
      ...given({ description, strict, ...cached(namespace, mark) }),
      inputSchema: parameters ?? { type: 'object', properties: {} },
    }),
  );
}

function choiceOf(choice: unknown): object | undefined {
  if (choice === undefined) return undefined;
  return typeof choice === 'string'
    ? { type: choice }
    : { type: 'tool', toolName: (choice as Fields)['function'].name };
}

function formatOf(format: Fields | undefined): object | undefined {
  if (!format || format['type'] === 'text') return undefined;
  const { schema, name, description } = (format['json_schema'] ?? {}) as Fields;
  return given({ type: 'json', schema, name, description });
}

const cached = (namespace: string, mark: unknown): Fields =>
  mark
    ? {
        providerOptions: {
          [namespace]: namespace === 'bedrock' ? { cachePoint: { type: 'default' } } : { cacheControl: mark },
        },
      }
    : {};

function promptOf(messages: readonly Fields[], namespace: string): Prompt {
  const prompt: Fields[] = [];
  const names = new Map<string, string>();
  for (const message of messages) {
    for (const call of message['tool_calls'] ?? []) names.set(call.id, call.function.name);
    const made = messageOf(message, names, namespace);
    const last = prompt.at(-1);
    if (made['role'] === 'tool' && last?.['role'] === 'tool') last['content'].push(...made['content']);
    else prompt.push(made);
  }
  return prompt as unknown as Prompt;
}

function messageOf(message: Fields, names: ReadonlyMap<string, string>, namespace: string): Fields {
  const mark = cached(namespace, message['cache_control']);
  switch (message['role']) {
    case 'system':
    case 'developer':
      return { role: 'system', content: textOf(message['content']), ...cached(namespace, markOf(message)) };
    case 'tool':
      return {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: message['tool_call_id'],
            toolName: names.get(message['tool_call_id']) ?? 'unknown',
            output: outputOf(message['content']),
          },
        ],
      };
    case 'assistant':
      return { role: 'assistant', content: saidOf(message, namespace), ...mark };
    default:
      return { role: 'user', content: partsOf(message['content'], namespace), ...mark };
  }
}

const markOf = ({ content, cache_control: mark }: Fields): unknown =>
  mark ?? (Array.isArray(content) ? content.find((part: Fields) => part['cache_control'])?.cache_control : undefined);
const textOf = (content: unknown): string =>
  Array.isArray(content)
    ? content.map(({ text }: Fields) => text ?? '').join('')
    : ((content as string | null | undefined) ?? '');

/** The toolkit hands JSON over as a value. */
function outputOf(content: unknown): object {
  const text = textOf(content);
  const value = parsed(text);
  return typeof value === 'object' && value !== null ? { type: 'json', value } : { type: 'text', value: text };
}

function partsOf(content: unknown, namespace: string): Fields[] {
  if (!Array.isArray(content)) return [{ type: 'text', text: textOf(content) }];
  return content.map((part: Fields) => ({ ...partOf(part), ...cached(namespace, part['cache_control']) }));
}

function partOf({ type, text, image_url: image, file, input_audio: audio, refusal }: Fields): Fields {
  if (type === 'image_url')
    return fileOf(
      mediaOf(image.url),
      'image/png',
      image.detail && {
        providerOptions: { openai: { imageDetail: image.detail }, azure: { imageDetail: image.detail } },
      },
    );
  if (type === 'file') return { ...fileOf(mediaOf(file.file_data), 'application/pdf'), filename: file.filename };
  if (type === 'input_audio') return { type: 'file', mediaType: 'audio/wav', data: { type: 'data', data: audio.data } };
  return { type: 'text', text: text ?? refusal };
}

function fileOf({ type, data, url }: Fields, usual: string, more: Fields = {}): Fields {
  return {
    type: 'file',
    mediaType: type ?? usual,
    data: url === undefined ? { type: 'data', data } : { type: 'url', url: new URL(url) },
    ...more,
  };
}

function saidOf(
  { content, reasoning_content: thoughts, reasoning_details: details, tool_calls: calls }: Fields,
  namespace: string,
): Fields[] {
  const signed = (details as readonly Fields[] | undefined)?.find(({ signature }) => signature !== undefined);
  const isSigned = signed !== undefined && ['anthropic', 'bedrock'].includes(namespace);
  const reasoning = thoughts
    ? [
        {
          type: 'reasoning',
          text: thoughts,
          ...(isSigned && { providerOptions: { [namespace]: { signature: signed['signature'] } } }),
        },
      ]
    : [];
  const isEmpty = content === null || content === undefined || content === '';
  return [
    ...reasoning,
    ...(isEmpty ? [] : partsOf(content, namespace)),
    ...(calls ?? []).map(({ id, function: { name, arguments: input } }: Fields) => ({
      type: 'tool-call',
      toolCallId: id,
      toolName: name,
      input: parsed(input || '{}'),
    })),
  ];
}
