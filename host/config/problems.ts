/** A finding about a configuration or a module: collected, never thrown one by one. */
export interface Problem {
  /** Where, for example `targets[0].retry` or a file name. */
  readonly path: string;
  /** Rule id, for example `CV09`. */
  readonly rule: string;
  /** What is wrong: names the thing and the limit. */
  readonly message: string;
  /** What to write instead. */
  readonly fix: string;
  /** Members the rule compared with; when they could not be decoded, the finding is void. */
  readonly needs?: RegExp;
  /** 1-based line in the file, when there is one. */
  readonly line?: number | undefined;
  /** The lines of a module that it is about, for people. */
  readonly frame?: string | undefined;
}

/** One line: path, rule, what is wrong, the fix and the line. A line break in a name or a value is written as `\n`. */
export function problemLine(problem: Problem): string {
  const line = problem.line === undefined ? '' : ` (line ${problem.line})`;
  return onOneLine(`${problem.path || '(document)'}: ${problem.rule}: ${problem.message}; fix: ${problem.fix}${line}`);
}

const onOneLine = (text: string): string => text.replace(/[\r\n]/g, (found) => (found === '\n' ? '\\n' : '\\r'));

/** True for problems of reading and decoding, as against rules about what was read. */
export function isDecodeProblem(problem: Problem): boolean {
  return problem.rule.startsWith('DC');
}

/** Thrown once, with everything that is wrong. */
export class ConfigRefused extends Error {
  override readonly name = 'ConfigRefused';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(problemLine).join('\n'));
    this.problems = problems;
  }
}

/** Names and places that lead from the document to a value. */
export type Path = readonly (string | number)[];

/** Path of a member: `targets`, 0, `retry` gives `targets[0].retry`. */
export function pathText(path: Path): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else text += text === '' ? part : `.${part}`;
  }
  return text;
}

/** The parts of a path: `targets[0].retry` gives `targets`, 0, `retry`. Names that hold dots come apart. */
export function parsePath(text: string): (string | number)[] {
  return [...text.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map((part) => (part[1] === undefined ? part[0] : Number(part[1])));
}
