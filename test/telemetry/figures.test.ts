import { expect } from 'chai';
import { FIGURES } from '../../host/contract/figures.ts';
import { createCounters } from '../../host/state/counters.ts';
import { filesIn, read } from '../architecture/source.ts';
import { figureProblem } from '../kit/figures.ts';
import { golden } from '../kit/index.ts';

interface Figure {
  readonly kind: string;
  readonly labels: Readonly<Record<string, 'any' | readonly string[]>>;
  readonly buckets?: readonly number[];
}

type Row = Figure & { readonly name: string };

const promised = (JSON.parse(golden('promised/figures.json')) as { readonly rows: readonly Row[] }).rows;

/** A figure as one line: labels and values in any order. */
function lineOf({ kind, labels, buckets = [] }: Figure): string {
  const told = Object.entries(labels).map(
    ([label, values]) => `${label}=${values === 'any' ? 'any' : values.toSorted().join(' ')}`,
  );
  return [kind, ...told.toSorted(), ...buckets].join(', ');
}

function differences(figures: Readonly<Record<string, Figure>>, rows: readonly Row[]): string[] {
  const wanted = new Map(rows.map((row) => [row.name, lineOf(row)]));
  const have = new Map(Object.entries(figures).map(([name, figure]) => [name, lineOf(figure)]));
  return [...new Set([...wanted.keys(), ...have.keys()])]
    .filter((name) => wanted.get(name) !== have.get(name))
    .map((name) => `${name}: ${have.get(name) ?? 'missing'}; promised is ${wanted.get(name) ?? 'nothing'}`);
}

describe('the table of figures', () => {
  it('is the list that is promised: names, kinds, labels, values, buckets', () => {
    expect(differences(FIGURES, promised)).to.deep.equal([]);
  });

  it('differs by a missing figure, one too many, another kind, label, value or bucket', () => {
    const row: Row = { name: 'x', kind: 'histogram', labels: { a: 'any', b: ['1', '2'] }, buckets: [1] };
    expect(differences({ x: { ...row, labels: { b: ['2', '1'], a: 'any' } } }, [row])).to.deep.equal([]);
    const others: readonly Readonly<Record<string, Figure>>[] = [
      {},
      { x: row, y: row },
      { x: { ...row, kind: 'gauge' } },
      { x: { ...row, labels: { a: 'any' } } },
      { x: { ...row, labels: { a: 'any', b: ['1'] } } },
      { x: { ...row, labels: { a: 'any', b: 'any' } } },
      { x: { ...row, buckets: [2] } },
    ];
    for (const figures of others) expect(differences(figures, [row])).to.have.lengthOf(1);
  });

  it('has help without a full stop, and buckets that ascend, for histograms alone', () => {
    const figures: Readonly<Record<string, Figure & { readonly help: string }>> = FIGURES;
    for (const [name, { kind, help, buckets }] of Object.entries(figures)) {
      expect(help, name).to.match(/^[A-Z].*[^.]$/);
      expect(buckets !== undefined, name).to.equal(kind === 'histogram');
      expect(buckets).to.deep.equal(buckets?.toSorted((a, b) => a - b));
    }
  });
});

describe('figures', () => {
  it('are counted in one file each', () => {
    const sources = filesIn('host', 'builtins', 'providers', 'strategies', 'plugins')
      .filter((path) => path !== 'host/contract/figures.ts')
      .map((path) => [path, read(path)] as const);
    const places = Object.keys(FIGURES).map((name) => [
      name,
      ...sources.filter(([, source]) => source.includes(`'${name}'`)).map(([path]) => path),
    ]);
    // Whose limit it was, and what was lost, stands in their label: each kind counts its own.
    const shared = new Set<string>([
      'gateway_rate_limit_rejections_total',
      'gateway_observability_events_dropped_total',
    ]);
    expect(places.filter(([name = '', ...paths]) => paths.length > 1 && !shared.has(name))).to.deep.equal([]);
    expect(places.filter(([, ...paths]) => paths.length > 0)).to.have.length.above(10);
  });
});

describe('what is counted', () => {
  /** What reached the sink, and what the kit has against it. */
  function counted(): {
    readonly counters: ReturnType<typeof createCounters>;
    readonly names: string[];
    readonly problems: string[];
  } {
    const counters = createCounters();
    const [names, problems]: [string[], string[]] = [[], []];
    counters.attach({
      add: (name, labels) => {
        names.push(name);
        problems.push(...figureProblem('counter', name, labels));
      },
      observe: (name, _value, labels) => {
        names.push(name);
        problems.push(...figureProblem('histogram', name, labels));
      },
    });
    return { counters, names, problems };
  }

  const labels = { provider: 'a', model: 'm' };

  it('has a name, labels and values of the table, by its types and in every gateway of the tests', () => {
    const { counters, names, problems } = counted();
    // @ts-expect-error -- a name that is not in the table
    counters.add('gateway_request_total', { ...labels, status: 'success' });
    // @ts-expect-error -- another prefix of the gateway's
    counters.add('gw_calls_total');
    // @ts-expect-error -- a value that the label cannot have
    counters.add('gateway_requests_total', { ...labels, status: 'failed' });
    // @ts-expect-error -- a label is missing
    counters.add('gateway_requests_total', labels);
    // @ts-expect-error -- a label too many
    counters.add('gateway_ab_requests_total', { variant: 'a', model: 'm' });
    // @ts-expect-error -- a distribution
    counters.add('gateway_request_duration_seconds', labels);
    // @ts-expect-error -- a count
    counters.observe('gateway_tokens_input_total', 1, labels);
    // @ts-expect-error -- computed when metrics are read
    counters.add('gateway_circuit_breaker_state', { provider: 'a' });
    expect(problems)
      .to.have.lengthOf(names.length)
      .and.deep.equal([
        'gateway_request_total is not a counter',
        'gw_calls_total is not a counter',
        'gateway_requests_total with status of failed',
        'gateway_requests_total without status',
        'gateway_ab_requests_total with model',
        'gateway_request_duration_seconds is not a counter',
        'gateway_tokens_input_total is not a histogram',
        'gateway_circuit_breaker_state is not a counter',
      ]);
  });

  it("may be a figure of a module, under a name that does not begin as the gateway's do", () => {
    const { counters, names, problems } = counted();
    counters.add('gateway_requests_total', { ...labels, status: 'success' });
    counters.observe('gateway_request_duration_seconds', 1, labels);
    counters.add('acme_calls_total');
    counters.add('acme_calls_total', { region: 'x' }, 2);
    counters.observe('acme_seconds', 1);
    const computed: string = ['acme', 'more'].join('_');
    counters.add(computed, { region: 'x' });
    expect([names.length, problems]).to.deep.equal([6, []]);
  });
});
