import type { GatewayConfig, RuleConfig, StrategyConfig, TargetConfig } from '../../api/wire.ts';
import { DASH, percent } from '../../lib/format.ts';
import { Panel } from '../../ui/panel.tsx';
import { Pill } from '../../ui/pill.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { type Mode, MODES } from './modes.ts';

/** The strategy in force, its targets and rules, and the ones that could stand in its place. */
export function StrategyView({ config }: { readonly config: GatewayConfig }) {
  const strategy = config.strategy ?? {};
  const mode = strategy.mode || 'single';
  return (
    <>
      <ActiveMode mode={mode} strategy={strategy} />
      <Panel title="Targets" description="In declared order." isFlush>
        <Targets targets={config.targets ?? []} />
      </Panel>
      <Rules mode={mode} strategy={strategy} />
      <Aliases aliases={config.aliases ?? {}} />
      <Panel title="All strategies" description="Set strategy.mode in the configuration to change." isFlush>
        <Table label="All strategies" columns={modeColumns(mode)} rows={MODES} rowKey={(row) => row.mode} />
      </Panel>
    </>
  );
}

const AFFINITIES: Readonly<Record<string, string>> = {
  session: 'stay where they were served (affinity: session)',
  off: 'are not kept together (affinity: off)',
};

/** A mode that a module beside the gateway brings is shown as it is written. */
export function ActiveMode({ mode, strategy }: { readonly mode: string; readonly strategy: StrategyConfig }) {
  const known = MODES.find((each) => each.mode === mode);
  const codes = strategy.failover_on_status_codes ?? [];
  return (
    <Panel title="Active strategy">
      <div className="mode-active">
        <span className="mode-name">{mode}</span>
        <span className="muted">{known?.summary ?? 'A strategy of a module beside this gateway.'}</span>
      </div>
      <dl className="definitions">
        <dt>When a target fails</dt>
        <dd>{known?.onFailure ?? DASH}</dd>
        {strategy.affinity !== undefined && (
          <>
            <dt>Sessions</dt>
            <dd>{AFFINITIES[strategy.affinity] ?? strategy.affinity}</dd>
          </>
        )}
        {codes.length > 0 && (
          <>
            <dt>Fails over on status</dt>
            <dd>{codes.join(', ')}</dd>
          </>
        )}
        {strategy.failover_on && strategy.failover_on.length > 0 && (
          <>
            <dt>Fails over on</dt>
            <dd>{strategy.failover_on.join(', ')}</dd>
          </>
        )}
        {strategy.unpriced_strategy && (
          <>
            <dt>Models without a price</dt>
            <dd>{strategy.unpriced_strategy}</dd>
          </>
        )}
        {strategy.settings && (
          <>
            <dt>Settings</dt>
            <dd>
              <code>{JSON.stringify(strategy.settings)}</code>
            </dd>
          </>
        )}
      </dl>
    </Panel>
  );
}

function breakerText({ circuit_breaker: breaker }: TargetConfig): string {
  if (!breaker) return 'none';
  const { failure_threshold: failures, timeout } = breaker;
  const parts = [failures ? `opens after ${failures}` : '', timeout ? `rests ${timeout}` : ''].filter(Boolean);
  return parts.length > 0 ? parts.join(', ') : 'with its defaults';
}

const TARGET_COLUMNS: readonly Column<TargetConfig>[] = [
  { key: 'target', header: 'Target', cell: ({ virtual_key }) => <b className="break">{virtual_key}</b> },
  {
    key: 'models',
    header: 'Models',
    cell: ({ models, model_map }) => (
      <span className="break">
        {[...(models ?? []), ...Object.keys(model_map ?? {})].join(', ') || 'all it serves'}
      </span>
    ),
  },
  { key: 'weight', header: 'Weight', isFigure: true, cell: ({ weight }) => weight ?? DASH },
  { key: 'attempts', header: 'Attempts', isFigure: true, cell: ({ retry }) => retry?.attempts ?? DASH },
  {
    key: 'concurrency',
    header: 'Concurrency',
    cell: ({ concurrency }) =>
      concurrency?.max_concurrency
        ? `${concurrency.max_concurrency}${concurrency.queue_size ? `, ${concurrency.queue_size} waiting` : ''}`
        : 'no limit',
  },
  { key: 'breaker', header: 'Circuit breaker', cell: breakerText },
];

function Targets({ targets }: { readonly targets: readonly TargetConfig[] }) {
  if (targets.length === 0)
    return <Empty title="No targets">Requests have nowhere to go until the configuration names one.</Empty>;
  return (
    <Table
      label="Targets"
      columns={TARGET_COLUMNS}
      rows={targets}
      rowKey={({ virtual_key }, at) => `${virtual_key} ${at}`}
    />
  );
}

interface Variant {
  readonly label: string;
  readonly target: string;
  readonly share: number;
}

const VARIANT_COLUMNS: readonly Column<Variant>[] = [
  { key: 'label', header: 'Label', cell: ({ label }) => <b className="break">{label}</b> },
  { key: 'target', header: 'Target', cell: ({ target }) => target },
  { key: 'share', header: 'Share', isFigure: true, cell: ({ share }) => percent(share) },
];

const RULE_COLUMNS: readonly Column<RuleConfig>[] = [
  {
    key: 'on',
    header: 'Looks at',
    cell: ({ key, field, type }) => [key, field, type].filter(Boolean).join(' ') || DASH,
  },
  { key: 'value', header: 'For', cell: ({ value }) => <code className="break">{value ?? DASH}</code> },
  { key: 'target', header: 'Target', cell: ({ target_key }) => target_key ?? DASH },
];

export function Rules({ mode, strategy }: { readonly mode: string; readonly strategy: StrategyConfig }) {
  const variants = strategy.ab_variants ?? [];
  if (mode === 'ab-test' && variants.length > 0) {
    const sum = variants.reduce((total, { weight = 0 }) => total + weight, 0);
    const rows = variants.map(({ label, target_key = '', weight = 0 }) => ({
      label: label || target_key,
      target: target_key,
      share: sum === 0 ? 0 : weight / sum,
    }));
    return (
      <Panel title="Variants" isFlush>
        <Table label="Variants" columns={VARIANT_COLUMNS} rows={rows} rowKey={({ label }, at) => `${label} ${at}`} />
      </Panel>
    );
  }
  const rules = (mode === 'content-based' ? strategy.content_conditions : strategy.conditions) ?? [];
  if (rules.length === 0) return null;
  return (
    <Panel
      title="Rules"
      description="The first that matches names the target; when none does, the first target takes the request."
      isFlush
    >
      <Table label="Rules" columns={RULE_COLUMNS} rows={rules} rowKey={(_rule, at) => String(at)} />
    </Panel>
  );
}

function Aliases({ aliases }: { readonly aliases: Readonly<Record<string, string>> }) {
  const entries = Object.entries(aliases);
  if (entries.length === 0) return null;
  const columns: readonly Column<(typeof entries)[number]>[] = [
    { key: 'alias', header: 'A request for', cell: ([alias]) => <b className="break">{alias}</b> },
    { key: 'model', header: 'asks for', cell: ([, model]) => <span className="break">{model}</span> },
  ];
  return (
    <Panel title="Aliases" isFlush>
      <Table label="Aliases" columns={columns} rows={entries} rowKey={([alias]) => alias} />
    </Panel>
  );
}

const modeColumns = (active: string): readonly Column<Mode>[] => [
  {
    key: 'mode',
    header: 'Mode',
    isOneLine: true,
    cell: ({ mode }) => (
      <span className="row">
        <b>{mode}</b>
        {mode === active && <Pill tone="accent">active</Pill>}
      </span>
    ),
  },
  { key: 'summary', header: 'What it does', cell: ({ summary }) => summary },
  { key: 'failure', header: 'When a target fails', isOneLine: true, cell: ({ onFailure }) => onFailure },
];
