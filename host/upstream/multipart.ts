import { randomUUID } from 'node:crypto';
import type { FormFile, FormPart, UploadedFile } from '../contract/index.ts';

export interface EncodedForm {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * A `multipart/form-data` body (RFC 7578) whose files are streamed. The boundary is random and ours, so that no file can
 * hold it and pass for further fields.
 */
export function encodeForm(parts: readonly FormPart[]): EncodedForm {
  const boundary = `gw-${randomUUID()}`;
  const heads = parts.map((part) => Buffer.from(headOf(part, boundary)));
  const end = Buffer.from(`--${boundary}--\r\n`);
  const length = parts.reduce(
    (sum, part, place) => sum + (heads[place]?.length ?? 0) + contentBytes(part) + LINE_END.length,
    end.length,
  );
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}`, 'content-length': String(length) },
    body: pieces(parts, heads, end),
  };
}

const LINE_END = Buffer.from('\r\n');

async function* pieces(
  parts: readonly FormPart[],
  heads: readonly Uint8Array[],
  end: Uint8Array,
): AsyncGenerator<Uint8Array> {
  for (const [place, part] of parts.entries()) {
    yield heads[place] ?? LINE_END;
    if ('file' in part) yield* part.file.open();
    else yield Buffer.from(part.value);
    yield LINE_END;
  }
  yield end;
}

function headOf(part: FormPart, boundary: string): string {
  const name = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(part.name)}"`;
  if (!('file' in part)) return `${name}\r\n\r\n`;
  return `${name}; filename="${quoted(nameOf(part.file))}"\r\nContent-Type: ${typeOf(part)}\r\n\r\n`;
}

function contentBytes(part: FormPart): number {
  return 'file' in part ? part.file.bytes : Buffer.byteLength(part.value);
}

const MEDIA_TYPE = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/;

/** One that could end its line, or say more, is not sent. */
function typeOf({ contentType = '' }: FormFile): string {
  return MEDIA_TYPE.test(contentType) ? contentType : 'application/octet-stream';
}

/** Services look at the name for the kind of file, and some refuse one that says nothing. */
function nameOf({ filename }: UploadedFile): string {
  return /\p{L}/u.test(filename) ? filename : 'file';
}

/** As browsers write names: what would end the quotes or the line is percent-encoded, and so is any other control character. */
function quoted(text: string): string {
  return text.toWellFormed().replace(/["\p{Cc}]/gu, (character) => encodeURIComponent(character));
}
