import { pathText } from '../../../host/config/problems.ts';
import { textOf } from '../show.ts';
import { exportLine, type Variable } from './environment.ts';
import type { Imported } from './formats.ts';
import type { Mark } from './reading.ts';

interface ImportedFrom {
  readonly file: string;
  readonly title: string;
  /** File that was written, if one was. */
  readonly output: string | undefined;
}

/** What became of the document: variables to set, and every value that is not in the result as it was, by its path. No value is quoted. */
export function importReport(
  { variables, outcome: { carried, different, left } }: Imported,
  { file, title, output }: ImportedFrom,
): string {
  return [
    `Imported ${textOf(file)}, a ${title}${output === undefined ? '' : `, into ${textOf(output)}`}`,
    ...section(variables.length > 0, 'Set these before gw starts:', variables.flatMap(variableLines)),
    ...section(true, `Carried over: ${carried.length}`, []),
    ...section(different.length > 0, `Carried over with a difference: ${different.length}`, different.map(markLine)),
    ...section(true, `Not carried over: ${left.length}`, left.map(markLine)),
    '',
  ].join('\n');
}

const section = (isThere: boolean, title: string, lines: readonly string[]): string[] =>
  isThere ? ['', title, ...lines.map((line) => `  ${line}`)] : [];

const STATES = {
  carried: 'from',
  withheld: 'put the value there yourself: it stands at',
  missing: 'put the value there yourself: without it there is no provider',
} as const;

const variableLines = (variable: Variable): string[] => [
  exportLine(variable),
  `    ${STATES[variable.state]} ${textOf(variable.from)}`,
];

const markLine = ({ path, reason }: Mark): string => `${textOf(pathText(path), '(document)')}: ${textOf(reason)}`;
