import { globSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { temporaryFolder } from '../kit/index.ts';
import { runCommand } from '../cli/commands.ts';
import { answersOf, lostIn, openRecorded } from './answers.ts';
import { decisionsOf } from './decisions.ts';
import { makeSqlite, sqlOf } from './sqlite-text.ts';

const RECORDED = fileURLToPath(new URL('recorded', import.meta.url));

for (const version of readdirSync(RECORDED).toSorted()) {
  const place = join(RECORDED, version);
  const read = (name: string): any => JSON.parse(readFileSync(join(place, name), 'utf8'));

  describe(`what gw ${version} kept`, () => {
    it('is opened by this one, which shows an administrator all that was there', async () => {
      const folder = await temporaryFolder();
      for (const path of globSync('*.sql', { cwd: place }))
        makeSqlite(join(folder, path.replace(/sql$/, 'db')), readFileSync(join(place, path), 'utf8'));
      const opened = await openRecorded(folder);
      try {
        expect(lostIn(read('answers.json'), await answersOf(opened))).to.deep.equal([]);
        expect((await opened.ask('POST', '/admin/keys', { name: 'new' })).status).to.equal(201);
      } finally {
        await opened.close();
      }
    });

    it('is configurations that mean the same here', async () => {
      for (const [name, decisions] of Object.entries(read('decisions.json')))
        expect(await decisionsOf(readFileSync(join(place, 'configurations', name), 'utf8')), name).to.deep.equal(
          decisions,
        );
    });

    it('is a configuration with every key, which is valid here', async () => {
      const { code, stdout, stderr } = await runCommand(['validate', join(place, 'configurations/everything.yaml')]);
      expect([code, stderr], stdout).to.deep.equal([0, '']);
    });
  });
}

describe('recorded files', () => {
  it('are made again with every row, whatever its texts and bytes', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'a'));
    const sql =
      'CREATE TABLE a (id INTEGER PRIMARY KEY, b TEXT, c BLOB, d REAL);\nINSERT INTO "a" ("id", "b", "c", "d") VALUES (1, \'it\'\'s\nnew\', X\'00ff\', 0.5);\nINSERT INTO "a" ("id", "b", "c", "d") VALUES (2, NULL, NULL, NULL);\nCREATE INDEX b ON a (b);\n';
    const file = join(folder, 'a.db');
    makeSqlite(file, sql);
    expect(sqlOf(file)).to.equal(sql);
  });

  it('differ where a member is lost or has changed, and not where one came to it', () => {
    expect(lostIn({ a: [{ b: 1 }], c: null }, { a: [{ b: 1, new: 2 }], c: null })).to.deep.equal([]);
    expect(lostIn({ a: [{ b: 1 }] }, { a: [{ b: 2 }] })).to.deep.equal(['.a[0].b: 1 is 2']);
    expect(lostIn({ a: [1] }, { a: [1, 2] })).to.have.lengthOf(1);
    expect(lostIn({ a: { b: 1 } }, {})).to.have.lengthOf(1);
  });
});
