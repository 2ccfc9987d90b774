import { type Fields, given, type Meaning, others, schemaOf, type Tool, Turns } from './meaning.ts';

const READ = [
  'messages',
  'system',
  'inferenceConfig',
  'toolConfig',
  'additionalModelRequestFields',
  'outputConfig',
  'schemaVersion',
];

/** A body of Converse, or of Nova's own wire. */
export function readConverse(body: Fields): Meaning {
  const turns = new Turns();
  for (const block of body['system'] ?? []) readBlock(turns, 'system', block);
  for (const { role, content } of body['messages'] as readonly Fields[])
    for (const block of content) readBlock(turns, role, block);
  const tools = ((body['toolConfig']?.tools ?? []) as readonly Fields[]).map(readTool);
  return { turns: turns.all(), tools, settings: settingsOf(body) };
}

function settingsOf(body: Fields): Fields {
  const config: Fields = body['inferenceConfig'] ?? {};
  const choice: Fields | undefined = body['toolConfig']?.toolChoice;
  return given({
    temperature: config['temperature'],
    top_p: config['topP'],
    top_k: config['topK'],
    max_tokens: config['maxTokens'],
    stop: config['stopSequences']?.length > 0 ? config['stopSequences'] : undefined,
    tool_choice: choiceOf(choice),
    response_format: body['outputConfig']?.textFormat,
    ...others(config, ['temperature', 'topP', 'topK', 'maxTokens', 'stopSequences']),
    ...others((body['additionalModelRequestFields'] ?? {}) as Fields, [], 'model'),
    ...others(body, READ),
  });
}

function choiceOf(choice: Fields | undefined): unknown {
  if (!choice) return undefined;
  if (choice['tool']) return `function ${String(choice['tool'].name)}`;
  return choice['any'] ? 'required' : 'auto';
}

function readTool({ toolSpec: spec, ...more }: Fields): Tool {
  if (!spec) return { name: Object.keys(more).join(' '), ...more };
  const { name, description, inputSchema: schema, ...rest } = spec as Fields;
  return { name, ...given({ description: description || undefined, schema: schemaOf(schema?.json), ...rest }) };
}

function readBlock(turns: Turns, role: string, block: Fields): void {
  const {
    text,
    image,
    document,
    toolUse: call,
    toolResult: result,
    reasoningContent: thoughts,
    cachePoint: mark,
    ...more
  } = block;
  if (text !== undefined) turns.text(role, text);
  for (const media of [image, document])
    if (media) turns.media(role, { format: media.format, data: media.source?.bytes, filename: media.name });
  if (call) turns.call(call.toolUseId, call.name, call.input);
  if (result) turns.result(result.toolUseId, resultOf(result.content));
  if (thoughts) turns.add(role, 'thinking', thoughts.reasoningText ?? thoughts);
  if (mark) turns.cache(role);
  for (const [name, value] of Object.entries(more)) turns.add(role, `part ${name}`, { value });
}

function resultOf(content: readonly Fields[]): unknown {
  const isPlain = content.every((block) => 'text' in block || 'json' in block);
  return isPlain ? content.map((block) => block['text'] ?? JSON.stringify(block['json'])).join('') : content;
}
