import type { Transform } from 'node:stream';

/** Undoes the codings of a body: what is written to `input` comes out of `output`, the errors of every step with it. */
export interface Decoding {
  readonly input: Transform;
  readonly output: Transform;
  destroy(): void;
}

/** A proxy may compress what is compressed already; each step takes memory, so there are few. */
const MOST_STEPS = 3;

/**
 * Some upstreams compress without being asked to. `undefined` for a body without a coding, and for one in an unknown coding: that
 * stays as it is and fails to be read later.
 */
export function decodingOf(encoding: string): Decoding | undefined {
  const codings = encoding
    .toLowerCase()
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '' && word !== 'identity');
  if (codings.length === 0 || codings.length > MOST_STEPS || !codings.every((coding) => KNOWN.has(coding)))
    return undefined;
  const steps = codings.toReversed().map(decoderOf);
  const output = steps.reduce((from, to) => {
    from.on('error', (error) => to.destroy(error));
    return from.pipe(to);
  });
  return { input: steps[0] ?? output, output, destroy: () => steps.forEach((step) => step.destroy()) };
}

const KNOWN: ReadonlySet<string> = new Set(['gzip', 'x-gzip', 'deflate', 'br', 'zstd']);

/** Node's decoders are loaded for the first body that needs one: a start does without. */
function decoderOf(coding: string): Transform {
  const zlib = process.getBuiltinModule('node:zlib');
  if (coding === 'br') return zlib.createBrotliDecompress();
  return coding === 'zstd' ? zlib.createZstdDecompress() : zlib.createUnzip();
}
