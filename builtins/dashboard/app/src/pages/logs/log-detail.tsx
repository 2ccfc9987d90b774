import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { ExplainedTarget, Explanation } from '../../api/admin-wire.ts';
import { usePolled } from '../../api/polling.ts';
import type { LogEntry } from '../../api/wire.ts';
import { absoluteTime, DASH, duration, integer, usd } from '../../lib/format.ts';
import { useApi } from '../../services.ts';
import { CopyButton } from '../../ui/copy.tsx';
import { Banner, Loaded } from '../../ui/states.tsx';
import type { KeyName } from './key-names.ts';
import { Timeline } from './timeline.tsx';

/** Everything that is known of a request: its figures, its time and why it went where it did. */
export function LogDetail({ row, name }: { readonly row: LogEntry; readonly name: KeyName }) {
  const api = useApi();
  const reading = usePolled<Explanation>({
    key: ['logs', 'explain', row.trace_id],
    read: (signal) => api.json(`/admin/explain/${encodeURIComponent(row.trace_id)}`, { signal }),
    isEnabled: row.trace_id !== '',
  });
  return (
    <div className="record-detail">
      <div>
        <h3>Request</h3>
        {row.error_message !== '' && <Banner tone="bad">{row.error_message}</Banner>}
        <Figures row={row} name={name} />
      </div>
      <div>
        {row.trace_id === '' ? (
          <p className="muted">A row without a trace id has no record of its route.</p>
        ) : (
          <Loaded reading={reading} what="Explanation">
            {(explanation) => (
              <>
                <Timeline row={row} attempts={explanation.attempts ?? []} />
                <Why explanation={explanation} />
              </>
            )}
          </Loaded>
        )}
      </div>
    </div>
  );
}

type Entries = readonly (readonly [label: string, value: ReactNode])[];

/** Where a request went, of what the configuration declares. */
function placeOf({ provider_kind, credential, model_group, affinity }: LogEntry): Entries {
  const known = [
    ['Kind', provider_kind],
    ['Credential', credential],
    ['Group', model_group],
    ['Affinity', affinity],
  ] as const;
  return known.filter(([, value]) => value !== undefined && value !== null);
}

/** How it ended, in words for operators. */
function endOf(row: LogEntry): Entries {
  const { status, outcome, code, reason, upstream_status, upstream_message: said } = row;
  const known = [
    ['Status', status],
    ['Outcome', outcome],
    ['Code', code],
    ['Reason', reason],
    ["Provider's status", upstream_status === status ? undefined : upstream_status],
    ['The provider said', said === row.error_message ? undefined : said],
  ] as const;
  return known.filter(([, value]) => value !== undefined && value !== null);
}

/** Who asked, and from where. */
function askerOf({ address, user_agent, user, metadata, method, path }: LogEntry): Entries {
  const known = [
    ['Path', path === undefined ? undefined : `${method ?? ''} ${path}`.trim()],
    ['Address', address],
    ['User agent', user_agent],
    ['User', user],
    ...Object.entries(metadata ?? {}).map(([name, value]) => [`Metadata: ${name}`, String(value)] as const),
  ] as const;
  return known.filter(([, value]) => value !== undefined && value !== null);
}

/** What the vendor's cache did. What it saved is below zero where writing to it cost more. */
function cacheOf({ cache_read_tokens: read, cache_write_tokens: written, cache_saved_usd: saved }: LogEntry): Entries {
  const tokens = typeof read === 'number' || typeof written === 'number';
  return [
    ...(tokens
      ? [["Provider's cache", `${integer(read ?? 0)} tokens read, ${integer(written ?? 0)} written`] as const]
      : []),
    ...(typeof saved === 'number'
      ? [[saved < 0 ? 'The cache cost' : 'The cache saved', usd(Math.abs(saved))] as const]
      : []),
  ];
}

function Figures({ row, name }: { readonly row: LogEntry; readonly name: KeyName }) {
  const entries: Entries = [
    ['Time', absoluteTime(Date.parse(row.created_at))],
    [
      'Trace id',
      <span className="record-id">
        <span className="mono">{row.trace_id || DASH}</span>
        {row.trace_id !== '' && <CopyButton text={row.trace_id} label="Copy the whole trace id" />}
        {row.trace_id !== '' && <Link href={`/logs?find=${encodeURIComponent(row.trace_id)}`}>Permanent link</Link>}
      </span>,
    ],
    [
      'API key',
      row.api_key_id === '' ? (
        name.name
      ) : (
        <>
          {name.name} <span className="mono muted">{row.api_key_id}</span>
        </>
      ),
    ],
    ['Model', row.model || DASH],
    ['Provider', row.provider || DASH],
    ['Target', row.target ?? DASH],
    ...endOf(row),
    ...askerOf(row),
    ...placeOf(row),
    ['Attempts', integer(row.attempts)],
    ['Cache', row.cache ?? DASH],
    ...(row.ab_label === undefined ? [] : [['Variant', row.ab_label] as const]),
    ['Duration', duration(row.duration_ms)],
    ['Time to first token', duration(row.ttft_ms)],
    [
      'Tokens',
      `${integer(row.prompt_tokens)} in, ${integer(row.completion_tokens)} out, ${integer(row.total_tokens)} in all`,
    ],
    [
      'Cost',
      row.cost_usd === null
        ? `${DASH} (no price is known)`
        : `${usd(row.cost_usd)}${row.cost_source === 'estimated' ? ' (estimated)' : ''}`,
    ],
    ...cacheOf(row),
    ...(row.price_line === undefined || row.price_line === 'standard' ? [] : [['Prices', row.price_line] as const]),
    ...(row.client_wire === undefined
      ? []
      : [['Client', `${row.client_wire}, ${row.same_wire === true ? 'as it is' : 'translated'}`] as const]),
    ...(row.session_id === undefined ? [] : [['Session', <span className="mono">{row.session_id}</span>] as const]),
    ...(row.upstream_request_id === undefined
      ? []
      : [["Provider's id", <span className="mono">{row.upstream_request_id}</span>] as const]),
    ...(row.catalog_version === undefined ? [] : [['Prices of', row.catalog_version] as const]),
  ];
  return (
    <dl className="definitions">
      {entries.map(([label, value]) => (
        <div key={label} className="definition">
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Why({ explanation }: { readonly explanation: Explanation }) {
  const { model, requested_model, group, strategy, rule, unroutable, order = [], dropped = [] } = explanation;
  return (
    <section aria-label="Why">
      <h3>Why it went there</h3>
      <ul className="why">
        {requested_model !== undefined && requested_model !== model && (
          <li>
            The alias <code>{requested_model}</code> stands for <code>{model}</code>.
          </li>
        )}
        {group !== undefined && (
          <li>
            The group <code>{group.name}</code> takes the name.
          </li>
        )}
        {strategy !== undefined && (
          <li>
            The strategy is <code>{strategy}</code>
            {rule ? (
              <>
                ; its rule <code>{rule}</code> matched
              </>
            ) : (
              ''
            )}
            .
          </li>
        )}
        {unroutable !== undefined && <li>{unroutable}</li>}
        {order.map((target, at) => (
          <li key={`${target.route ?? target.target} ${target.via}`}>
            <strong>
              {at + 1}. {target.route ?? target.target}
            </strong>
            {target.upstream_model === undefined ? '' : ` as ${target.upstream_model}`}: {reasonOf(target)}
          </li>
        ))}
        {dropped.map((target) => (
          <li key={`${target.route ?? target.target} ${target.via}`} className="muted">
            <strong>{target.route ?? target.target}</strong> was left out: {reasonOf(target)}
          </li>
        ))}
      </ul>
    </section>
  );
}

function reasonOf({ reason, figures = {}, via }: ExplainedTarget): string {
  const known = Object.entries(figures).map(([name, value]) => `${name} ${value}`);
  return [via === undefined ? '' : `by the fallback ${via}`, reason ?? 'in the order of the strategy', ...known]
    .filter(Boolean)
    .join(', ');
}
