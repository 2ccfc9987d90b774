import { type ContentPart, type Fields, isFields, isText } from '../../../host/contract/index.ts';
import type { Notes } from '../notes.ts';

const IMAGE_TYPES: ReadonlySet<unknown> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const WEB_ADDRESS = /^https?:\/\//i;

/** The parts of an image; none where it is refused. See docs/reference/ingress.md#messages-the-conversation. */
export function imageParts({ source }: Readonly<Fields>, at: string, notes: Notes): ContentPart[] {
  const { type, media_type: mediaType, data, url } = isFields(source) ? source : {};
  if (type === 'base64') {
    if (!IMAGE_TYPES.has(mediaType))
      return refused(notes, `${at}.source.media_type must be image/jpeg, image/png, image/gif or image/webp`);
    if (!isBase64(data)) return refused(notes, `${at}.source.data is not base64`);
    return [{ type: 'image_url', image_url: { url: `data:${String(mediaType)};base64,${data}` } }];
  }
  if (type === 'url') {
    return isWebAddress(url)
      ? [{ type: 'image_url', image_url: { url } }]
      : refused(notes, `${at}.source.url is not an http or https address`);
  }
  return refused(notes, `${at}.source: only base64 and url sources reach a provider of another wire`);
}

/** The parts of a document: its texts, or a file. */
export function documentParts(block: Readonly<Fields>, at: string, notes: Notes): ContentPart[] {
  const { source, title, context } = block;
  const { type, media_type: mediaType, data, url, content } = isFields(source) ? source : {};
  if (isFields(block['citations']) && block['citations']['enabled'] === true) notes.lose(`${at}.citations`);
  const head = [title, context].filter(isText);
  switch (type) {
    case 'text':
      return typeof data === 'string'
        ? textPart([...head, data])
        : refused(notes, `${at}.source.data must be a string`);
    case 'content':
      return [...textPart(head), ...contentParts(content, `${at}.source.content`, notes)];
    case 'base64':
      if (mediaType !== 'application/pdf') return refused(notes, `${at}.source.media_type must be application/pdf`);
      if (!isBase64(data)) return refused(notes, `${at}.source.data is not base64`);
      return [
        {
          type: 'file',
          file: { file_data: `data:application/pdf;base64,${data}`, filename: isText(title) ? title : 'document.pdf' },
        },
      ];
    case 'url':
      return isWebAddress(url)
        ? [{ type: 'file', file: { file_data: url, ...(isText(title) && { filename: title }) } }]
        : refused(notes, `${at}.source.url is not an http or https address`);
    default:
      return refused(notes, `${at}.source: a document of this source does not reach a provider of another wire`);
  }
}

/** What a document holds as blocks: texts and images. */
function contentParts(content: unknown, at: string, notes: Notes): ContentPart[] {
  if (typeof content === 'string') return textPart([content]);
  if (!Array.isArray(content)) return refused(notes, `${at} must be a string or a list of blocks`);
  return content.flatMap((block: unknown, place) => {
    if (isFields(block) && block['type'] === 'text' && typeof block['text'] === 'string')
      return textPart([block['text']]);
    return isFields(block) && block['type'] === 'image'
      ? imageParts(block, `${at}[${place}]`, notes)
      : refused(notes, `${at}[${place}] is not a text or an image`);
  });
}

/** Title, source and texts of something that was found, a line each. */
export function searchResultParts(
  { title, source, content, citations }: Readonly<Fields>,
  at: string,
  notes: Notes,
): ContentPart[] {
  if (isFields(citations) && citations['enabled'] === true) notes.lose(`${at}.citations`);
  if (!Array.isArray(content)) return refused(notes, `${at}.content must be a list of blocks`);
  const texts = content.filter(isFields).map(({ text }) => text);
  return textPart([title, source, ...texts].filter(isText));
}

function textPart(lines: readonly string[]): ContentPart[] {
  const text = lines.join('\n');
  return text === '' ? [] : [{ type: 'text', text }];
}

function refused(notes: Notes, message: string): ContentPart[] {
  notes.refuse(message);
  return [];
}

const isBase64 = (data: unknown): data is string => isText(data) && data.length % 4 === 0 && BASE64.test(data);
const isWebAddress = (url: unknown): url is string =>
  typeof url === 'string' && WEB_ADDRESS.test(url) && URL.canParse(url);
