import type { ReactNode } from 'react';

export interface Column<Row> {
  readonly key: string;
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** Figures stand at the right. */
  readonly isFigure?: boolean;
  /** Whether the header is for those who do not see the table only, as over a column of buttons. */
  readonly hidesHeader?: boolean;
  /** Whether a line break inside would be worse than a wide column. */
  readonly isOneLine?: boolean;
}

export interface TableProps<Row> {
  /** What the rows are, for those who do not see the table. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row, at: number) => string;
  /** A line below a row, over its whole width; nothing for a row that is closed. */
  readonly detail?: (row: Row) => ReactNode;
}

/**
 * A table, which becomes a list of labelled cards on a narrow screen. The roles are written out because browsers take
 * them away from a table that is not laid out as one.
 */
export function Table<Row>({ label, columns, rows, rowKey, detail }: TableProps<Row>) {
  return (
    <div className="table-scroll" role="group" aria-label={label} tabIndex={0}>
      <table className="table" role="table" aria-label={label}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ key, header, isFigure, hidesHeader }) => (
              <th key={key} role="columnheader" scope="col" data-figure={isFigure || undefined}>
                {hidesHeader ? <span className="visually-hidden">{header}</span> : header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row, at) => (
            <TableRow key={rowKey(row, at)} row={row} columns={columns} detail={detail?.(row)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function TableRow<Row>({
  row,
  columns,
  detail,
}: {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
  readonly detail: ReactNode;
}) {
  return (
    <>
      <tr role="row">
        {columns.map(({ key, header, cell, isFigure, isOneLine }) => (
          <td
            key={key}
            role="cell"
            data-label={header}
            data-figure={isFigure || undefined}
            data-one-line={isOneLine || undefined}
          >
            {cell(row)}
          </td>
        ))}
      </tr>
      {detail !== undefined && detail !== null && detail !== false && (
        <tr role="row" className="detail-row">
          <td role="cell" colSpan={columns.length}>
            {detail}
          </td>
        </tr>
      )}
    </>
  );
}
