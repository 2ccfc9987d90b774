import { usePolled } from '../../api/polling.ts';
import type { Coverage, CoverageCell, CoverageRow } from '../../api/wire.ts';
import { count } from '../../lib/format.ts';
import { useApi } from '../../services.ts';
import { Panel } from '../../ui/panel.tsx';
import { Pill } from '../../ui/pill.tsx';
import { Banner, Loaded } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';

/** Which plugins read which bodies, and which bodies no guardrail sees. */
export function CoverageView() {
  const api = useApi();
  const reading = usePolled<Coverage>({
    key: ['plugins', 'coverage'],
    everySeconds: 60,
    read: (signal) => api.json('/admin/plugins/coverage', { signal }),
  });
  return (
    <Loaded reading={reading} what="Coverage">
      {(coverage) => <CoverageTable coverage={coverage} />}
    </Loaded>
  );
}

interface SurfaceRow {
  readonly surface: string;
  readonly before: CoverageRow | undefined;
  readonly after: CoverageRow | undefined;
}

const COLUMNS: readonly Column<SurfaceRow>[] = [
  { key: 'surface', header: 'Surface', isOneLine: true, cell: ({ surface }) => <b>{surface}</b> },
  { key: 'before', header: 'Requests are read by', cell: ({ before }) => <Readers row={before} /> },
  { key: 'after', header: 'Answers are read by', cell: ({ after }) => <Readers row={after} /> },
];

function CoverageTable({ coverage: { data, warnings } }: { readonly coverage: Coverage }) {
  const rows = [...Map.groupBy(data, ({ surface }) => surface)].map(([surface, own]): SurfaceRow => ({
    surface,
    before: own.find(({ stage }) => stage === 'before_request'),
    after: own.find(({ stage }) => stage === 'after_request'),
  }));
  return (
    <>
      {warnings.length > 0 && (
        <Banner tone="warn">
          <details className="warnings">
            <summary>
              {count(warnings.length, 'body', 'bodies')} that no content guardrail reads, although one reads others
            </summary>
            <ul>
              {warnings.map((warning) => (
                <li key={warning}>{warning}</li>
              ))}
            </ul>
          </details>
        </Banner>
      )}
      <Panel
        title="Coverage"
        description="By the configuration in force. Surfaces are families of routes with one form of body."
        isFlush
      >
        <Table label="Coverage" columns={COLUMNS} rows={rows} rowKey={({ surface }) => surface} />
      </Panel>
    </>
  );
}

function Readers({ row }: { readonly row: CoverageRow | undefined }) {
  if (!row) return <span className="muted">–</span>;
  return row.translated ? (
    <>
      <ReadBy cell={row} />{' '}
      <span className="row">
        <span className="muted">translated:</span>
        <ReadBy cell={row.translated} />
      </span>
    </>
  ) : (
    <ReadBy cell={row} />
  );
}

function ReadBy({ cell }: { readonly cell: CoverageCell }) {
  if (cell.refused) return <Pill tone="warn">refused: it cannot be read</Pill>;
  if (cell.plugins.length === 0) return <span className="muted">nothing</span>;
  return (
    <span className="row">
      {cell.plugins.map((name) => (
        <Pill key={name}>{name}</Pill>
      ))}
      {cell.recorded && <span className="muted">after it was sent</span>}
    </span>
  );
}
