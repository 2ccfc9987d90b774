import { pathText } from '../../../host/config/problems.ts';
import { textOf } from '../show.ts';
import type { Imported } from './formats.ts';
import { neighbourOf } from './neighbours.ts';
import type { Compared } from './proof/compare.ts';
import type { Mark } from './reading.ts';
import { exportLine, type Variable } from './variables.ts';

interface ImportedFrom {
  readonly kind: string;
  readonly file: string;
  readonly title: string;
  /** File that was written, if one was. */
  readonly output: string | undefined;
  /** Every line of what was not carried, instead of one for each pattern. */
  readonly isFull: boolean;
  readonly proof: Compared;
  /** Lines that make the keys of its users anew. */
  readonly keys: readonly string[];
}

/** What became of the document: names first, then what to set, then its values by their paths. No value is quoted. */
export function importReport(imported: Imported, from: ImportedFrom): string {
  const { variables, outcome } = imported;
  const { file, title, output, proof } = from;
  const near = outcome.left.flatMap((mark) => neighbourOf(from.kind, mark.path) ?? []);
  const { lost, elsewhere } = proof;
  return [
    `Imported ${textOf(file)}, a ${title}${output === undefined ? '' : `, into ${textOf(output)}`}`,
    ...section(
      'Lost',
      lost.map(({ name, why }) => `${textOf(name)}: ${textOf(why)}`),
    ),
    ...section('Elsewhere', elsewhereLines(elsewhere)),
    ...section('Set these', variables.flatMap(variableLines), variables.length),
    ...section('Carried with a difference', outcome.different.map(markLine)),
    ...section(
      'Not carried',
      from.isFull ? outcome.left.map(markLine) : patternLines(outcome.left),
      outcome.left.length,
    ),
    ...section('Elsewhere in gw', [...new Set(near), ...from.keys]),
    '',
    `Carried: ${outcome.carried.length}. Names asked: ${proof.asked}.`,
    '',
  ].join('\n');
}

const section = (title: string, lines: readonly string[], count = lines.length): string[] =>
  lines.length === 0 ? [] : ['', `${title}: ${count}`, ...lines.map((line) => `  ${line}`)];

/** Each name with where it went and where it would go. */
export const elsewhereLines = (elsewhere: Compared['elsewhere']): readonly string[] =>
  elsewhere.map(({ name, from, to }) => `${textOf(name)}: ${textOf(from)} → ${textOf(to)}`);

const STATES = {
  carried: 'from',
  withheld: 'put the value there yourself: it stands at',
  missing: 'put the value there yourself: without it there is no provider',
  place: 'write it there yourself, or put it there: it stands at',
} as const;

const variableLines = (variable: Variable): string[] => [
  variable.state === 'place' ? `${variable.name}, which is ${variable.value} now` : exportLine(variable),
  `    ${STATES[variable.state]} ${textOf(variable.from)}`,
];

const markLine = ({ path, reason }: Mark): string => `${textOf(pathText(path), '(document)')}: ${textOf(reason)}`;

/** One line for each pattern of paths and reason, with how often it holds and an example where it is more than once. */
function patternLines(marks: readonly Mark[]): readonly string[] {
  const groups = Map.groupBy(marks, (mark) => JSON.stringify([patternOf(mark), mark.reason]));
  return [...groups.values()].flatMap((group) => {
    const [mark] = group;
    if (!mark) return [];
    if (group.length === 1) return [markLine(mark)];
    return [`${patternOf(mark)}  ${group.length} × ${textOf(mark.reason)}, such as ${textOf(pathText(mark.path))}`];
  });
}

/** Numbers become stars, and so does what stands in a map of any facts. */
const patternOf = ({ path }: Mark): string =>
  textOf(pathText(path), '(document)')
    .replaceAll(/\[\d+\]/g, '[*]')
    .replace(/(\.model_info)\..*$/, '$1.*');
