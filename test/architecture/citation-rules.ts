import { posix } from 'node:path';
import { type Checker, commentsOf } from './source.ts';

/** What citations may point at. */
export interface Citable {
  /** Anchors of a page's headings; `undefined` where there is no such page. Paths are those from the root of the repository. */
  readonly anchorsOf: (path: string) => ReadonlySet<string> | undefined;
  /** Whether a path that is not a page exists. */
  readonly exists: (path: string) => boolean;
  /** Numbers of the pages in docs/decisions. */
  readonly decisions: ReadonlySet<string>;
  /** Ids of the rules that pages list, such as `CV01`. */
  readonly ruleIds: ReadonlySet<string>;
}

/** A sentence goes on in the next line of a comment: `_` in a pattern stands for what is between two words. */
const pattern = (source: string, flags: string): RegExp =>
  new RegExp(source.replaceAll('_', String.raw`[\s*/]+`), flags);

const AREAS =
  'providers|data-plane|governance|ingress|guardrails|admin|observability|configuration|money|identity|replicas|fleet|deploy|dashboard|cockpit';

/** Forms that name a document outside of the repository. */
const OLD_FORMS: readonly RegExp[] = [
  pattern(String.raw`\b(?:${AREAS})_references?\b`, 'gi'),
  pattern(String.raw`\breferences?,?_(?:sections?_)?\d{1,2}(?:\.\d+)*(?![\d-])`, 'gi'),
  pattern(
    String.raw`\b(?:the|its|our)_(?:service_)?references?(?:'s|_(?:says?|lists?|names?|states?|has|have|adds?|quotes?))\b`,
    'gi',
  ),
  pattern(String.raw`\b(?:of|in)_the_references?(?=[.,:;)]|_\*|\s*$)`, 'gim'),
  pattern(String.raw`\bspecification,?_(?:sections?_)?\d[\d.]*`, 'gi'),
  pattern(String.raw`\b(?:the|its|service)_specification(?:'s)?\b`, 'gi'),
  pattern(String.raw`\bsections?_\d[\d.]*_of_the_(?:specification|reference)`, 'gi'),
  pattern(String.raw`\b(?:SE|RB|RR|MR|VE)\d{1,3}\b`, 'g'),
];

/** `docs/errors.md`, `docs/errors.md#limits`, `docs/errors.md, "Limits"`. A file of another repository is named with it: `owner/name, docs/x.md`. */
const PAGE = pattern(
  String.raw`(?<![\w./-])(?<!\w/[\w.-]+,_)docs/[\w-][\w./-]*[\w](?:#(?<anchor>[\w-]+)|,_"(?<heading>[^"]+)")?`,
  'g',
);
const DECISION = pattern(String.raw`\bdecisions?(?:_|/)(?<number>\d{4})`, 'gi');
const RULE_ID = /\b(?:CV|BV|DC|MV|WN|PB)\d{2}[a-z]?\b/g;
const LINK = /\]\((?<path>[^)\s#:]*)(?:#(?<anchor>[^)\s]+))?\)/g;

/** The anchor that a heading has on the pages of the repository's host: lower case, blanks as hyphens, no other marks. */
export const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');

/** Anchors of a page; a heading that comes again is numbered. Lines of examples are not headings. */
export function anchorsIn(page: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of page.replaceAll(/^```[^]*?^```/gm, '').matchAll(/^#{1,6} (.+)$/gm)) {
    const anchor = anchorOf(heading);
    let unique = anchor;
    for (let again = 1; anchors.has(unique); again += 1) unique = `${anchor}-${again}`;
    anchors.add(unique);
  }
  return anchors;
}

/** Ids in the first column of a page's tables. */
export const ruleIdsIn = (page: string): readonly string[] =>
  [...page.matchAll(/^\| `((?:CV|BV|DC|MV|WN|PB)\d{2}[a-z]?)` \|/gm)].map(([, id = '']) => id);

/** Refuses citations that lead nowhere, in comments of code and anywhere in a page. */
export const brokenCitations =
  (citable: Citable): Checker =>
  (path, source) => {
    const isCode = /\.[cm]?[jt]sx?$/.test(path);
    const texts = isCode ? commentsOf(path, source) : [{ start: 0, end: source.length }];
    return texts.flatMap(({ start, end }) => {
      const text = source.slice(start, end);
      const found = [...oldForms(text), ...brokenPages(text, citable), ...brokenNumbers(text, citable)];
      if (path.endsWith('.md')) found.push(...brokenLinks(path, text, citable));
      return found.map(({ at, what }) => `${path}:${source.slice(0, start + at).split('\n').length}: ${what}`);
    });
  };

interface Finding {
  readonly at: number;
  readonly what: string;
}

const inOneLine = (text: string): string => text.replaceAll(/[\s*/]*\n[\s*/]*/g, ' ');

function oldForms(text: string): Finding[] {
  return OLD_FORMS.flatMap((form) =>
    [...text.matchAll(form)].map(({ index, 0: words }) => ({
      at: index,
      what: `"${inOneLine(words)}" names a document that is not in the repository`,
    })),
  );
}

function brokenPages(text: string, citable: Citable): Finding[] {
  return [...text.matchAll(PAGE)].flatMap(({ index, 0: cited, groups = {} }) => {
    const path = (/^[\w./-]+/.exec(cited)?.[0] ?? '').replace(/\/$/, '');
    const { anchor, heading } = groups;
    if (/^docs\/decisions\/\d{4}$/.test(path)) return []; // a number, which is looked up as such
    const what = broken(path, anchor ?? (heading === undefined ? undefined : anchorOf(inOneLine(heading))), citable);
    return what === undefined ? [] : [{ at: index, what }];
  });
}

function brokenLinks(from: string, text: string, citable: Citable): Finding[] {
  return [...text.matchAll(LINK)].flatMap(({ index, groups = {} }) => {
    const { path = '', anchor } = groups;
    const target = path === '' ? from : posix.join(posix.dirname(from), decodeURIComponent(path)).replace(/\/$/, '');
    const what = broken(target, anchor, citable);
    return what === undefined ? [] : [{ at: index, what }];
  });
}

function broken(path: string, anchor: string | undefined, { anchorsOf, exists }: Citable): string | undefined {
  const anchors = path.endsWith('.md') ? anchorsOf(path) : undefined;
  if (!anchors && !exists(path)) return `there is no ${path}`;
  if (anchor === undefined || anchors?.has(anchor)) return undefined;
  return `${path} has no heading #${anchor}`;
}

function brokenNumbers(text: string, { decisions, ruleIds }: Citable): Finding[] {
  const numbers = [...text.matchAll(DECISION)].flatMap(({ index, groups = {} }) =>
    decisions.has(groups['number'] ?? '') ? [] : [{ at: index, what: `there is no decision ${groups['number']}` }],
  );
  const ids = [...text.matchAll(RULE_ID)].flatMap(({ index, 0: id }) =>
    ruleIds.has(id) ? [] : [{ at: index, what: `no page lists the rule ${id}` }],
  );
  return [...numbers, ...ids];
}
