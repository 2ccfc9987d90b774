// Builds the dashboard, in plain JavaScript: `npm start`, `npm test` and `npm pack` run it where its bundle is missing or was made of other sources.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const APPLICATION = 'builtins/dashboard/app';
const BUNDLE = 'builtins/dashboard/dist';
const STAMP = '.stamp';
/** What the bundle is made of beside the application: this script, and the versions of the packages. */
const BESIDE = ['build/dashboard.js', 'package-lock.json'];
/** Shorter files do not get smaller by what a header costs. */
const WORTH_BYTES = 512;
const COMPRESSIBLE = /\.(?:css|html|js|json|svg|txt)$/;

const digestOf = (content) => createHash('sha256').update(content).digest('hex');
/** Runs on whatever Node the machine has: older ones call it `path`. */
const filesIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, path, name }) => join(parentPath ?? path, name));

/** Names the sources by their content: times say nothing after a checkout or a copy. */
function stampOf(root) {
  const sources = [...filesIn(join(root, APPLICATION)), ...BESIDE.map((path) => join(root, path)).filter(existsSync)];
  return digestOf(
    sources
      .map((file) => `${relative(root, file)} ${digestOf(readFileSync(file))}`)
      .sort()
      .join('\n'),
  );
}

/** Whether the bundle is there and was made of the sources as they are; also where there are no sources, as in a package. */
export function isDashboardBuilt(root) {
  if (!existsSync(join(root, APPLICATION))) return true;
  const stamp = join(root, BUNDLE, STAMP);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === stampOf(root);
}

/** Writes the bundle beside its place and moves it there, so that one that breaks off leaves what there was. */
async function buildDashboard(root) {
  process.env['NODE_ENV'] = 'production'; // whatever it is where this runs
  const { build } = await import('vite');
  const stamp = stampOf(root);
  const workplace = join(root, 'builtins/dashboard', `.building-${process.pid}`);
  const folder = join(workplace, 'dist'); // as what is built is called everywhere: neither sources nor files to commit
  try {
    await build({
      configFile: join(root, APPLICATION, 'vite.config.ts'),
      logLevel: 'warn',
      build: { outDir: folder, emptyOutDir: true, license: true },
    });
    for (const file of filesIn(folder)) if (COMPRESSIBLE.test(file)) compress(file);
    writeFileSync(join(folder, STAMP), stamp);
    rmSync(join(root, BUNDLE), { recursive: true, force: true });
    renameSync(folder, join(root, BUNDLE));
  } finally {
    rmSync(workplace, { recursive: true, force: true });
  }
}

/** As small as it gets, once for all answers. */
function compress(file) {
  const body = readFileSync(file);
  if (body.length < WORTH_BYTES) return;
  const params = {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
  };
  writeFileSync(`${file}.br`, brotliCompressSync(body, { params }));
  writeFileSync(`${file}.gz`, gzipSync(body, { level: constants.Z_BEST_COMPRESSION }));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  if (!isDashboardBuilt(root)) await buildDashboard(root);
}
