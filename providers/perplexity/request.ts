import type { ContentPart } from 'gw/contract';
import { type ChatBody, isFields, type Notes, withoutAbsent } from 'gw/common-wire';

/** Every model searches; only the place where the user is has another form. Source: @perplexity-ai/perplexity_ai 0.38.5, WebSearchOptions, 2026-11-22. */
export function adjust(body: ChatBody, notes: Notes): ChatBody {
  const messages = body.messages.some(({ content }) => Array.isArray(content) && content.some(isFile)) ? withFiles(body) : body.messages;
  const search = body['web_search_options'];
  const place = isFields(search) ? search['user_location'] : undefined;
  if (!isFields(search) || !isFields(place) || !isFields(place['approximate'])) return messages === body.messages ? body : { ...body, messages };
  const { city, country, region, timezone } = place['approximate'];
  if (timezone !== undefined) notes.bounded.push('web_search_options');
  return { ...body, messages, web_search_options: { ...search, user_location: withoutAbsent({ city, country, region }) } };
}

const isFile = ({ type }: ContentPart): boolean => type === 'file';

function withFiles({ messages }: ChatBody): ChatBody['messages'] {
  return messages.map((message) => (Array.isArray(message.content) ? { ...message, content: message.content.map(toPart) } : message));
}

/** A file is an address or bare base64. Source: Perplexity documentation, "File attachments", 2026-11-22. */
function toPart(part: ContentPart): ContentPart {
  const file = isFile(part) ? part['file'] : undefined;
  if (!isFields(file) || typeof file['file_data'] !== 'string') return part;
  const { file_data: data, filename } = file;
  return { type: 'file_url', file_url: { url: data.replace(/^data:[^,]*,/, '') }, ...(typeof filename === 'string' && filename !== '' && { file_name: filename }) } as unknown as ContentPart;
}
