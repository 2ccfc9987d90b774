import { expect } from 'chai';
import { namelessColumns } from './statement-rules.ts';

const PATH = 'builtins/stores/planted.ts';

describe('statements that do not name their columns', () => {
  for (const source of [
    "knex.raw('SELECT * FROM api_keys');",
    "knex.raw('select distinct * from api_keys');",
    'knex.raw(`SELECT\n  * FROM ${TABLE}`);',
    'knex.raw(`SELECT a.id, b.* FROM ${TABLE} a, b`);',
    'knex.raw(`DELETE FROM ${TABLE} RETURNING *`);',
    "knex(TABLE).select('*');",
    "knex(TABLE).select(['*']);",
    "knex(TABLE).where({ id }).first('*');",
    "knex(TABLE).first('api_keys.*');",
    "knex(TABLE).insert(row).returning('*');",
    'knex.raw(`INSERT INTO ${TABLE} VALUES (?, ?)`);',
    "knex.raw('INSERT INTO api_keys SELECT id FROM other');",
  ])
    it(`are refused: ${source}`, () => {
      expect(namelessColumns(PATH, source)).to.have.length(1);
    });

  for (const source of [
    "knex.raw('SELECT id, count(*) FROM api_keys');",
    "knex.raw('COUNT(*)');",
    "knex(TABLE).count({ total: '*' }).first();",
    'knex(TABLE).select(COLUMNS).first();',
    "knex(TABLE).first('id', 'name');",
    'knex.raw(`DELETE FROM ${TABLE} WHERE id = ? RETURNING id`);',
    'knex.raw(`INSERT INTO ${TABLE} (id, name) SELECT id, name FROM other`);',
    "const price = 2 * rate; const glob = 'a/*';",
  ])
    it(`are not seen in: ${source}`, () => {
      expect(namelessColumns(PATH, source)).to.deep.equal([]);
    });
});
