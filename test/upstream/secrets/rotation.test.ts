import { appendFile, mkdir, open, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { DISK, type FileAccess, type FileOutcome } from '../../../host/upstream/secrets/secret-file.ts';
import { WatchedFiles } from '../../../host/upstream/secrets/watched-files.ts';
import { atEnd, cases, Dice, fakeClock, temporaryFolder } from '../../kit/index.ts';

const LOOK_MS = 30_000;

/** Files of a folder whose times are those of a clock that the test moves. */
async function bench(access: FileAccess = DISK) {
  const folder = await temporaryFolder();
  const clock = fakeClock();
  const files = new WatchedFiles(clock, access);
  atEnd(() => files.close());
  const seen: (string | undefined)[] = [];
  const path = (name: string): string => join(folder, name);
  const touch = (name: string): Promise<void> => utimes(path(name), clock.now() / 1000, clock.now() / 1000);
  const watch = async (name: string): Promise<void> => {
    const note = (outcome: FileOutcome): void => void seen.push('text' in outcome ? outcome.text : outcome.reason);
    note((await files.watch({ path: path(name), maxBytes: 1024, directories: [folder] }, note)).outcome);
  };
  return { folder, clock, files, seen, path, touch, watch };
}

type Bench = Awaited<ReturnType<typeof bench>>;

/** What Kubernetes makes of a mounted secret: each version is a folder of its own, behind one link that is swapped. */
async function mount({ path, touch }: Bench, version: number, text: string): Promise<void> {
  await mkdir(path(`..v${version}`));
  await writeFile(path(`..v${version}/key`), text);
  await touch(`..v${version}/key`);
  await symlink(`..v${version}`, path('..data_tmp'));
  await rename(path('..data_tmp'), path('..data'));
  if (version === 0) await symlink('..data/key', path('key'));
  else await rm(path(`..v${version - 1}`), { recursive: true });
}

/** Puts a text into a file in two pieces. */
async function writeInPieces({ path, touch }: Bench, text: string, between: () => Promise<void>): Promise<void> {
  const file = await open(path('key'), 'w');
  await file.write(text.slice(0, text.length / 2));
  await touch('key');
  await between();
  await file.write(text.slice(text.length / 2));
  await file.close();
  await touch('key');
}

describe('the rotation of a file', () => {
  it('by a swapped link, as Kubernetes does it, is seen at the next look', async () => {
    const b = await bench();
    await mount(b, 0, 'old');
    await b.watch('key');
    await mount(b, 1, 'new');
    b.clock.advance(LOOK_MS);
    await b.files.look();
    expect(b.seen).to.deep.equal(['old', 'new']);
  });

  it('by truncating and writing is not taken while the writer pauses, and is soon after', async () => {
    const b = await bench();
    await writeFile(b.path('key'), 'old');
    await b.touch('key');
    await b.watch('key');
    b.clock.advance(LOOK_MS - 500);
    await writeInPieces(b, 'a new value', async () => {
      b.clock.advance(500);
      await b.files.look();
      expect([b.seen, b.clock.next]).to.deep.equal([['old'], 2000]);
      b.clock.advance(1400);
      await b.files.look();
    });
    await b.files.look();
    expect(b.seen).to.deep.equal(['old']);
    b.clock.advance(2000);
    await b.files.look();
    expect([b.seen, b.clock.next]).to.deep.equal([['old', 'a new value'], LOOK_MS]);
  });

  const CHANGES: Readonly<Record<string, (b: Bench, path: string, moment: string) => Promise<void>>> = {
    'changes before it is opened': async (_b, path, moment) => {
      if (moment === 'open') await appendFile(path, '+');
    },
    'changes after it was read': async (_b, path, moment) => {
      if (moment === 'close') await appendFile(path, '+');
    },
    'is another one for as long as it is open': async (b, path, moment) => {
      if (moment === 'open') {
        await rename(path, b.path('kept'));
        await writeFile(path, 'another');
      } else await rename(b.path('kept'), path);
    },
  };
  for (const [what, change] of Object.entries(CHANGES)) {
    it(`is not taken where the file ${what}`, async () => {
      let isChanging = false;
      const b: Bench = await bench({
        ...DISK,
        open: async (path, flags) => {
          if (isChanging) await change(b, path, 'open');
          const handle = await DISK.open(path, flags);
          const close = async (): Promise<void> => {
            await handle.close();
            if (isChanging) await change(b, path, 'close');
          };
          return { stat: handle.stat.bind(handle), read: handle.read.bind(handle), close };
        },
      });
      await writeFile(b.path('key'), 'old');
      await b.watch('key');
      await writeFile(b.path('key'), 'new');
      isChanging = true;
      await b.files.look();
      expect(b.seen).to.deep.equal(['old']);
      isChanging = false;
      await b.files.look();
      expect(b.seen[1]).to.match(/^new\+?$/);
    });
  }

  it('by any way gives whole values alone, and the last one in the end, whenever it is looked at', async () => {
    for (let seed = 0; seed < cases(300); seed += 1) {
      const dice = new Dice(seed);
      const b = await bench();
      const values = Array.from({ length: 4 }, (_each, at) => `${at}`.repeat(dice.below(40) + 2));
      const isMounted = dice.below(2) === 0;
      const wait = async (): Promise<void> => {
        b.clock.advance(dice.below(1900));
        if (dice.below(2) === 0) await b.files.look();
      };
      if (isMounted) await mount(b, 0, String(values[0]));
      else await writeInPieces(b, String(values[0]), async () => {});
      await b.watch('key');
      for (const [at, text] of values.entries()) {
        if (at === 0) continue;
        await wait();
        if (isMounted) await mount(b, at, text);
        else if (dice.below(2) === 0) await writeInPieces(b, text, wait);
        else {
          await writeFile(b.path('next'), text);
          await b.touch('next');
          await rename(b.path('next'), b.path('key'));
        }
      }
      b.clock.advance(LOOK_MS);
      await b.files.look();
      expect(values, `seed ${seed}`).to.include.members(b.seen);
      expect(b.seen.at(-1), `seed ${seed}`).to.equal(values.at(-1));
      b.files.close();
    }
  });
});

describe('looks at files', () => {
  it('take sixteen at a time', async () => {
    let running = 0;
    let most = 0;
    const b = await bench({
      ...DISK,
      stat: async (path) => {
        running += 1;
        most = Math.max(most, running);
        const stats = await DISK.stat(path);
        running -= 1;
        return stats;
      },
    });
    const names = Array.from({ length: 64 }, (_each, at) => `f${at}`);
    for (const name of names) await writeFile(b.path(name), name);
    for (const name of names) await b.watch(name);
    most = 0;
    await b.files.look();
    expect(most).to.equal(16);
    expect(b.seen).to.deep.equal(names);
  });

  it('that are asked for during one follow it', async () => {
    const b = await bench();
    await writeFile(b.path('key'), 'old');
    await b.watch('key');
    const first = b.files.look();
    await writeFile(`${b.path('key')}.new`, 'new');
    await rename(`${b.path('key')}.new`, b.path('key'));
    await b.files.look();
    await first;
    expect(b.seen).to.deep.equal(['old', 'new']);
  });

  it('end with the last file, and with the host', async () => {
    const b = await bench();
    await writeFile(b.path('key'), 'x');
    const watch = await b.files.watch({ path: b.path('key'), maxBytes: 9 }, () => {});
    expect([b.clock.waiting, b.clock.next]).to.deep.equal([1, LOOK_MS]);
    watch.end();
    watch.end();
    expect(b.clock.waiting).to.equal(0);
    await b.watch('key');
    const looking = b.files.look();
    b.files.close();
    await looking;
    expect(b.clock.waiting).to.equal(0);
  });
});
