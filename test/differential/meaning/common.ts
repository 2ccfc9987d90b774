import { type Fields, given, mediaOf, type Meaning, schemaOf, type Tool, Turns } from './meaning.ts';

const READ = new Set([
  'model',
  'messages',
  'tools',
  'stop',
  'stop_sequences',
  'max_tokens',
  'max_completion_tokens',
  'stream_options',
  'response_format',
  'tool_choice',
]);
const MESSAGE = new Set([
  'role',
  'content',
  'tool_calls',
  'tool_call_id',
  'reasoning_content',
  'reasoning',
  'name',
  'cache_control',
]);

/** A body of the common wire, and of those that are close to it. */
export function readCommon(body: Fields): Meaning {
  const turns = new Turns();
  for (const message of body['messages'] as readonly Fields[]) readMessage(turns, message);
  return { turns: turns.all(), tools: (body['tools'] ?? []).map(readTool), settings: settingsOf(body) };
}

function settingsOf(body: Fields): Fields {
  const {
    stop,
    stop_sequences: sequences,
    max_tokens: most,
    max_completion_tokens: ceiling,
    response_format: format,
    tool_choice: choice,
  } = body;
  return given({
    ...Object.fromEntries(Object.entries(body).filter(([name]) => !READ.has(name))),
    max_tokens: ceiling ?? most,
    stop: stop === undefined && sequences === undefined ? undefined : [stop ?? sequences].flat(),
    response_format: readFormat(format),
    tool_choice: readChoice(choice),
  });
}

function readFormat(format: Fields | undefined): unknown {
  if (!format || format['type'] === 'text') return undefined;
  return given({
    ...format,
    ...(format['json_schema'] && {
      json_schema: given({
        name: format['json_schema'].name,
        schema: schemaOf(
          format['json_schema'].schema ?? format['json_schema'].schema_definition ?? format['json_schema'],
        ),
        strict: format['json_schema'].strict,
      }),
    }),
  });
}

/** The name of a function, or a word. */
export function readChoice(choice: unknown): unknown {
  if (typeof choice !== 'object' || choice === null) return typeof choice === 'string' ? choice.toLowerCase() : choice;
  const { type, function: named } = choice as Fields;
  return type === 'function' && typeof named?.name === 'string' ? `function ${named.name}` : choice;
}

function readTool({ type, function: declared, ...more }: Fields): Tool {
  if (!declared) return { name: String(more['name'] ?? type), type, ...more };
  const { name, description, parameters, ...rest } = declared as Fields;
  return { name, ...given({ description: description || undefined, schema: schemaOf(parameters), ...rest, ...more }) };
}

function readMessage(turns: Turns, message: Fields): void {
  const {
    content,
    tool_calls: calls,
    tool_call_id: id,
    reasoning_content: thoughts,
    reasoning = thoughts,
    name,
    cache_control: mark,
  } = message;
  const role = message['role'] === 'developer' ? 'system' : String(message['role']);
  if (reasoning) turns.add(role, 'thinking', { text: reasoning });
  if (role === 'tool') turns.result(id, resultOf(content));
  else if (Array.isArray(content)) for (const part of content) readPart(turns, role, part);
  else turns.text(role, content ?? '');
  for (const { id: callId, function: called, type: _type, index: _index, ...more } of calls ?? [])
    turns.call(callId, called?.name, called?.arguments, more);
  if (mark) turns.cache(role);
  if (name) turns.add(role, 'name', { name });
  for (const [field, value] of Object.entries(message))
    if (!MESSAGE.has(field) && value !== undefined && value !== null) turns.add(role, `field ${field}`, { value });
}

/** Texts of a result as one. */
function resultOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content ?? '';
  const isText = content.every(({ type }: Fields) => type === 'text' || type === 'document');
  return isText ? content.map(({ text, document }: Fields) => text ?? document?.data ?? '').join('') : content;
}

function readPart(turns: Turns, role: string, part: Fields): void {
  const {
    type,
    text,
    image_url: image,
    file,
    input_audio: audio,
    document_url: address,
    document_name: title,
    file_url: link,
    file_name: label,
    thinking,
    cache_control: mark,
    ...more
  } = part;
  if (type === 'text' || type === 'refusal') turns.text(role, text ?? more['refusal']);
  else if (type === 'image_url')
    turns.media(role, typeof image === 'string' ? mediaOf(image) : mediaOf(image?.url, { detail: image?.detail }));
  else if (type === 'file' || type === 'document_url')
    turns.media(role, mediaOf(file?.file_data ?? file?.file_id ?? address, { filename: file?.filename ?? title }));
  else if (type === 'file_url') turns.media(role, { ...mediaOf(link?.url ?? link), filename: label });
  else if (type === 'input_audio')
    turns.media(role, { type: 'audio', ...(typeof audio === 'string' ? { data: audio } : audio) });
  else if (type === 'thinking')
    turns.add(role, 'thinking', { text: (thinking as readonly Fields[]).map((piece) => piece['text']).join('') });
  else turns.add(role, `part ${String(type)}`, { ...more });
  if (mark) turns.cache(role);
}
