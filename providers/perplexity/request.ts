import type { ContentPart } from 'gw/contract';
import {
  type ChatBody,
  type Fields,
  invalidRequest,
  isFields,
  isGiven,
  type Notes,
  withoutAbsent,
} from 'gw/common-wire';

/**
 * What the schema of requests has otherwise: formats and choices of its own, fewer efforts, files by their address. Source:
 * @perplexity-ai/perplexity_ai 0.38.5, ApiChatCompletionsRequest, 2026-11-22.
 */
export function adjust(body: ChatBody, notes: Notes): ChatBody {
  const { response_format: format, tool_choice: choice, reasoning_effort: effort } = body;
  const located = withPlace(body, notes);
  const isAnyJson = isFields(format) && format['type'] === 'json_object';
  return {
    ...(isGiven(effort) ? withEffort(located, notes) : located),
    ...(isAnyJson && { response_format: { type: 'json_schema', json_schema: { schema: { type: 'object' } } } }),
    ...(isFields(choice) && forced(choice, body)),
  };
}

/** A function can only be forced by leaving the others out. */
function forced({ function: named }: Fields, { tools }: ChatBody): Fields {
  const name = isFields(named) ? named['name'] : undefined;
  const kept = (Array.isArray(tools) ? tools : []).filter(
    (tool: unknown) => isFields(tool) && isFields(tool['function']) && tool['function']['name'] === name,
  );
  return { tool_choice: 'required', ...(kept.length > 0 && { tools: kept }) };
}

const EFFORTS: ReadonlyMap<unknown, string> = new Map([
  ['minimal', 'minimal'],
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
  ['xhigh', 'high'],
  ['max', 'high'],
]);

function withEffort({ reasoning_effort: effort, ...body }: ChatBody, notes: Notes): ChatBody {
  const known = EFFORTS.get(effort);
  if (known === undefined) notes.ignored.push('reasoning_effort');
  else if (known !== effort) notes.bounded.push('reasoning_effort');
  return known === undefined ? body : { ...body, reasoning_effort: known };
}

/** Every model searches; only the place where the user is has another form. Source: @perplexity-ai/perplexity_ai 0.38.5, WebSearchOptions, 2026-11-22. */
function withPlace(body: ChatBody, notes: Notes): ChatBody {
  const messages = body.messages.some(({ content }) => Array.isArray(content) && content.some(isFile))
    ? withFiles(body)
    : body.messages;
  const search = body['web_search_options'];
  const place = isFields(search) ? search['user_location'] : undefined;
  if (!isFields(search) || !isFields(place) || !isFields(place['approximate']))
    return messages === body.messages ? body : { ...body, messages };
  const { city, country, region, timezone } = place['approximate'];
  if (timezone !== undefined) notes.bounded.push('web_search_options');
  return {
    ...body,
    messages,
    web_search_options: { ...search, user_location: withoutAbsent({ city, country, region }) },
  };
}

const isFile = ({ type }: ContentPart): boolean => type === 'file';

function withFiles({ messages }: ChatBody): ChatBody['messages'] {
  return messages.map((message, at) =>
    Array.isArray(message.content)
      ? { ...message, content: message.content.map((part, place) => toPart(part, `messages[${at}].content[${place}]`)) }
      : message,
  );
}

/** A file is an address or bare base64. Source: Perplexity documentation, "File attachments", 2026-11-22. */
function toPart(part: ContentPart, at: string): ContentPart {
  if (!isFile(part)) return part;
  const { file_data: data, filename } = isFields(part['file']) ? part['file'] : {};
  if (typeof data !== 'string' || data === '')
    throw invalidRequest(`${at}: perplexity takes a file by its file_data only`);
  return {
    type: 'file_url',
    file_url: { url: data.replace(/^data:[^,]*,/, '') },
    ...(typeof filename === 'string' && filename !== '' && { file_name: filename }),
  } as unknown as ContentPart;
}
