/** Content codings that the build prepares, the smaller first. */
export type Coding = 'br' | 'gzip';

/** One way to send a file. */
export interface Variant {
  readonly coding: Coding | undefined;
  readonly body: Buffer;
  readonly tag: string;
  /** What the body is: name, value, name, value. */
  readonly description: readonly string[];
  /** What stands on an answer without the body, too. */
  readonly validators: readonly string[];
}

export interface FileVariants {
  readonly plain: Variant;
  /** In the order in which they are preferred. */
  readonly compressed: readonly Variant[];
}

/** The variant that the client likes best, by `Accept-Encoding` (RFC 9110 12.5.3); of equals the smallest. */
export function chooseVariant({ plain, compressed }: FileVariants, accepted: string | undefined): Variant {
  if (accepted === undefined) return plain;
  const qualities = qualitiesOf(accepted);
  let best = plain;
  let bestQuality = qualities.get('identity') ?? 0;
  for (const variant of compressed) {
    const quality = qualities.get(variant.coding ?? '') ?? qualities.get('*') ?? 0;
    if (quality > 0 && (quality > bestQuality || (best === plain && quality === bestQuality)))
      [best, bestQuality] = [variant, quality];
  }
  return best;
}

function qualitiesOf(accepted: string): Map<string, number> {
  const qualities = new Map<string, number>();
  for (const part of accepted.split(',')) {
    const [coding = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    const written = parameters.find((text) => text.startsWith('q='));
    const quality = written === undefined ? 1 : Number(written.slice(2));
    qualities.set(coding, Number.isNaN(quality) ? 0 : quality);
  }
  return qualities;
}

/** Whether the client has this variant already, by `If-None-Match`. */
export function isUnchanged({ tag }: Variant, known: string | undefined): boolean {
  if (known === undefined) return false;
  return known.trim() === '*' || known.split(',').some((each) => each.trim().replace(/^W\//, '') === tag);
}
