import { DatabaseSync } from 'node:sqlite';

type Value = null | number | bigint | string | Uint8Array;

/** A SQLite file as the statements that make it again: tables and rows, then what stands on tables. */
export function sqlOf(file: string): string {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const made = database
      .prepare(
        "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid",
      )
      .all() as unknown as { type: string; name: string; sql: string }[];
    const tables = made.filter(({ type }) => type === 'table');
    return [
      ...tables.map(({ sql }) => `${sql};`),
      ...tables.flatMap(({ name }) => rowsOf(database, name)),
      ...made.filter(({ type }) => type !== 'table').map(({ sql }) => `${sql};`),
      '',
    ].join('\n');
  } finally {
    database.close();
  }
}

function rowsOf(database: DatabaseSync, table: string): string[] {
  const rows = database.prepare(`SELECT * FROM "${table}" ORDER BY rowid`).all() as unknown as Record<string, Value>[];
  return rows.map(
    (row) =>
      `INSERT INTO "${table}" (${Object.keys(row)
        .map((name) => `"${name}"`)
        .join(', ')}) VALUES (${Object.values(row).map(literal).join(', ')});`,
  );
}

function literal(value: Value): string {
  if (value === null) return 'NULL';
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`;
  return value instanceof Uint8Array ? `X'${Buffer.from(value).toString('hex')}'` : String(value);
}

/** Makes the file of such statements. */
export function makeSqlite(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}
