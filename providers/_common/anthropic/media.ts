import { Buffer } from 'node:buffer';
import { isDataAddress, percentDecoded, readDataAddress } from '../data-address.ts';
import { type Fields, invalidRequest, isFields } from '../fields.ts';
import { fileAddress } from '../file-types.ts';
import type { MessagesVariant } from './variant.ts';

interface MediaData {
  readonly mediaType: string;
  readonly base64: string;
}

/** The block of an `image_url` part. Throws a 400 that names the part. See docs/providers.md#claude-models. */
export function imageBlock(image: unknown, at: string, variant: MessagesVariant): Fields {
  const url = isFields(image) ? image['url'] : undefined;
  if (typeof url !== 'string' || url === '') throw invalidRequest(`${at} is an image without a url`);
  return { type: 'image', source: sourceOf(url, at, variant) };
}

/** The block of a `file` part: a document, or an image. Throws a 400 for what the vendor does not take. */
export function fileBlock(file: unknown, at: string, variant: MessagesVariant): Fields {
  if (isFileId(file) && variant.keepsFiles) return namedFile(file);
  const { file_data: address, filename } = isFields(file) ? file : {};
  if (typeof address !== 'string' || address === '')
    throw invalidRequest(`${at}: ${variant.label} takes a file by its file_data only`);
  const title = typeof filename === 'string' && filename !== '' ? { title: filename } : {};
  const source = sourceOf(fileAddress(address, filename, at), at, variant);
  if (source['type'] === 'url') return { type: 'document', source, ...title };
  const mediaType = String(source['media_type']);
  if (mediaType.startsWith('image/')) return { type: 'image', source };
  if (mediaType === 'application/pdf') return { type: 'document', source, ...title };
  if (!mediaType.startsWith('text/'))
    throw invalidRequest(`${at}: ${variant.label} takes no files of the type ${mediaType}`);
  const text = Buffer.from(String(source['data']), 'base64').toString('utf8');
  return { type: 'document', source: { type: 'text', media_type: 'text/plain', data: text }, ...title };
}

/** Whether a file is named by the id that the vendor gave it. */
export function isFileId(file: unknown): file is Fields {
  return (
    isFields(file) && typeof file['file_id'] === 'string' && file['file_id'] !== '' && file['file_data'] === undefined
  );
}

/** An id does not tell what the file is; its name may. Source: platform.claude.com, "Files API", 2026-11-22. */
function namedFile({ file_id, filename }: Fields): Fields {
  const source = { type: 'file', file_id };
  if (typeof filename !== 'string' || filename === '') return { type: 'document', source };
  return /\.(png|jpe?g|gif|webp)$/i.test(filename)
    ? { type: 'image', source }
    : { type: 'document', source, title: filename };
}

function sourceOf(url: string, at: string, { label, fetchesMedia }: MessagesVariant): Fields {
  if (isDataAddress(url)) {
    const data = readDataUrl(url, fetchesMedia);
    if (!data)
      throw invalidRequest(
        `${at}: ${fetchesMedia ? 'its data address holds no data' : `${label} takes base64 data addresses only`}`,
      );
    return { type: 'base64', media_type: data.mediaType, data: data.base64 };
  }
  if (!fetchesMedia) throw invalidRequest(`${at}: ${label} takes base64 data addresses only`);
  return { type: 'url', url };
}

/** What is not base64 is percent-encoded bytes, and taken as it is where the encoding is broken. */
function readDataUrl(url: string, mayEncode: boolean): MediaData | undefined {
  const address = readDataAddress(url);
  if (!address) return undefined;
  const { mediaType: type, isBase64, data } = address;
  const mediaType = type === '' ? 'text/plain' : type;
  if (isBase64) return { mediaType, base64: data };
  return mayEncode ? { mediaType, base64: percentDecoded(data).toString('base64') } : undefined;
}
