import { type Fields, given, mediaOf, type Meaning, schemaOf, Turns } from './meaning.ts';

/** Fields that are read apart. */
const READ = new Set([
  'model',
  'input',
  'tools',
  'tool_choice',
  'max_output_tokens',
  'reasoning',
  'text',
  'store',
  'include',
]);

/** A body of the Responses API, by what a chat of the same meaning says. */
export function readResponses(body: Fields): Meaning {
  const turns = new Turns();
  for (const item of body['input'] as readonly Fields[]) readItem(turns, item);
  const { tools = [], tool_choice: choice, max_output_tokens: most, reasoning = {}, text = {} } = body;
  return {
    turns: turns.all(),
    tools: (tools as readonly Fields[]).map(({ type, name, description, parameters, ...more }) => ({
      name: name ?? type,
      ...given({ description: description || undefined, schema: schemaOf(parameters), ...more }),
    })),
    settings: given({
      ...Object.fromEntries(Object.entries(body).filter(([name]) => !READ.has(name))),
      max_tokens: most,
      reasoning_effort: reasoning.effort,
      verbosity: text.verbosity,
      response_format: text.format && formatOf(text.format),
      tool_choice: typeof choice === 'object' ? `function ${choice.name}` : choice,
    }),
  };
}

function formatOf({ type, ...schema }: Fields): Fields {
  return type === 'json_schema'
    ? { type, json_schema: given({ ...schema, schema: schemaOf(schema['schema']) }) }
    : { type };
}

function readItem(turns: Turns, item: Fields): void {
  const { type, role, content, call_id: id } = item;
  if (type === 'function_call') turns.call(id, item['name'], item['arguments']);
  else if (type === 'function_call_output') turns.result(id, resultOf(item['output']));
  else if (typeof content === 'string') turns.text(role, content);
  else for (const part of content as readonly Fields[]) readPart(turns, role === 'developer' ? 'system' : role, part);
}

function resultOf(output: unknown): unknown {
  if (!Array.isArray(output)) return output;
  return output.every(({ type }: Fields) => type === 'input_text')
    ? output.map(({ text }: Fields) => text).join('')
    : output;
}

function readPart(turns: Turns, role: string, part: Fields): void {
  const { type, text, image_url: image, detail, file_data: data, file_id: id, filename } = part;
  if (type === 'input_text') turns.text(role, text);
  else if (type === 'input_image')
    turns.media(role, mediaOf(image, { detail: detail === 'auto' ? undefined : detail }));
  else if (type === 'input_file') turns.media(role, mediaOf(data ?? id, { filename }));
  else turns.add(role, `part ${String(type)}`, part);
}
