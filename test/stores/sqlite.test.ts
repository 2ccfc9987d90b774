import { join } from 'node:path';
import { expect } from 'chai';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import { temporaryFolder } from '../kit/index.ts';

describe('a new SQLite file', () => {
  it('opens for all who open it at once', async () => {
    const folder = await temporaryFolder();
    const failures: unknown[] = [];
    for (let file = 0; file < 50; file += 1) {
      const opened = await Promise.all(Array.from({ length: 8 }, () => openSqlite(join(folder, `${file}.db`), folder)));
      const outcomes = await Promise.allSettled(
        opened.map(({ knex }) => knex.raw('CREATE TABLE IF NOT EXISTS it (version INTEGER)')),
      );
      failures.push(...outcomes.filter(({ status }) => status === 'rejected'));
      await Promise.all(opened.map((database) => database.close()));
    }
    expect(failures).to.deep.equal([]);
  });
});
