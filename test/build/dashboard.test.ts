import { spawnSync } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { read } from '../architecture/source.ts';
import { inSoak, isSoak, temporaryFolder } from '../kit/index.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const APPLICATION = 'builtins/dashboard/app';
const BUNDLE = 'builtins/dashboard/dist';
const CONFIG =
  "import { fileURLToPath } from 'node:url';\nexport default { root: fileURLToPath(new URL('.', import.meta.url)) };\n";
const SCRIPT = `document.title = ${JSON.stringify('a long text '.repeat(200))};\n`;

/** A checkout with an application of three files. */
async function checkout(): Promise<string> {
  const folder = await temporaryFolder();
  for (const path of ['build/dashboard.js', 'host/ensure-installed.js']) await cp(join(ROOT, path), join(folder, path));
  await mkdir(join(folder, APPLICATION), { recursive: true });
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(join(folder, APPLICATION, 'vite.config.ts'), CONFIG);
  await writeFile(
    join(folder, APPLICATION, 'index.html'),
    `<!doctype html><title>x</title><meta name="description" content="${'a page of some length '.repeat(30)}"><script type="module" src="/main.ts"></script>`,
  );
  await writeFile(join(folder, APPLICATION, 'main.ts'), SCRIPT);
  // Links to what a build needs, and never to the folder itself: `npm ci` would empty it.
  await mkdir(join(folder, 'node_modules'));
  for (const name of ['node', 'vite'])
    await symlink(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  await writeFile(join(folder, 'node_modules/.package-lock.json'), '');
  return folder;
}

interface Run {
  readonly status: number | null;
  readonly said: string;
}

/** What `npm start` runs first. */
function prepare(folder: string, ...args: readonly string[]): Run {
  const { status, stderr } = spawnSync(process.execPath, [join(folder, 'host/ensure-installed.js'), ...args], {
    encoding: 'utf8',
    cwd: folder,
  });
  return { status, said: stderr };
}

const bundled = (folder: string): Promise<string[]> =>
  readdir(join(folder, BUNDLE), { recursive: true }).then(
    (files) => files.toSorted(),
    () => [],
  );
const scriptOf = async (folder: string): Promise<string> =>
  join(folder, BUNDLE, (await bundled(folder)).find((file) => file.endsWith('.js')) ?? 'none');

describe('what npm start does about the dashboard', function builds() {
  this.timeout(120_000);

  it('builds it when it is missing, hashed and compressed, and not again while its sources stay as they are', async () => {
    const folder = await checkout();
    expect(prepare(folder)).to.deep.equal({ status: 0, said: 'Building the dashboard …\n' });
    const script = await scriptOf(folder);
    expect(script).to.match(/assets\/index-[\w-]{8}\.js$/);
    const plain = await readFile(script);
    expect(
      brotliDecompressSync(await readFile(`${script}.br`)).equals(plain) &&
        gunzipSync(await readFile(`${script}.gz`)).equals(plain),
    ).to.equal(true);
    expect(await bundled(folder)).to.include.members(['index.html.br', 'index.html.gz']);
    const { mtimeMs } = await stat(script);
    expect(prepare(folder)).to.deep.equal({ status: 0, said: '' });
    expect((await stat(script)).mtimeMs).to.equal(mtimeMs);
    expect((await readdir(join(folder, 'builtins/dashboard'))).toSorted()).to.deep.equal(['app', 'dist']);
  });

  it('builds it again when a source or a package changes', async () => {
    const folder = await checkout();
    prepare(folder);
    const first = await scriptOf(folder);
    await writeFile(join(folder, APPLICATION, 'main.ts'), `${SCRIPT}document.body.id = 'second';`);
    expect(prepare(folder).said).to.equal('Building the dashboard …\n');
    expect(await scriptOf(folder)).not.to.equal(first);
    if (!isSoak()) return;
    await writeFile(join(folder, 'package-lock.json'), '{}');
    await writeFile(join(folder, 'node_modules/.package-lock.json'), ''); // as an install leaves it
    expect(prepare(folder).said).to.equal('Building the dashboard …\n');
  });

  it('says that it could not, keeps what there was, and lets the gateway start', async () => {
    const folder = await checkout();
    prepare(folder);
    const before = await bundled(folder);
    await writeFile(join(folder, APPLICATION, 'main.ts'), 'import "./gone.ts";');
    const { status, said } = prepare(folder);
    expect(status).to.equal(0);
    expect(said).to.match(/gone\.ts[^]*Warning: the dashboard could not be built/);
    expect(await bundled(folder)).to.deep.equal(before);
    expect((await readdir(join(folder, 'builtins/dashboard'))).toSorted()).to.deep.equal(['app', 'dist']);
  });

  inSoak('needs no package for a bundle that is there, and names what is missing for one that is not', async () => {
    const folder = await checkout();
    prepare(folder);
    await rm(join(folder, 'node_modules'), { recursive: true });
    expect(prepare(folder)).to.deep.equal({ status: 0, said: '' });
    await rm(join(folder, BUNDLE), { recursive: true });
    const { status, said } = prepare(folder);
    expect([status, said]).to.deep.equal([
      0,
      'Warning: the dashboard is not built of these sources, and what builds it is not installed; "npm ci" installs it\n',
    ]);
  });

  it('is left out before `npm run check`, and where there are no sources', async () => {
    const folder = await checkout();
    expect(prepare(folder, '--without-dashboard')).to.deep.equal({ status: 0, said: '' });
    expect(await bundled(folder)).to.deep.equal([]);
    await rm(join(folder, APPLICATION), { recursive: true });
    expect(prepare(folder)).to.deep.equal({ status: 0, said: '' });
  });

  it('stands in the scripts', () => {
    const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> };
    expect([scripts['prestart'], scripts['pretest'], scripts['precheck']]).to.deep.equal([
      'node host/ensure-installed.js',
      'node host/ensure-installed.js',
      'node host/ensure-installed.js --without-dashboard',
    ]);
  });
});
