import { Buffer } from 'node:buffer';
import { invalidRequest } from '../../../../host/common/invalid-request.ts';
import { type ContentPart, quoted } from '../../../../host/contract/index.ts';
import { cannotCarry, type Lost, Members } from './members.ts';

/** What a part holds: one of these. Source: @google/genai 3.1.0, "Part", 2026-11-22. */
const KINDS = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
];
const BESIDE = ['thought', 'thoughtSignature'];
const DETAILS = ['videoMetadata', 'partMetadata', 'mediaResolution', 'speechMetadata', 'displayName'];
const PART = new Set([...KINDS, ...BESIDE, ...DETAILS]);
const INLINE = new Set(['mimeType', 'data', 'displayName']);
const FILE = new Set(['mimeType', 'fileUri', 'displayName']);

/** A part of the body, and which of the kinds it is; `undefined` for one that holds nothing but a signature. */
export interface OpenPart {
  readonly kind: string | undefined;
  readonly members: Members;
  readonly isThought: boolean;
  readonly signature: string | undefined;
}

/** Throws a 400 for a part that holds nothing, or two things. */
export function openPart(value: unknown, at: string, lost: Lost): OpenPart {
  const members = new Members(value, PART, at);
  const kinds = KINDS.filter((kind) => members.fields[kind] !== undefined);
  const [kind, second] = kinds;
  if (second !== undefined) throw invalidRequest(`${at} holds both ${kind} and ${second}`);
  const signature = members.text('thoughtSignature') || undefined;
  const unknown = Object.keys(members.fields).find((name) => !PART.has(name));
  if (kind === undefined && unknown !== undefined)
    throw cannotCarry(members.path(unknown), 'no other wire has such a part');
  const isThought = members.flag('thought') === true;
  if (kind === undefined && signature === undefined && !isThought) throw invalidRequest(`${at} holds nothing`);
  lost.addGiven(members.fields, DETAILS, at);
  lost.addUnknown(members.fields, PART, at);
  return { kind, members, isThought, signature };
}

/** Text and media in the common format; nothing for an empty text. Throws a 400 for parts of any other kind. */
export function contentParts({ kind, members }: OpenPart, lost: Lost): readonly ContentPart[] {
  switch (kind) {
    case undefined:
      return [];
    case 'text':
      return textPart(members.text('text'));
    case 'inlineData':
      return [inlinePart(new Members(members.object(kind), INLINE, members.path(kind)), lost)];
    case 'fileData':
      return [filePart(new Members(members.object(kind), FILE, members.path(kind)), lost)];
    case 'functionCall':
    case 'functionResponse':
      throw invalidRequest(`${members.path(kind)} stands in the wrong turn`);
    default:
      throw cannotCarry(members.path(kind), 'no other wire has such a part');
  }
}

const textPart = (text: string | undefined): readonly ContentPart[] => (text ? [{ type: 'text', text }] : []);

const AUDIO_FORMATS: ReadonlyMap<string, string> = new Map([
  ['audio/wav', 'wav'],
  ['audio/mp3', 'mp3'],
  ['audio/mpeg', 'mp3'],
]);
const MEDIA_TYPE = /^[\w-]+\/[\w.+-]+$/;
/** Both alphabets, with or without padding. Source: protobuf.dev, "ProtoJSON Format", `bytes`, 2026-11-22. */
const BASE64 = /^[\w+/-]+={0,2}$/;

function inlinePart(inline: Members, lost: Lost): ContentPart {
  const [type, data] = [typeOf(inline), inline.text('data') ?? ''];
  if (!type) throw invalidRequest(`${inline.path('mimeType')} is required`);
  if (!BASE64.test(data)) throw invalidRequest(`${inline.path('data')} is not base64`);
  const displayName = noteNames(inline, INLINE, lost);
  const url = `data:${type};base64,${plainBase64(data)}`;
  if (type.startsWith('image/')) return { type: 'image_url', image_url: { url } };
  const format = AUDIO_FORMATS.get(type);
  if (format !== undefined) return { type: 'input_audio', input_audio: { data: plainBase64(data), format } };
  if (type.startsWith('text/')) return { type: 'text', text: Buffer.from(data, 'base64').toString('utf8') };
  return {
    type: 'file',
    file: { file_data: url, filename: displayName ?? (type === 'application/pdf' ? 'document.pdf' : 'file') },
  };
}

/** The type without its parameters, in lower case. */
function typeOf(holder: Members): string | undefined {
  const given = holder.text('mimeType');
  if (!given) return undefined;
  const type = given.replace(/;.*$/s, '').trim().toLowerCase();
  if (!MEDIA_TYPE.test(type)) throw invalidRequest(`${holder.path('mimeType')} ${quoted(given)} is not a media type`);
  return type;
}

/** The standard alphabet, which all other wires want. */
function plainBase64(data: string): string {
  return /[-_]/.test(data) ? data.replaceAll('-', '+').replaceAll('_', '/') : data;
}

/** Names that the client shows are lost, but for the one that stands for a file's. */
function noteNames(holder: Members, known: ReadonlySet<string>, lost: Lost): string | undefined {
  lost.addUnknown(holder.fields, known, holder.path('').slice(0, -1));
  const name = holder.text('displayName') || undefined;
  if (name !== undefined) lost.add(holder.path('displayName'));
  return name;
}

/** What the vendor keeps itself. */
const KEPT = /^(?:gs:|https:\/\/generativelanguage\.googleapis\.com\/.*\/?files\/)/i;

function filePart(file: Members, lost: Lost): ContentPart {
  const url = file.text('fileUri') ?? '';
  if (KEPT.test(url)) throw cannotCarry(file.path('fileUri'), 'the file lies with its own vendor');
  if (!/^https?:\/\/[^/]/i.test(url)) throw invalidRequest(`${file.path('fileUri')} is not an http address`);
  noteNames(file, FILE, lost);
  const type = typeOf(file);
  if (type?.startsWith('image/')) return { type: 'image_url', image_url: { url } };
  return { type: 'file', file: { file_data: url, ...(type !== undefined && { format: type }) } };
}
