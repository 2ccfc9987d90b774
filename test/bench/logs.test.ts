import { join } from 'node:path';
import { expect } from 'chai';
import { openSqlite } from '../../builtins/stores/database/sqlite.ts';
import { cases, temporaryFolder } from '../kit/index.ts';
import { logCosts } from './logs.ts';

/** A million rows take minutes: `node test/bench/logs.ts`. */
const ROWS = cases(500_000, 25);

describe(`${ROWS} rows of the request log`, function manyRows() {
  this.timeout(120_000);

  it('are listed, summed up and purged in slices, between which others write', async () => {
    const folder = await temporaryFolder();
    const database = await openSqlite(join(folder, 'requests.db'), folder);
    try {
      const { dayRows, purged, writes, listMs, statisticsMs } = await logCosts(database, { rows: ROWS, days: 4 });
      expect(dayRows).to.be.closeTo(ROWS / 4, ROWS / 100);
      expect(purged).to.be.closeTo(ROWS / 2, 1);
      expect(writes).to.be.above(3);
      expect(Math.min(listMs, statisticsMs)).to.be.above(0);
      const [{ left }] = (await database.knex('request_logs').count({ left: '*' })) as [{ left: number }];
      expect(left).to.equal(ROWS - purged + writes);
    } finally {
      await database.close();
    }
  });
});
