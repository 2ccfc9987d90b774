import { type Fields, given, type Meaning, others, schemaOf, type Tool, Turns } from './meaning.ts';

const READ = [
  'model',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'temperature',
  'top_p',
  'top_k',
  'max_tokens',
  'stop_sequences',
  'stream',
  'thinking',
  'metadata',
  'output_config',
  'anthropic_version',
  'anthropic_beta',
  'service_tier',
];

/** A body of the Messages wire. */
export function readAnthropic(body: Fields): Meaning {
  const turns = new Turns();
  for (const block of blocksOf(body['system'])) readBlock(turns, 'system', block);
  for (const { role, content } of body['messages'] as readonly Fields[])
    for (const block of blocksOf(content)) readBlock(turns, role, block);
  return { turns: turns.all(), tools: (body['tools'] ?? []).map(readTool), settings: settingsOf(body) };
}

const blocksOf = (content: unknown): readonly Fields[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : ((content ?? []) as readonly Fields[]);

function settingsOf(body: Fields): Fields {
  const {
    temperature,
    top_p,
    top_k,
    max_tokens,
    stop_sequences: stop,
    stream,
    thinking,
    metadata,
    output_config: output,
    service_tier,
    tool_choice: choice,
  } = body;
  const { effort, format, ...more } = (output ?? {}) as Fields;
  return given({
    temperature,
    top_p,
    top_k,
    max_tokens,
    stop: stop?.length > 0 ? stop : undefined,
    stream: stream || undefined,
    thinking,
    user: metadata?.user_id,
    effort,
    service_tier,
    response_format: format && given({ ...format, schema: schemaOf(format.schema) }),
    tool_choice: choiceOf(choice),
    parallel_tool_calls: choice?.disable_parallel_tool_use ? false : undefined,
    ...others(body, READ),
    ...others(more, [], 'other.output_config'),
  });
}

function choiceOf(choice: Fields | undefined): unknown {
  if (!choice) return undefined;
  const { type, name } = choice;
  if (type === 'tool') return `function ${String(name)}`;
  return type === 'any' ? 'required' : type;
}

function readTool({ name, description, input_schema: schema, type, ...more }: Fields): Tool {
  return {
    name,
    ...given({
      description: description || undefined,
      schema: schemaOf(schema),
      type: type === 'custom' ? undefined : type,
      ...more,
    }),
  };
}

function readBlock(turns: Turns, role: string, block: Fields): void {
  const { type, cache_control: mark, ...more } = block;
  switch (type) {
    case 'text':
      turns.text(role, more['text']);
      break;
    case 'image':
    case 'document':
      turns.media(role, {
        ...sourceOf(more['source']),
        filename: more['title'] ?? undefined,
        ...others(more, ['source', 'title'], ''),
      });
      break;
    case 'thinking':
      turns.add(role, 'thinking', { text: more['thinking'], signature: more['signature'] });
      break;
    case 'redacted_thinking':
      turns.add(role, 'sealed thinking', { data: more['data'] });
      break;
    case 'tool_use':
      turns.call(more['id'], more['name'], more['input'], others(more, ['id', 'name', 'input'], ''));
      break;
    case 'tool_result':
      turns.result(more['tool_use_id'], resultOf(more['content']));
      break;
    default:
      turns.add(role, `part ${String(type)}`, more);
  }
  if (mark) turns.cache(role);
}

function sourceOf({ type, media_type, data, url, ...more }: Fields): Fields {
  if (type === 'url') return { url };
  return type === 'text'
    ? { type: media_type, data: Buffer.from(String(data)).toString('base64') }
    : { type: media_type, data, ...more };
}

function resultOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content ?? '';
  return content.every(({ type }: Fields) => type === 'text')
    ? content.map(({ text }: Fields) => text).join('')
    : content;
}
