import { type Checker, commentsOf, proseOf } from './source.ts';

/** In patterns, `_` stands for what is between two words: a sentence may go on in the next line of a comment. */
const BANNED: readonly RegExp[] = [
  /(?<!another_)spell(?:s|ed|ings?)?|spelt/, // "another spelling" is what a client learns of a path (docs/passthrough.md)
  /lessons?|holes?|stillborn|last_words?|affairs?|patience/,
  /somebody|nobody|whoever|told/,
  /(?:own|its|their|whose|\w+\\?'s|\w+s\\?')_words/, // for the text of an error
  /(?<!there_(?:\w+_)?)(?:is|are|was|were|be)_no_(?!(?:fewer|less|longer|more|other|such)\b)\S+/, // as in "what is not a number", said with "no"
];

const PATTERN = new RegExp(
  String.raw`(?<![\w$#])(?:${BANNED.map(({ source }) => source.replaceAll('_', String.raw`[\s*/]+`)).join('|')})(?!\w)`,
  'gi',
);

/** How a doc comment may not begin: it would lean on its neighbour, which an editor does not show beside it. */
const LEANS = /^\/\*\*[\s*]*(The same|Of)\b/;

/** Refuses doc comments without a subject of their own: those that begin "The same …" or "Of a …". */
export const leaningComments: Checker = (path, source) => {
  if (!source.includes('/**')) return [];
  return commentsOf(path, source).flatMap(({ start, end }) => {
    const [, beginning] = LEANS.exec(source.slice(start, end)) ?? [];
    const line = source.slice(0, start).split('\n').length;
    return beginning === undefined ? [] : [`${path}:${line}: a comment that begins "${beginning}" has no subject`];
  });
};

/**
 * Refuses words that a reader in a hurry, or in a second language, does not understand at first sight. Of code it reads
 * comments and texts: names of variables, names of files and patterns are left alone.
 */
export const bannedWords: Checker = (path, source) => {
  const found = [...source.matchAll(PATTERN)];
  if (found.length === 0) return []; // nearly all files: they are not parsed
  const spans = /\.[cm]?[jt]sx?$/.test(path) ? proseOf(path, source) : [{ start: 0, end: source.length }];
  const inProse = found.filter(({ index }) => spans.some(({ start, end }) => start <= index && index < end));
  return inProse.map(
    ({ 0: words, index }) =>
      `${path}:${source.slice(0, index).split('\n').length}: ${words.replaceAll(/[\s*/]+/g, ' ')}`,
  );
};
