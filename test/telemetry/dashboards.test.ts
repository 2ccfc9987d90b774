import { expect } from 'chai';
import { parse } from 'yaml';
import { FIGURES } from '../../host/contract/figures.ts';
import { read } from '../architecture/source.ts';

const TABLE: ReadonlyMap<
  string,
  { readonly kind: string; readonly labels: Readonly<Record<string, 'any' | readonly string[]>> }
> = new Map(Object.entries(FIGURES));
const FUNCTIONS = new Set(['sum', 'max', 'by', 'rate', 'increase', 'histogram_quantile', 'label_values', 'and']);

/** What an expression names that is not in the table of figures: figures, labels of selectors and groupings, values of labels. */
function strangers(expression: string): string[] {
  const names = [
    ...expression
      .replace(/"[^"]*"|\[[^\]]*\]|\{[^}]*\}/g, ' ')
      .replace(/by \([^)]*\)/g, ' ')
      .matchAll(/[a-z_]{3,}/g),
  ].map(([name]) => name);
  const figures = names
    .filter((name) => !FUNCTIONS.has(name))
    .map((name) => (TABLE.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '')));
  const known = figures.flatMap((name) => (TABLE.has(name) ? [TABLE.get(name)!] : []));
  const labelsOf = (label: string): (readonly string[] | 'any')[] =>
    known.flatMap(({ labels }) => labels[label] ?? []) as never;
  const selected = [...expression.matchAll(/([a-z_]+)(=~|!=|=)"([^"]*)"/g)]
    .filter(([, label = '', , value = '']) => {
      const fitting = known.filter(({ labels }) => label in labels);
      return (
        fitting.length === 0 ||
        !(
          value.startsWith('$') ||
          fitting.some(({ labels }) => labels[label] === 'any' || labels[label]!.includes(value))
        )
      );
    })
    .map(([whole]) => whole);
  const grouped = [...expression.matchAll(/by \(([^)]*)\)/g)]
    .flatMap(([, list = '']) => list.split(',').map((label) => label.trim()))
    .filter((label) => label !== 'le' && labelsOf(label).length === 0);
  return [...figures.filter((name) => !TABLE.has(name) && !/^(provider|model)$/.test(name)), ...selected, ...grouped];
}

interface Dashboard {
  readonly refresh: string;
  readonly time: { readonly from: string };
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly multi: boolean; readonly definition: string }[];
  };
  readonly panels: readonly {
    readonly type: string;
    readonly title: string;
    readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
}

describe('what watches a gateway', () => {
  const dashboard = JSON.parse(read('examples/deploy/grafana/dashboard.json')) as Dashboard;
  const { groups } = parse(read('examples/deploy/prometheus/alerts.yml')) as {
    readonly groups: readonly {
      readonly rules: readonly {
        readonly alert: string;
        readonly expr: string;
        readonly annotations: { readonly summary: string };
      }[];
    }[];
  };

  it('tells a name that is not in the table', () => {
    expect(strangers('sum by (provider) (rate(gateway_requests_total{status="success"}[5m]))')).to.deep.equal([]);
    expect(strangers('sum by (color) (rate(gateway_request_total{provider="x"}[5m]))')).to.deep.equal([
      'gateway_request_total',
      'provider="x"',
      'color',
    ]);
    expect(strangers('gateway_requests_total{status="fine",kind="x"}')).to.deep.equal(['status="fine"', 'kind="x"']);
  });

  it('names figures, labels and values of the table alone', () => {
    const expressions = [
      ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
      ...dashboard.templating.list.map(({ definition }) => definition),
      ...groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)),
    ];
    expect(expressions).to.have.length.above(30);
    expect(
      expressions.flatMap((expression) => strangers(expression).map((name) => `${name} in ${expression}`)),
    ).to.deep.equal([]);
    const legends = dashboard.panels.flatMap(({ targets = [] }) =>
      targets.flatMap(({ expr, legendFormat }) =>
        [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].filter(([, label = '']) => !expr.includes(label)),
      ),
    );
    expect(legends).to.deep.equal([]);
  });

  it('has its rows in their order', () => {
    expect(dashboard.panels.filter(({ type }) => type === 'row').map(({ title }) => title)).to.deep.equal([
      'Golden signals',
      'Providers',
      'Traffic',
      'Latency',
      'Tokens and cost',
      'Reliability',
      'Connections',
    ]);
    expect([
      dashboard.refresh,
      dashboard.time.from,
      dashboard.templating.list.map(({ name, multi }) => [name, multi]),
    ]).to.deep.equal([
      '5s',
      'now-15m',
      [
        ['provider', true],
        ['model', true],
      ],
    ]);
  });
});
