import type { ContentPart } from 'gw/contract';
import { type Fields, invalidRequest, isFields } from 'gw/common-wire';
import { isDataAddress, percentDecoded, readDataAddress } from '../_common/data-address.ts';
import { typeByName, typeOfName } from '../_common/file-types.ts';

/** Kinds of files the vendor reads. Source: ai.google.dev, "Document understanding" and "Files API", 2026-11-21. */
const READABLE =
  /^(?:(?:image|audio|video|text)\/[\w.+-]+|application\/(?:pdf|json|rtf|x-javascript|x-typescript|x-python-code))$/;
/** Source: ai.google.dev, "Audio understanding", supported formats, 2026-11-21. */
const AUDIO_FORMATS = new Set<unknown>(['wav', 'mp3', 'aiff', 'aac', 'ogg', 'flac']);

/** The native part of a content part; `undefined` for an empty text. Throws a 400 that names the part. */
export function toParts(part: ContentPart, at: string): readonly Fields[] {
  switch (part.type) {
    case 'text':
      return textParts(part.text);
    case 'refusal':
      return textParts(part.refusal); // what the model once said instead of an answer
    case 'image_url':
      return [imagePart(part.image_url, at)];
    case 'input_audio':
      return [audioPart(part.input_audio, at)];
    case 'file':
      return [filePart(part.file, at)];
    default:
      throw invalidRequest(`${at}: gemini takes no ${(part as { type: string }).type} parts`);
  }
}

/** The vendor refuses empty texts. */
export const textParts = (text: unknown): readonly Fields[] =>
  typeof text === 'string' && text !== '' ? [{ text }] : [];

function imagePart(image: unknown, at: string): Fields {
  const { url, format } = isFields(image) ? image : {};
  if (typeof url !== 'string' || url === '') throw invalidRequest(`${at} is an image without a url`);
  return isDataAddress(url)
    ? { inlineData: dataOf(url, at) }
    : fileAt(url, saidType(format) ?? typeInAddress(url) ?? 'image/jpeg');
}

/** A type as the caller says it: `image/png`. */
const saidType = (format: unknown): string | undefined =>
  typeof format === 'string' && /^[\w-]+\/[\w.+-]+$/.test(format) ? format : undefined;

const typeInAddress = (url: string): string | undefined =>
  typeOfName(
    url
      .replace(/[?#].*$/s, '')
      .split('/')
      .at(-1),
  );

/** The vendor wants the type beside the address. It knows that of files it keeps, and of videos by their page. Source: ai.google.dev, "Files API", "Video understanding", 2026-11-22. */
const fileAt = (fileUri: string, mimeType: string | undefined): Fields => ({
  fileData: { ...(mimeType !== undefined && { mimeType }), fileUri },
});

function audioPart(audio: unknown, at: string): Fields {
  const { data, format } = isFields(audio) ? audio : {};
  if (typeof data !== 'string' || data === '') throw invalidRequest(`${at} is audio without data`);
  if (!AUDIO_FORMATS.has(format))
    throw invalidRequest(`${at}: gemini takes no audio of the format ${JSON.stringify(format ?? null)}`);
  return { inlineData: { mimeType: `audio/${String(format)}`, data } };
}

/** Data, as a data address or as bare base64 of a file whose name tells its type; or the address of a file the vendor holds. */
function filePart(file: unknown, at: string): Fields {
  const { file_data: data, file_id: id, filename, format } = isFields(file) ? file : {};
  if (typeof data === 'string' && /^https?:\/\//i.test(data))
    return fileAt(data, saidType(format) ?? typeOfName(filename) ?? typeInAddress(data));
  if (typeof data === 'string' && data !== '') {
    const inlineData = isDataAddress(data) ? dataOf(data, at) : { mimeType: typeByName(filename, at), data };
    if (!READABLE.test(inlineData.mimeType))
      throw invalidRequest(`${at}: gemini takes no files of the type ${inlineData.mimeType}`);
    return { inlineData };
  }
  if (typeof id === 'string' && /^(?:https?|gs):\/\//.test(id))
    return fileAt(id, saidType(format) ?? typeOfName(filename) ?? typeInAddress(id));
  throw invalidRequest(`${at}: gemini takes a file by its file_data, or by the address of an uploaded file as file_id`);
}

interface InlineData {
  readonly mimeType: string;
  readonly data: string;
}

/** What is not base64 is percent-encoded bytes. */
function dataOf(url: string, at: string): InlineData {
  const address = readDataAddress(url);
  if (!address || address.mediaType === '')
    throw invalidRequest(`${at}: its data address names no type, or holds no data`);
  const { mediaType: mimeType, isBase64, data } = address;
  return { mimeType, data: isBase64 ? data : percentDecoded(data).toString('base64') };
}
