import { isFields, textAt } from '../../lib/fields.ts';

export interface MadeImage {
  /** The image itself, as the page's policy lets it show. */
  readonly source: string | undefined;
  /** Where it lies; the policy lets no image of another origin in, so it is linked. */
  readonly link: string | undefined;
  readonly revisedPrompt: string | undefined;
}

/** First bytes in base64, by the type of image that begins with them. */
const SIGNATURES: readonly (readonly [start: string, type: string])[] = [
  ['iVBOR', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lG', 'image/gif'],
  ['UklGR', 'image/webp'],
];

/** The images of an answer. What is neither an image nor an http address is left out. */
export function imagesOf(data: unknown): MadeImage[] {
  if (!Array.isArray(data)) return [];
  return data
    .filter(isFields)
    .map((item) => ({
      source: sourceOf(textAt(item, 'b64_json')),
      link: linkOf(textAt(item, 'url')),
      revisedPrompt: textAt(item, 'revised_prompt'),
    }))
    .filter(({ source, link }) => source !== undefined || link !== undefined);
}

function sourceOf(base64: string | undefined): string | undefined {
  if (base64 === undefined) return undefined;
  const type = SIGNATURES.find(([start]) => base64.startsWith(start))?.[1] ?? 'image/png';
  return /^[A-Za-z0-9+/=\s]+$/.test(base64) ? `data:${type};base64,${base64}` : undefined;
}

function linkOf(url: string | undefined): string | undefined {
  return url !== undefined && /^https?:\/\//i.test(url) && URL.canParse(url) ? url : undefined;
}
