/** How a form and the heads of its parts are read, so that no upstream finds in them what was not looked at. */

/** Bytes of the headers of a part. */
export const MAX_HEADERS = 8192;

/** What parts a form; `undefined` where there is none that all parsers read alike. */
export function boundaryIn(mediaType: string): string | undefined {
  if (mediaType.split(/boundary/i).length !== 2) return undefined;
  const [, quotedText, token] =
    /;\s*boundary=(?:"([\w'()+,./:=? -]{1,70})"|([\w'+./-]{1,70}))\s*(?:;|$)/i.exec(mediaType) ?? [];
  return quotedText ?? token;
}

/** Whether parsers may read a line of a head differently. */
export const isOddHeader = (line: string): boolean => line.includes('\r') || /^\s*[{[]/.test(line);

const NAME = /(?:^|[;,\s])name(\*[\d*]*)?\s*=\s*("(?:[^"\\]|\\.)*"|[^;\s]*)/gi;
const CODED = /^content-transfer-encoding:(?!\s*(?:7bit|8bit|binary)\s*$)/im;

/** What the headers of a part say, a line each; `undefined` where its value is coded. A name that parsers read differently counts as that of a model. */
export function partHead(lines: string): { readonly names: readonly string[]; readonly isFile: boolean } | undefined {
  const headers = lines.replace(/\n[ \t]+/g, ' ');
  if (CODED.test(headers)) return undefined;
  const names = Array.from(headers.matchAll(NAME), ([, form, name = '']) =>
    form !== undefined || /=\?|%/.test(name) ? 'model' : name.replace(/["\\]/g, ''),
  );
  return { names, isFile: /filename/i.test(headers) };
}
