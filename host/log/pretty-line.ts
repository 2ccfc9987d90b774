import type { Fields } from '../contract/json/fields.ts';

/** What a person at a terminal reads in the place of JSON; a program that collects lines never gets these. */
export function prettyLine(line: string, isColoured: boolean): string {
  const { time, level, msg, ...attributes } = JSON.parse(line) as Fields;
  const clock = typeof time === 'string' ? time.slice('2026-01-01T'.length, -1) : '';
  const paint = (text: string, colour: number): string => (isColoured ? `\x1b[${colour}m${text}\x1b[39m` : text);
  const told = Object.entries(attributes).map(([name, value]) => `${paint(`${shown(name)}=`, GREY)}${shown(value)}`);
  return `${[paint(clock, GREY), paint(String(level).padEnd('ERROR'.length), COLOURS[String(level)] ?? GREY), words(msg), ...told].join(' ')}\n`;
}

const GREY = 90;
const COLOURS: Readonly<Record<string, number>> = { DEBUG: 36, INFO: 32, WARN: 33, ERROR: 31 };

/** Texts as they are where they are one word, else as JSON: nothing that a terminal obeys, and no doubt about where one ends. */
function shown(value: unknown): string {
  if (typeof value === 'string' && /^[\x21\x23-\x3c\x3e-\x5b\x5d-\x7e]+$/.test(value)) return value;
  return escaped(JSON.stringify(value) ?? '');
}

/** A message may have blanks. */
function words(message: unknown): string {
  return typeof message === 'string' && /^[\x20-\x7e]*$/.test(message)
    ? message
    : escaped(JSON.stringify(message) ?? '');
}

/** What a terminal may obey and JSON leaves as it is, such as marks of direction: everything that is neither ASCII nor a letter. */
function escaped(json: string): string {
  return json.replace(/[^\x20-\x7e\p{L}\p{M}\p{N}]/gu, (character) =>
    [...Array(character.length).keys()]
      .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
