import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../host/common/clock.ts';
import { destinationOf, LogOutput } from '../../host/log/output.ts';
import { atEnd, temporaryFolder } from '../kit/index.ts';

const KILOBYTE = `${'x'.repeat(1023)}\n`;

interface Pipe {
  readonly output: LogOutput;
  /** What was lost so far. */
  readonly lost: [lines: number, reason: string][];
  /** Everything that the pipe holds. */
  readonly read: () => string;
}

async function pipe(maxWaitingBytes?: number): Promise<Pipe> {
  const path = join(await temporaryFolder(), 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY);
  const destination = destinationOf(writer);
  atEnd(() => {
    for (const descriptor of new Set([reader, writer, destination.descriptor])) closeSync(descriptor);
  });
  const lost: [number, string][] = [];
  const output: LogOutput = new LogOutput({
    ...destination,
    clock: systemClock,
    ...(maxWaitingBytes !== undefined && { maxWaitingBytes }),
    onLost: (lines, reason) => {
      lost.push([lines, reason]);
      output.write(`lost ${lines}\n`);
    },
  });
  const buffer = Buffer.alloc(1 << 20);
  const read = (): string => {
    try {
      return buffer.toString('utf8', 0, readSync(reader, buffer));
    } catch {
      return ''; // it is empty
    }
  };
  return { output, lost, read };
}

async function eventually(isSo: () => boolean): Promise<void> {
  while (!isSo())
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
}

describe('the writer of log lines', () => {
  it('writes lines in their order, in whole, by itself', async () => {
    const { output, read } = await pipe();
    const lines = Array.from({ length: 500 }, (_, index) => `{"line":${index},"text":"é€😀"}\n`);
    let text = '';
    for (const line of lines) output.write(line);
    await eventually(() => (text += read()).length >= lines.join('').length);
    expect(text).to.equal(lines.join(''));
  });

  it('holds what a reader that is behind has not taken, and goes on when it reads', async () => {
    const { output, read, lost } = await pipe();
    for (let line = 0; line < 1000; line += 1) output.write(KILOBYTE);
    let text = '';
    await eventually(() => (text += read()).length >= 1000 * 1024);
    expect(text).to.equal(KILOBYTE.repeat(1000));
    expect(lost).to.deep.equal([]);
  });

  it('keeps no more than its bound, counts every line beyond it, and tells it where they are missing', async () => {
    const { output, read, lost } = await pipe(256 * 1024);
    for (let line = 0; line < 2000; line += 1) output.write(KILOBYTE);
    const early = lost.length;
    let text = '';
    await eventually(() => (text += read()).includes('lost'));
    output.write('after\n');
    await eventually(() => (text += read()).endsWith('after\n'));
    expect(early).to.equal(0);
    const [[count] = [0]] = lost;
    expect(lost).to.deep.equal([[count, 'EAGAIN']]);
    expect(text).to.equal(`${KILOBYTE.repeat(2000 - count)}lost ${count}\nafter\n`);
    expect(2000 - count).to.be.within(256, 256 + 64); // and what the pipe itself holds
  });

  it('takes a line that is longer than what is written together', async () => {
    const { output, read } = await pipe();
    const long = `${'y'.repeat(200_000)}\n`;
    for (const line of ['a\n', long, 'b\n']) output.write(line);
    let text = '';
    await eventually(() => (text += read()).length >= long.length + 4);
    expect(text).to.equal(`a\n${long}b\n`);
  });

  it('finishes at once where everything is written, and after a second where the log is not read', async () => {
    const quick = await pipe();
    quick.output.write('a\n');
    await quick.output.finish();
    expect(quick.read()).to.equal('a\n');
    const stuck = await pipe();
    for (let line = 0; line < 300; line += 1) stuck.output.write(KILOBYTE);
    const startedAt = performance.now();
    await stuck.output.finish();
    expect(performance.now() - startedAt).to.be.at.least(1000);
    stuck.output.finishNow(); // waits no second second: nothing is left
    expect(stuck.read().length).to.be.below(300 * 1024);
    expect(stuck.read()).to.equal('');
  });

  it('finishes on the spot, for a process that ends in this very moment', async () => {
    const { output, read } = await pipe();
    output.write('a\n');
    output.finishNow();
    expect(read()).to.equal('a\n');
  });

  it('leaves a file to another thread, and finishes it on the spot, too', async () => {
    const path = join(await temporaryFolder(), 'log');
    const descriptor = openSync(path, 'a');
    atEnd(() => {
      closeSync(descriptor);
    });
    const output = new LogOutput({ ...destinationOf(descriptor), clock: systemClock, onLost: () => {} });
    for (let line = 0; line < 200; line += 1) output.write(KILOBYTE);
    await output.finish();
    output.write('last\n');
    output.finishNow();
    expect(readFileSync(path, 'utf8')).to.equal(`${KILOBYTE.repeat(200)}last\n`);
  });
});
