/** How long a recording is, as its own header says. Sources: "Multimedia Programming Interface and Data Specifications 1.0" (WAV), ISO/IEC 11172-3 (MP3), id3.org. */

/** Seconds; `undefined` where the format is another one, or its header does not stand in the first bytes. `bytes` is the size of the whole file. */
export function recordingSeconds(head: Buffer, bytes: number): number | undefined {
  const seconds =
    textAt(head, 0, 4) === 'RIFF' && textAt(head, 8, 4) === 'WAVE' ? wavSeconds(head, bytes) : mp3Seconds(head, bytes);
  return seconds !== undefined && Number.isFinite(seconds) && seconds > 0 ? seconds : undefined;
}

const textAt = (head: Buffer, at: number, length: number): string => head.toString('latin1', at, at + length);

/** Samples as numbers: whole ones, fractions, and the extended form of both. */
const PLAIN_SAMPLES: ReadonlySet<number> = new Set([1, 3, 0xfffe]);

/**
 * Chunks of a name, a size and content: `fmt ` says what a second has, `data` holds the samples; what follows it counts as well. What the
 * header says twice is computed: players do so too, and a client could say there what it likes.
 */
function wavSeconds(head: Buffer, bytes: number): number | undefined {
  let bytesPerSecond: number | undefined;
  for (let at = 12; at + 8 <= head.length;) {
    const size = head.readUInt32LE(at + 4);
    const name = textAt(head, at, 4);
    if (name === 'fmt ' && at + 24 <= head.length && PLAIN_SAMPLES.has(head.readUInt16LE(at + 8)))
      bytesPerSecond = (head.readUInt16LE(at + 10) * head.readUInt32LE(at + 12) * head.readUInt16LE(at + 22)) / 8;
    if (name === 'data') return bytesPerSecond ? (bytes - at - 8) / bytesPerSecond : undefined;
    at += 8 + size + (size % 2);
  }
  return undefined;
}

/** kbit/s of layer III by the index in a frame's header, of MPEG 1 and of MPEG 2 and 2.5. */
const RATES_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const RATES_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const SAMPLES_PER_SECOND = [44_100, 48_000, 32_000];

/** Bytes of a second at the highest rate: a header cannot make a file shorter than that. */
const MOST_BYTES_PER_SECOND = 40_000;

/** By the number of frames, where the first one says it, as those of variable rate do; else by the rate of the first one. */
function mp3Seconds(head: Buffer, bytes: number): number | undefined {
  const at = textAt(head, 0, 3) === 'ID3' && head.length >= 10 ? 10 + tagBytes(head) : 0;
  if (at + 4 > head.length || head[at] !== 0xff || ((head[at + 1] ?? 0) & 0xe6) !== 0xe2) return undefined; // layer III alone
  const [, version = 0, rates = 0] = head.subarray(at, at + 4);
  const [isFirst, divisor] = [(version & 0x18) === 0x18, [4, 1, 2, 1][(version & 0x18) >> 3] ?? 1];
  const samples = SAMPLES_PER_SECOND[(rates & 0x0c) >> 2];
  const rate = (isFirst ? RATES_1 : RATES_2)[rates >> 4];
  if (!samples || !rate) return undefined;
  const frames = frameCount(head, at);
  const seconds =
    frames === undefined ? (bytes - at) / (rate * 125) : (frames * (isFirst ? 1152 : 576)) / (samples / divisor);
  return Math.max(seconds, (bytes - at) / MOST_BYTES_PER_SECOND);
}

/** The size of an ID3 tag: four times seven bits. */
const tagBytes = (head: Buffer): number => head.subarray(6, 10).reduce((size, byte) => size * 128 + (byte & 0x7f), 0);

/** `Xing` and `Info` stand behind the side information of the first frame, which has 9 to 32 bytes. */
function frameCount(head: Buffer, at: number): number | undefined {
  for (const name of ['Xing', 'Info']) {
    const mark = head.subarray(at, at + 64).indexOf(name, 0, 'latin1');
    if (mark >= 0 && at + mark + 12 <= head.length && (head.readUInt32BE(at + mark + 4) & 1) === 1)
      return head.readUInt32BE(at + mark + 8);
  }
  return undefined;
}
