import { expect } from 'chai';
import { FIGURES } from '../../host/contract/figures.ts';
import { filesIn, read } from '../architecture/source.ts';

const text = read('docs/observability.md');
const section = (name: string): string => text.split(`\n## ${name}\n`)[1]!.split('\n## ')[0]!;
const rowsOf = (part: string): string[][] =>
  part
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.slice(2, -2).split(' | '));

describe('docs/observability.md', () => {
  it('has every figure with its kind, labels and help, and no other', () => {
    const told = rowsOf(section('Figures')).map((row) => row.join(' | '));
    const wanted = Object.entries<{
      readonly kind: string;
      readonly help: string;
      readonly labels: Readonly<Record<string, 'any' | readonly string[]>>;
    }>(FIGURES).map(([name, { kind, help, labels }]) => {
      const shown = Object.entries(labels).map(
        ([label, values]) =>
          `\`${label}\`${values === 'any' ? '' : `: ${values.map((value) => `\`${value}\``).join(', ')}`}`,
      );
      return `\`${name}\` | ${kind} | ${shown.join('; ')} | ${help}`;
    });
    expect(told).to.deep.equal(wanted);
  });

  it('tells of log lines that there are', () => {
    const sources = filesIn('host', 'builtins')
      .map((path) => read(path))
      .join('\n');
    const lines = rowsOf(section('Log lines'))
      .flatMap(([first = '']) => [...first.matchAll(/`([^`]+)`/g)].map(([, line = '']) => line))
      .filter((line) => !line.startsWith('…'));
    expect(lines).to.have.length.above(20);
    const absent = lines.filter(
      (line) =>
        !sources.includes(`'${line}'`) &&
        !sources.includes(`"${line}"`) &&
        !(line.endsWith('…') && sources.includes(`\`${line.slice(0, -1)}`)) &&
        !sources.includes(
          `\`${line.replace(/observed|recorded/, '${action}').replace('embedding ', '${other.name} ')}\``,
        ) &&
        line !== 'request failed',
    );
    expect(absent).to.deep.equal([]);
  });

  it('tells of every attribute that a span may have', () => {
    const sources = filesIn('builtins')
      .filter((path) => path.startsWith('builtins/telemetry/tracing/'))
      .map((path) => read(path))
      .join('\n');
    const names = new Set([...sources.matchAll(/'((?:gen_ai|gw)\.[a-z_.]+)'/g)].map(([, name = '']) => name));
    const traces = section('Traces');
    const absent = [...names].filter(
      (name) => !traces.includes(`\`${name}\``) && !traces.includes(`\`.${name.split('.').at(-1)}\``),
    );
    expect(
      absent.filter((name) => !/^gw\.(retry\.wait_ms|routing\.tries|circuit_breaker\.(from|to))$/.test(name)),
    ).to.deep.equal([]);
  });
});
