/** One change to a JSON document that no well-meaning sender would make. */
export interface Edit {
  /** Where and what, for messages. */
  readonly what: string;
  /** The document with the change, as text: some changes no parsed value can hold. */
  readonly text: () => string;
}

type Path = readonly (string | number)[];

const nested = (levels: number, left: string, right: string): string =>
  `${left.repeat(levels)}1${right.repeat(levels)}`;

/** What may stand in a place where something else belongs. */
const VALUES: readonly string[] = [
  'null',
  'true',
  '0',
  '-1',
  '1.5',
  '1e400',
  '-1e400',
  '4294967294',
  '4294967295',
  '9007199254740993',
  '-9007199254740993',
  '""',
  '"x"',
  '"4294967294"',
  '"__proto__"',
  '"\\ud800"',
  '"\\udc00x"',
  '"data: [DONE]\\n\\n"',
  '[]',
  '[null]',
  '[[]]',
  '[{}]',
  '{}',
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"toString":1,"valueOf":1}',
  '{"then":1,"toJSON":1}',
  '{"length":4294967295,"0":"x"}',
  `"${'x'.repeat(5000)}"`,
  nested(250, '[', ']'),
  nested(300, '[', ']'),
  nested(300, '{"a":', '}'),
];

/** Names that every object has already, or that some function looks for. */
const NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'hasOwnProperty',
  'then',
  'toJSON',
  'length',
  'rawJSON',
  '',
];
const MEMBERS = ['{"polluted":true}', '"polluted"', 'null', '[["polluted",1]]'];

const MARK = 'mark-of-an-edit-5d1c';

/** Every change that is made in one place: each value exchanged, doubled or left out, and each object given further members. */
export function editsOf(document: unknown): Edit[] {
  return pathsOf(document).flatMap((path) => editsAt(document, path));
}

function editsAt(document: unknown, path: Path): Edit[] {
  const at = path.length === 0 ? 'the whole' : path.join('.');
  const name = path.at(-1);
  const value = valueAt(document, path);
  const edits = VALUES.map((raw): Edit => ({
    what: `${at} is ${raw.slice(0, 40)}`,
    text: () => replaced(document, path, raw),
  }));
  if (typeof name === 'string') {
    edits.push({ what: `${at} is missing`, text: () => JSON.stringify(without(document, path)) });
    const twice = `${JSON.stringify(value)},${JSON.stringify(name)}:`;
    for (const raw of ['null', '{"polluted":true}'])
      edits.push({ what: `${at} stands twice, then ${raw}`, text: () => replaced(document, path, twice + raw) });
  }
  if (Array.isArray(value) && value.length > 0) {
    const [first] = value as readonly unknown[];
    edits.push({
      what: `${at} holds its first item 3,000 times`,
      text: () => replaced(document, path, JSON.stringify(Array.from({ length: 3000 }, () => first))),
    });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    for (const more of NAMES) {
      for (const raw of MEMBERS)
        edits.push({
          what: `${at} has a member ${more} of ${raw}`,
          text: () => replaced(document, path, withMember(value, `${JSON.stringify(more)}:${raw}`)),
        });
    }
  }
  return edits;
}

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const members = Array.isArray(value)
    ? value.slice(0, 8).map((item, index) => [index, item] as const)
    : Object.entries(value);
  return [path, ...members.flatMap(([name, member]) => pathsOf(member, [...path, name]))];
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((at, name) => (at as Record<string | number, unknown>)[name], value);
}

/** The document's text with other text in a value's place. */
function replaced(document: unknown, path: Path, raw: string): string {
  const copy = { root: structuredClone(document) };
  const [holder, name] = [valueAt(copy, ['root', ...path].slice(0, -1)), ['root', ...path].at(-1)] as [
    Record<string | number, unknown>,
    string | number,
  ];
  holder[name] = MARK;
  return JSON.stringify(copy.root).replace(JSON.stringify(MARK), () => raw);
}

function without(document: unknown, path: Path): unknown {
  const copy: unknown = structuredClone(document);
  delete (valueAt(copy, path.slice(0, -1)) as Record<string | number, unknown>)[path.at(-1) ?? ''];
  return copy;
}

function withMember(value: object, member: string): string {
  const text = JSON.stringify(value);
  return text === '{}' ? `{${member}}` : `${text.slice(0, -1)},${member}}`;
}

/** Whole documents that have nothing to do with what belongs there. */
export const STRANGE_DOCUMENTS: readonly Edit[] = [
  ...['', ' ', '{', '"', '[', '{"a":', 'NaN', '\ufeff{}', '{}{}', ...VALUES].map((text) => ({
    what: `a document ${JSON.stringify(text.slice(0, 40))}`,
    text: () => text,
  })),
  ...(
    [
      ['[', ']'],
      ['{"choices":[', ']}'],
      ['{"a":', '}'],
    ] as const
  ).flatMap(([left, right]) =>
    [20_000, 60_000].map((levels) => ({
      what: `${levels} levels of ${left}`,
      text: () => nested(levels, left, right),
    })),
  ),
  ...['choices', 'candidates', 'data', 'results', 'content', 'predictions'].map((name) => ({
    what: `300,000 ${name}`,
    text: () => `{"${name}":[${'{},'.repeat(299_999)}{}]}`,
  })),
  { what: '200,000 members', text: () => `{${Array.from({ length: 200_000 }, (_, at) => `"k${at}":1`).join(',')}}` },
];
