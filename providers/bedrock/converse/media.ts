import { type Fields, invalidRequest, isFields } from 'gw/common-wire';
import { readDataAddress } from '../../_common/data-address.ts';
import { fileAddress } from '../../_common/file-types.ts';

const IMAGES: ReadonlyMap<string, string> = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpeg'],
  ['image/jpg', 'jpeg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
]);

/** Source: Amazon Bedrock API reference, "DocumentBlock", 2026-11-21. */
const DOCUMENTS: ReadonlyMap<string, string> = new Map([
  ['application/pdf', 'pdf'],
  ['text/csv', 'csv'],
  ['application/msword', 'doc'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/vnd.ms-excel', 'xls'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ['text/html', 'html'],
  ['text/plain', 'txt'],
  ['text/markdown', 'md'],
]);

/** Source: Amazon Bedrock API reference, "AudioBlock", 2026-11-21. */
const AUDIO = new Set([
  'mp3',
  'opus',
  'wav',
  'aac',
  'flac',
  'mp4',
  'ogg',
  'mkv',
  'mka',
  'x-aac',
  'm4a',
  'mpeg',
  'mpga',
  'pcm',
  'webm',
]);

/** The service fetches nothing: images come with the request. Throws a 400 that names the part. */
export function imageBlock(image: unknown, at: string): Fields {
  const { mediaType, bytes } = dataOf(isFields(image) ? image['url'] : image, at);
  const format = IMAGES.get(mediaType);
  if (format === undefined) throw invalidRequest(`${at}: bedrock takes no images of the type ${mediaType}`);
  return { image: { format, source: { bytes } } };
}

/** A document, or an image that came as a file. Throws a 400 that names the part. */
export function fileBlock(file: unknown, at: string, place: string): Fields {
  const { file_data: data, filename } = isFields(file) ? file : {};
  const address = typeof data === 'string' && data !== '' ? fileAddress(data, filename, at) : data;
  const { mediaType, bytes } = dataOf(address, at);
  if (mediaType.startsWith('image/')) return imageBlock(address, at);
  const format = DOCUMENTS.get(mediaType);
  if (format === undefined) throw invalidRequest(`${at}: bedrock takes no files of the type ${mediaType}`);
  return { document: { format, name: documentName(filename, place), source: { bytes } } };
}

export function audioBlock(audio: unknown, at: string): Fields {
  const { data, format } = isFields(audio) ? audio : {};
  if (typeof data !== 'string' || data === '') throw invalidRequest(`${at} is audio without data`);
  if (typeof format !== 'string' || !AUDIO.has(format))
    throw invalidRequest(`${at}: bedrock takes no audio of the format ${JSON.stringify(format ?? null)}`);
  return { audio: { format, source: { bytes: data } } };
}

interface MediaData {
  readonly mediaType: string;
  /** Base64. */
  readonly bytes: string;
}

function dataOf(address: unknown, at: string): MediaData {
  const data = typeof address === 'string' ? readDataAddress(address) : undefined;
  if (!data?.isBase64) throw invalidRequest(`${at}: bedrock takes base64 data addresses only`);
  return { mediaType: data.mediaType.toLowerCase(), bytes: data.data };
}

/**
 * Letters, digits, single spaces, hyphens, parentheses and brackets; each name once in a request, which its place sees to.
 * Source: Amazon Bedrock API reference, "DocumentBlock", 2026-11-21.
 */
function documentName(filename: unknown, place: string): string {
  const name = (typeof filename === 'string' ? filename : '')
    .replace(/\.[^.]*$/, '')
    .replace(/[^a-z\d ()[\]-]+/gi, ' ')
    .replace(/ +/g, ' ')
    .trim()
    .slice(0, 150);
  return `${name || 'document'} (${place})`;
}
