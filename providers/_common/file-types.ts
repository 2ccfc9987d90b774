import { decodedUri } from 'gw/contract';
import { Buffer } from 'node:buffer';
import { invalidRequest } from './fields.ts';

/** Media types by the ending of a file's name, for data that does not say its own. */
const BY_ENDING: ReadonlyMap<string, string> = new Map([
  ['pdf', 'application/pdf'],
  ['json', 'application/json'],
  ['rtf', 'application/rtf'],
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
  ['csv', 'text/csv'],
  ['html', 'text/html'],
  ['xml', 'text/xml'],
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['heic', 'image/heic'],
  ['heif', 'image/heif'],
  ['mp3', 'audio/mp3'],
  ['wav', 'audio/wav'],
  ['aiff', 'audio/aiff'],
  ['aac', 'audio/aac'],
  ['ogg', 'audio/ogg'],
  ['flac', 'audio/flac'],
  ['mp4', 'video/mp4'],
  ['mpeg', 'video/mpeg'],
  ['mov', 'video/mov'],
  ['avi', 'video/avi'],
  ['webm', 'video/webm'],
  ['doc', 'application/msword'],
  ['xls', 'application/vnd.ms-excel'],
  ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
]);

/** The type that a file's name tells, by its ending. */
export function typeOfName(filename: unknown): string | undefined {
  const ending = typeof filename === 'string' ? filename.split('.').at(-1)?.toLowerCase() : undefined;
  return BY_ENDING.get(ending ?? '');
}

/** The type of a file that comes as bare base64. Throws a 400 that names the part where its name tells none. */
export function typeByName(filename: unknown, at: string): string {
  const type = typeOfName(filename);
  if (type === undefined)
    throw invalidRequest(`${at}: file_data must be a data address, or the filename tell the type`);
  return type;
}

/** `file_data` as an address: data that is bare base64 gets the type its file's name tells. */
export function fileAddress(data: string, filename: unknown, at: string): string {
  return /^[a-z]+:/i.test(data.slice(0, 8)) ? data : `data:${typeByName(filename, at)};base64,${data}`;
}

/** Media type of a data address, in lower case; empty for another address. */
export function typeOfAddress(address: string): string {
  return /^data:([^;,]*)/i.exec(address)?.[1]?.toLowerCase() ?? '';
}

/** What a data address of a text or of JSON says; `undefined` for every other address. */
export function textOfAddress(address: string): string | undefined {
  if (!/^(?:text\/|application\/json$)/.test(typeOfAddress(address))) return undefined;
  const comma = address.indexOf(',');
  const data = address.slice(comma + 1);
  return /;base64$/i.test(address.slice(0, comma)) ? Buffer.from(data, 'base64').toString('utf8') : decodedUri(data);
}
