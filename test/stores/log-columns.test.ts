import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { SEARCH_PARAMETERS, SUMMED_PARAMETERS } from '../../builtins/admin/logs/search-parameters.ts';
import { OPERATIONS } from '../../builtins/openapi/operations.ts';
import { logRowFile } from '../../builtins/stores/build/log-rows.ts';
import { LOG_SCHEMA } from '../../builtins/stores/log/log-schema.ts';
import { LOG_COLUMN_LIST, LOG_COLUMN_STEPS } from '../../host/contract/log-columns.ts';
import { codes } from '../docs/tables.ts';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

describe('the columns of the request log', () => {
  it('are those of the code that runs for every row; else run "npm run log-rows"', () => {
    expect(logRowFile()).to.equal(read('host/stores/log/log-row.ts'));
  });

  it('make a member of every literal of that code', () => {
    const file = logRowFile([...LOG_COLUMN_LIST, ['trace_id', { ...LOG_COLUMN_LIST[0]![1], isFree: true }]]);
    expect(file).to.contain('    trace_id: row.trace_id && short(redactor.excerpt(row.trace_id, LONGEST_TEXT)),\n');
    expect(file.match(/^ {4}row\.trace_id,$/gm)).to.have.length(2);
  });

  it('are each added by a step of the schema, and each step that adds columns has some', () => {
    const steps = new Set([1, ...Object.keys(LOG_COLUMN_STEPS).map(Number)]);
    expect(new Set(LOG_COLUMN_LIST.map(([, { since }]) => since))).to.deep.equal(steps);
    const versions = LOG_SCHEMA.migrations.map(({ version }) => version);
    expect(versions).to.deep.equal(versions.map((_version, at) => at + 1));
  });

  it('may be null where a later step adds them', () => {
    const later = LOG_COLUMN_LIST.filter(([, { since, isRequired }]) => since > 1 && isRequired);
    expect(later).to.deep.equal([]);
  });

  it('are parameters of the listing where the table says so', () => {
    const listing = OPERATIONS.find(({ method, path }) => method === 'get' && path === '/admin/logs');
    const filters = LOG_COLUMN_LIST.flatMap(([name, { isFilter }]) =>
      isFilter === undefined ? [] : isFilter === true ? [name] : [isFilter],
    );
    const others = ['limit', 'offset', 'since', 'until', 'min_duration_ms', 'min_cost_usd', 'text', 'sort', 'cursor'];
    expect(listing?.query).to.have.members([...others, ...filters]);
    expect(listing?.query).to.include.members([...SEARCH_PARAMETERS]);
    const statistics = OPERATIONS.find(({ method, path }) => method === 'get' && path === '/admin/logs/stats');
    expect(statistics?.query).to.include.members([...SUMMED_PARAMETERS]);
  });

  it('are named in docs/admin.md where rows show them', () => {
    const page = read('docs/admin.md');
    const [section = ''] = page.slice(page.indexOf('A row has `trace_id`')).split('\n\n');
    const shown = LOG_COLUMN_LIST.filter(([, column]) => column.shown !== 'never').map(
      ([name, { shownAs }]) => shownAs ?? name,
    );
    const named = codes(section);
    expect(
      shown.filter((name) => !named.includes(name)),
      'columns that docs/admin.md, "A row has `trace_id`", does not name',
    ).to.deep.equal([]);
  });
});
