/** Most words of a sentence, and most on average over a page. */
export const MOST_WORDS = 25;
export const MEAN_WORDS = 16;
/** Words that promise what the reader may see otherwise, or speak of what is not yet. */
const EMPTY = /\b(?:will|please|simply|just|easy|easily|obviously|of course|note that)\b/i;

/** The sentences of a page: its paragraphs and lists, without code, tables, quotations and headings. */
export function sentencesOf(page: string): string[] {
  const prose = page
    .replace(/^ *```.*?^ *```$/gms, '')
    .split('\n')
    .filter((line) => !/^\s*(?:\||#|>|<!--)/.test(line))
    .map((line) => line.replace(/^\s*(?:[-*]|\d+\.)\s+/, '\n'))
    .join('\n')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/`[^`]*`/g, 'code');
  return prose
    .split(/\n\s*\n|(?<=[.!?:])\s+/)
    .map((text) => text.replace(/\s+/g, ' ').trim())
    .filter((text) => text !== '');
}

export const wordsIn = (sentence: string): number => sentence.split(' ').filter((word) => /\w/.test(word)).length;

/** What of a page is not as docs/style.md asks, a line each. */
export function sentenceProblems(page: string): string[] {
  const sentences = sentencesOf(page);
  const counts = sentences.map(wordsIn);
  const mean = counts.reduce((sum, count) => sum + count, 0) / Math.max(1, counts.length);
  return [
    ...sentences.filter((_sentence, at) => (counts[at] ?? 0) > MOST_WORDS).map((text) => `long: ${text}`),
    ...sentences.filter((text) => text.split(';').length > 2).map((text) => `two ideas too many: ${text}`),
    ...sentences.filter((text) => EMPTY.test(text)).map((text) => `empty word: ${text}`),
    ...(mean > MEAN_WORDS ? [`its sentences have ${mean.toFixed(1)} words on average`] : []),
  ];
}
