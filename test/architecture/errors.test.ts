import { expect } from 'chai';
import { ERRORS } from '../../host/contract/index.ts';
import { codes, tableRows } from '../docs/tables.ts';
import { golden } from '../kit/index.ts';

interface Row {
  readonly status: number | null;
  readonly type: string | null;
  readonly code: string;
}

interface Table {
  readonly rows: readonly Row[];
  readonly types: readonly string[];
  readonly added: readonly Row[];
}

type Errors = Readonly<Record<string, { readonly status: number; readonly type: string }>>;

const promised = JSON.parse(golden('promised/errors.json')) as Table;

/** Differences between the table of the code and the rows that are promised, in both directions. */
function differences(errors: Errors, { rows, added }: Table): string[] {
  const wanted = [...rows, ...added];
  const changed = wanted.filter(({ code, status, type }) => {
    const row = errors[code];
    return !row || (status !== null && row.status !== status) || (type !== null && row.type !== type);
  });
  const invented = Object.keys(errors).filter((code) => !wanted.some((row) => row.code === code));
  return [
    ...changed.map(({ code, status, type }) => `${code} should be ${status} ${type}`),
    ...invented.map((code) => `${code} is not a promised code`),
  ];
}

/** Differences between the table of the code and the documentation page: `code`, status, `type`. */
function undocumented(errors: Errors, rows: readonly (readonly string[])[]): string[] {
  const documented = rows.map(([code, status, type]) => `${codes(code)[0]} ${status} ${codes(type)[0]}`);
  const known = Object.entries(errors).map(
    ([code, { status, type }]) =>
      `${code} ${code === 'client_canceled' || type.startsWith('stream') || type.startsWith('timeout') ? '–' : status} ${type}`,
  );
  return [
    ...known.filter((row) => !documented.includes(row)).map((row) => `missing: ${row}`),
    ...documented
      .filter((row, at) => !known.includes(row) || documented.indexOf(row) < at)
      .map((row) => `too much: ${row}`),
  ];
}

describe('the error table', () => {
  it('equals the list of promised codes', () => {
    expect(differences(ERRORS, promised)).to.deep.equal([]);
  });

  it('holds only promised types, and two of stream events', () => {
    const allowed = new Set<string>([...promised.types, 'stream_error', 'timeout_error']);
    expect(
      Object.entries(ERRORS)
        .filter(([, { type }]) => !allowed.has(type))
        .map(([code]) => code),
    ).to.deep.equal([]);
  });

  it('is what docs/errors.md lists, code by code', () => {
    expect(undocumented(ERRORS, tableRows('errors.md'))).to.deep.equal([]);
  });

  describe('compared with a planted one', () => {
    const table: Table = { rows: [{ status: 400, type: 'a', code: 'one' }], types: [], added: [] };

    it('shows a missing code, another status, another type and an invented code', () => {
      expect(differences({}, table)).to.have.lengthOf(1);
      expect(differences({ one: { status: 401, type: 'a' } }, table)).to.have.lengthOf(1);
      expect(differences({ one: { status: 400, type: 'b' } }, table)).to.have.lengthOf(1);
      expect(differences({ one: { status: 400, type: 'a' }, two: { status: 400, type: 'a' } }, table)).to.have.lengthOf(
        1,
      );
      expect(differences({ one: { status: 400, type: 'a' } }, table)).to.deep.equal([]);
    });

    it('shows a row that the page lacks, invents, repeats or tells differently', () => {
      const row = ['`one`', '400', '`a`', 'when', 'what'];
      const errors = { one: { status: 400, type: 'a' } };
      expect(undocumented(errors, [row])).to.deep.equal([]);
      expect(undocumented(errors, [])).to.have.lengthOf(1);
      expect(undocumented(errors, [row, row])).to.have.lengthOf(1);
      expect(undocumented(errors, [row, ['`two`', '400', '`a`']])).to.have.lengthOf(1);
      expect(undocumented(errors, [['`one`', '401', '`a`']])).to.have.lengthOf(2);
    });
  });
});
