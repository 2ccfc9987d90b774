import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { lateFile, loadedFile } from '../../host/contract/index.ts';

interface File {
  loads(): number;
  add(a: number, b: number): number;
  readonly part: { readonly twice: (value: number) => number };
}

const CODE = `globalThis.lateLoads = (globalThis.lateLoads ?? 0) + 1;
export const loads = () => globalThis.lateLoads;
export const add = (a: number, b: number): number => a + b;
export const part = { twice: (value: number): number => add(value, value) };
`;

describe('a late file', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gw-late-'));
    await writeFile(join(folder, 'late.ts'), CODE);
    await writeFile(join(folder, 'broken.ts'), "throw new Error('it does not load');\n");
  });
  after(async () => {
    delete (globalThis as { lateLoads?: number }).lateLoads;
    await rm(folder, { recursive: true });
  });
  const beside = (): { url: string } => ({ url: pathToFileURL(join(folder, 'index.ts')).href });

  it('is loaded with the first call, once', () => {
    const late = lateFile<File>(beside(), './late.ts');
    const { add, loads } = late(['add', 'loads']);
    const { twice } = late('part', ['twice']);
    expect((globalThis as { lateLoads?: number }).lateLoads).to.equal(undefined);
    expect([twice(4), add(1, 2), loads()]).to.deep.equal([8, 3, 1]);
  });

  it('passes on what its loading throws, at every call', () => {
    const { add } = lateFile<File>(beside(), './broken.ts')(['add']);
    for (const _ of [1, 2]) expect(() => add(1, 2)).to.throw('it does not load');
    expect(() => lateFile<File>(beside(), './none.ts')(['add']).add(1, 2)).to.throw('./none.ts');
  });

  it('says that a function is not there', () => {
    const { other } = lateFile<File & { other(): void }>(beside(), './late.ts')(['other']);
    expect(() => other()).to.throw(TypeError, 'other');
  });

  it('gives the same of a file that is loaded already', () => {
    const file = { one: () => 1, part: { two: () => 2 } };
    expect([loadedFile(file)(['one']).one(), loadedFile(file)('part', ['two']).two()]).to.deep.equal([1, 2]);
  });
});
