import { expect } from 'chai';
import { recordingSeconds } from '../../builtins/surfaces/recording-length.ts';

/** A WAV of silence: 16 bits, `channels` at `rate`; `claimed` is what it says of the bytes of a second. */
function wav(
  seconds: number,
  options: {
    readonly rate?: number;
    readonly channels?: number;
    readonly claimed?: number;
    readonly before?: Buffer;
    readonly format?: number;
    readonly dataSize?: number;
  } = {},
): Buffer {
  const { rate = 16_000, channels = 1, before = Buffer.alloc(0), format = 1, dataSize = -1 } = options;
  const { claimed = rate * channels * 2 } = options;
  const samples = Buffer.alloc(seconds * rate * channels * 2);
  const head = Buffer.alloc(24);
  head.write('fmt ', 0, 'latin1');
  head.writeUInt32LE(16, 4);
  head.writeUInt16LE(format, 8);
  head.writeUInt16LE(channels, 10);
  head.writeUInt32LE(rate, 12);
  head.writeUInt32LE(claimed, 16);
  head.writeUInt16LE(channels * 2, 20);
  head.writeUInt16LE(16, 22);
  const data = Buffer.from('data\0\0\0\0', 'latin1');
  data.writeUInt32LE(dataSize < 0 ? samples.length : dataSize, 4);
  return Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE', 'latin1'), before, head, data, samples]);
}

/** Frames of MPEG 1, layer III: 128 kbit/s at 44.1 kHz, of 417 bytes. `frames` is what the first one says there are. */
function mp3(count: number, { frames, tag = 0 }: { frames?: number; tag?: number } = {}): Buffer {
  const body = Buffer.alloc(count * 417);
  for (let at = 0; at < body.length; at += 417) body.set([0xff, 0xfb, 0x90, 0x00], at);
  if (frames !== undefined) {
    body.write('Xing', 36, 'latin1');
    body.writeUInt32BE(1, 40);
    body.writeUInt32BE(frames, 44);
  }
  if (tag === 0) return body;
  return Buffer.concat([Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, tag >> 7, tag & 0x7f]), Buffer.alloc(tag), body]);
}

const lengthOf = (file: Buffer): number | undefined => recordingSeconds(file.subarray(0, 65_536), file.length);

describe('the length of a recording', () => {
  it('of a WAV is that of its samples, whatever stands before them', () => {
    expect(lengthOf(wav(3))).to.equal(3);
    expect(lengthOf(wav(2, { rate: 44_100, channels: 2 }))).to.equal(2);
    expect(lengthOf(wav(1, { before: Buffer.from('LIST\u0004\0\0\0abcd', 'latin1') }))).to.equal(1);
    for (const dataSize of [0, 0xffffffff]) expect(lengthOf(wav(5, { dataSize })), String(dataSize)).to.equal(5); // written while it was recorded
  });

  it('is not what a WAV claims of the bytes of a second', () => {
    expect(lengthOf(wav(4, { claimed: 0xffffffff }))).to.equal(4);
  });

  it('of an MP3 is by the rate of its first frame, or by the number of frames that it says', () => {
    expect(lengthOf(mp3(1000))).to.be.closeTo(26.1, 0.1);
    expect(lengthOf(mp3(1000, { tag: 300 }))).to.be.closeTo(26.1, 0.1);
    expect(lengthOf(mp3(1000, { frames: 2000 }))).to.be.closeTo((2000 * 1152) / 44_100, 0.1);
  });

  it('of an MP3 is never less than its bytes take at the highest rate', () => {
    expect(lengthOf(mp3(1000, { frames: 1 }))).to.be.closeTo(417_000 / 40_000, 0.1);
  });

  it('is unknown of anything else', () => {
    for (const file of [
      Buffer.alloc(0),
      Buffer.from('OggS'),
      Buffer.alloc(100, 0xff),
      Buffer.from('RIFF\0\0\0\0WAVE', 'latin1'),
      wav(1, { format: 2 }),
      wav(1, { rate: 0 }).subarray(0, 44),
      Buffer.from('ID3'),
      mp3(1).subarray(0, 2),
    ]) {
      expect(lengthOf(file), file.toString('latin1', 0, 8)).to.equal(undefined);
    }
  });
});
