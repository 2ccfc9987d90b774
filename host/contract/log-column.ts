/**
 * What a column holds: how it is stored, and how answers show it.
 * - `text`: a text, cut to `longest` characters.
 * - `integer`: a whole number, such as a count of tokens.
 * - `real`: a number with a fraction, such as milliseconds or US dollars.
 * - `boolean`: true or false.
 * - `json`: an object, which is kept as its text.
 * - `list`: texts, which are kept as JSON.
 * - `moment`: a time, which modules give in Unix milliseconds.
 */
export type LogColumnKind = 'text' | 'integer' | 'real' | 'boolean' | 'json' | 'list' | 'moment';

/** The facts of one column: what is stored, what is shown, and since which schema. */
export interface LogColumn {
  /** `moment` is in Unix milliseconds, `boolean` is kept as 1 or 0, `json` and `list` are kept as text. */
  readonly kind: LogColumnKind;
  /** Every row is given with it. */
  readonly isGiven?: true;
  /** The database refuses a row without it. A column that is added later may be null. */
  readonly isRequired?: true;
  /** What stands in a row that was given without it; null unless said. */
  readonly absent?: '' | 0;
  /** The values of a text of which there are a few. */
  readonly values?: readonly string[];
  /**
   * Credentials may stand in the text, which is redacted as it comes. Redaction costs time in
   * proportion to the text, so that it is left out where a text is an id or one of a few words.
   */
  readonly isFree?: true;
  /** Characters of a text that are kept; 1,024 unless said. */
  readonly longest?: number;
  /**
   * The step of the schema that adds it. Tables of earlier versions get it by a migration, with
   * null in the rows that are there.
   */
  readonly since: number;
  /** Where `GET /admin/logs` shows it: in every row, in rows that have it, or in none. */
  readonly shown: 'always' | 'where known' | 'never';
  /** `GET /admin/logs` takes a parameter of its name, or of this one. */
  readonly isFilter?: true | string;
  /** The name of the member in answers, where it is not that of the column. */
  readonly shownAs?: string;
  /**
   * One phrase for operators, without a full stop. The schema of the HTTP API has it as the
   * description of the member.
   */
  readonly about: string;
}
