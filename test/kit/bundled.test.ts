import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { removeAbandoned } from './bundled.ts';
import { temporaryFolder } from './process.ts';

describe('the bundle of a run', () => {
  it('goes with the next run where its own was ended by a signal, and no other does', async () => {
    const { pid: gone } = spawnSync(process.execPath, ['--version']);
    const parent = await temporaryFolder();
    const kept = [`gw-bundle-${process.pid}-a`, 'gw-bundle-old', `gw-test-${gone}-a`];
    for (const name of [`gw-bundle-${gone}-a`, ...kept]) {
      mkdirSync(join(parent, name));
      writeFileSync(join(parent, name, 'gw.js'), '');
    }
    removeAbandoned(parent);
    expect(readdirSync(parent)).to.have.members(kept);
  });
});
