import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { aliases } from './installed.ts';

describe('the page of coding agents', () => {
  it('names the versions that are run, the newest first', async () => {
    const page = await readFile(new URL('../../docs/agents.md', import.meta.url), 'utf8');
    const versions = new Map<string, string[]>();
    for (const [, name = '', version = ''] of Object.values(aliases()).map(
      (alias) => /^npm:(.+)@(.+)$/.exec(alias) ?? [],
    ))
      versions.set(name, [...(versions.get(name) ?? []), version]);
    const rows = [...page.matchAll(/^\|[^|]+\| `([^`]+)` \| ([\d., ]+) \|/gm)];
    expect(Object.fromEntries(rows.map(([, name, said]) => [name, said?.split(', ')]))).to.deep.equal(
      Object.fromEntries(versions),
    );
  });
});
