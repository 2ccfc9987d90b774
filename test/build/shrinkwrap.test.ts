import { expect } from 'chai';
import { EXTERNAL } from '../../build/bundle.ts';
import type { Lock } from '../../build/image/locked-packages.ts';
import { packedManifest } from '../../build/manifest.ts';
import { sbomOf } from '../../build/sbom.ts';
import { shrinkwrapOf } from '../../build/shrinkwrap.ts';
import { read, ROOT } from '../architecture/source.ts';

const lock = JSON.parse(read('package-lock.json')) as Lock;
const manifest = packedManifest(JSON.parse(read('package.json')) as Parameters<typeof packedManifest>[0], {
  commit: 'none',
  built: '2026-01-31T12:00:00Z',
});

describe('what an install of the package brings', () => {
  const { packages } = shrinkwrapOf(lock, manifest);

  it('is what the lock file has for it, and nothing of development', () => {
    expect(Object.keys(packages).length).to.be.greaterThan(EXTERNAL.length);
    for (const [folder, entry] of Object.entries(packages)) {
      if (folder === '') continue;
      expect(entry, folder).to.equal(lock.packages[folder]);
      expect(entry, folder).to.not.have.property('dev');
    }
    expect(Object.keys(packages)).to.include.members(EXTERNAL.map((name) => `node_modules/${name}`));
  });

  it('is refused where a package is not locked', () => {
    expect(() => shrinkwrapOf({ packages: {} }, manifest)).to.throw('is not locked');
  });

  it('stands in the bill of materials, each with name, version, licence and hash, beside what is bundled', () => {
    const { components } = sbomOf({
      root: ROOT,
      name: 'gw',
      version: '1.2.3',
      built: '2026-01-31T12:00:00Z',
      inputs: ['node_modules/joi/lib/index.js', 'node_modules/joi/lib/base.js', 'host/main.ts'],
      installed: packages,
    }) as { components: { purl: string; hashes?: { content: string }[]; licenses?: object[] }[] };
    expect(components).to.have.lengthOf(Object.keys(packages).length); // joi, and all but the package itself
    for (const { purl, hashes, licenses } of components) {
      expect(purl).to.match(/^pkg:npm\/(?:%40[^/]+\/)?[^@/]+@\d/);
      if (!purl.includes('/joi@')) expect(hashes?.[0]?.content, purl).to.match(/^[0-9a-f]{128}$/);
      expect(licenses, purl).to.have.lengthOf(1);
    }
  });
});
