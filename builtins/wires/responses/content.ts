import { invalidRequest } from '../../../host/common/invalid-request.ts';
import type { ContentPart, Fields } from '../../../host/contract/index.ts';
import { knownWord, WORDS } from '../words.ts';
import { isGiven, listAt, notCarried, objectAt, optionalString, stringAt, textAt, unknownType } from './checks.ts';

/** A text, or parts in the common wire. */
export type Content = string | readonly ContentPart[];

/** The content of a message, or the output of a call. */
export function readContent(value: unknown, path: string, lost: string[]): Content {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) throw invalidRequest(`${path} must be a string or a list of parts`);
  return listAt(value, path).map((part, at) => readPart(objectAt(part, `${path}[${at}]`), `${path}[${at}]`, lost));
}

/** Texts alone, as an answer of an earlier turn holds them. */
export function readTexts(value: unknown, path: string, lost: string[]): readonly string[] {
  const content = readContent(value, path, lost);
  if (typeof content === 'string') return [content];
  return content.map((part, at) => {
    if (part.type !== 'text') throw invalidRequest(`${path}[${at}] must be text: an answer holds nothing else`);
    return part.text;
  });
}

function readPart(part: Fields, path: string, lost: string[]): ContentPart {
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: stringAt(part['text'], `${path}.text`) };
    case 'refusal':
      return { type: 'text', text: stringAt(part['refusal'], `${path}.refusal`) };
    case 'input_image':
      return imagePart(part, path, lost);
    case 'input_file':
      return filePart(part, path, lost);
    case 'input_audio':
      return audioPart(part, path);
    default:
      throw unknownType(part['type'], path);
  }
}

const IMAGE_TYPES = /^image\/(?:jpeg|jpg|png|gif|webp)$/i;

function imagePart(part: Fields, path: string, lost: string[]): ContentPart {
  if (isGiven(part['file_id']))
    throw notCarried(`${path}.file_id`, 'names a file that only the vendor of this API keeps');
  const url = textAt(part['image_url'], `${path}.image_url`);
  checkAddress(url, `${path}.image_url`, IMAGE_TYPES);
  const asked = optionalString(part['detail'], `${path}.detail`);
  const known =
    asked === undefined ? undefined : knownWord(WORDS.responses.detail, asked, () => lost.push(`${path}.detail`));
  const detail = known === 'original' ? 'high' : known; // no other wire has a closer look than this
  return { type: 'image_url', image_url: { url, ...(detail !== undefined && { detail }) } };
}

const FILE_NAME = 'document.pdf';

function filePart(part: Fields, path: string, lost: string[]): ContentPart {
  if (isGiven(part['file_id']))
    throw notCarried(`${path}.file_id`, 'names a file that only the vendor of this API keeps');
  if ((optionalString(part['detail'], `${path}.detail`) ?? 'auto') !== 'auto') lost.push(`${path}.detail`); // files have none elsewhere
  const filename = optionalString(part['filename'], `${path}.filename`) ?? FILE_NAME;
  if (isGiven(part['file_url'])) {
    const address = textAt(part['file_url'], `${path}.file_url`);
    if (!WEB.test(address)) throw invalidRequest(`${path}.file_url must be an http or https address`);
    return { type: 'file', file: { file_data: address, filename } };
  }
  const data = textAt(part['file_data'], `${path}.file_data`);
  if (data.startsWith('data:')) checkAddress(data, `${path}.file_data`, undefined);
  else if (!isBase64(data, 0)) throw invalidRequest(`${path}.file_data is not base64`);
  return {
    type: 'file',
    file: { file_data: data.startsWith('data:') ? data : `data:application/pdf;base64,${data}`, filename },
  };
}

function audioPart(part: Fields, path: string): ContentPart {
  const audio = objectAt(part['input_audio'], `${path}.input_audio`);
  const data = textAt(audio['data'], `${path}.input_audio.data`);
  if (!isBase64(data, 0)) throw invalidRequest(`${path}.input_audio.data is not base64`);
  return { type: 'input_audio', input_audio: { data, format: textAt(audio['format'], `${path}.input_audio.format`) } };
}

const WEB = /^https?:\/\//i;
const DATA = /^data:([\w.+-]+\/[\w.+-]+)?((?:;[\w-]+=[^;,]{0,200})*);base64,/i;
/** More than the head of a data address may have. */
const MAX_HEAD = 1024;

/** An address on the web, or a data address of base64. */
function checkAddress(address: string, path: string, types: RegExp | undefined): void {
  if (WEB.test(address)) return;
  const head = DATA.exec(address.slice(0, MAX_HEAD));
  if (!head) throw invalidRequest(`${path} must be an http or https address, or a data address of base64`);
  if (types && !types.test(head[1] ?? ''))
    throw invalidRequest(`${path} must be an image of the type jpeg, png, gif or webp`);
  if (!isBase64(address, head[0].length)) throw invalidRequest(`${path} is not base64`);
}

const NOT_BASE64 = /[^A-Za-z0-9+/_-]/;
const PADDING = /^={0,2}\s{0,2}$/;

function isBase64(text: string, from: number): boolean {
  const data = text.slice(from);
  const end = data.search(NOT_BASE64);
  return end < 0 || PADDING.test(data.slice(end));
}
