// Compares an answer with what an example says of it.

/** The value at `a.0.b`; undefined where there is none. */
export const at = (value, path) =>
  path.split('.').reduce((found, part) => (found === null || found === undefined ? undefined : found[part]), value);

const isObject = (value) => typeof value === 'object' && value !== null;

/** Whether every member that is expected is there and equal; `…` at either end of a text stands for anything. */
export function holds(expected, got) {
  if (typeof expected === 'string' && typeof got === 'string' && expected.includes('…')) return fits(expected, got);
  if (Array.isArray(expected))
    return (
      Array.isArray(got) && expected.length === got.length && expected.every((each, index) => holds(each, got[index]))
    );
  if (isObject(expected))
    return isObject(got) && Object.entries(expected).every(([name, each]) => holds(each, got[name]));
  return expected === got;
}

function fits(pattern, text) {
  const parts = pattern.split('…');
  let from = 0;
  for (const [index, part] of parts.entries()) {
    const found = index === 0 ? (text.startsWith(part) ? 0 : -1) : text.indexOf(part, from);
    if (found < 0) return false;
    from = found + part.length;
  }
  return parts.at(-1) === '' || text.endsWith(parts.at(-1));
}

/** What is not as expected, a line each. */
export function problemsOf({ status, headers = {}, text, json = {}, absent = [] }, answer) {
  const problems = [];
  const compare = (what, expected, got) => {
    if (!holds(expected, got))
      problems.push(`${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`);
  };
  if (status !== undefined) compare('status', status, answer.status);
  for (const [name, value] of Object.entries(headers)) compare(name, value, answer.headers.get(name) ?? null);
  if (text !== undefined) compare('text', text, answer.text);
  for (const [path, value] of Object.entries(json)) compare(path, value, at(answer.body, path) ?? null);
  for (const part of absent) if (answer.raw.includes(part)) problems.push(`the answer holds ${JSON.stringify(part)}`);
  return problems;
}

/** Shares of answers by the value of a header or of a member, each between two bounds; or one value in all of them. */
export function shareProblems({ header, member, between = {}, same = false }, answers) {
  const values = new Set(answers.map(({ headers, body }) => (header ? headers.get(header) : at(body, member))));
  if (same && values.size > 1) return [`${header ?? member}: expected one value, got ${[...values].join(', ')}`];
  return Object.entries(between).flatMap(([value, [least, most]]) => {
    const fitting = answers.filter(({ headers, body }) => (header ? headers.get(header) : at(body, member)) === value);
    const share = fitting.length / answers.length;
    return share >= least && share <= most ? [] : [`share of ${value}: expected ${least} to ${most}, got ${share}`];
  });
}
