import { type Logger, pino, symbols } from 'pino';
import type { Log } from '../contract/index.ts';
import type { Attributes } from '../contract/services.ts';
import { errorText } from './error-text.ts';
import { boundedLine, MAX_LINE } from './bounded-line.ts';
import type { Redactor } from './redact.ts';

export type Level = 'debug' | 'info' | 'warn' | 'error';

const LEVELS: ReadonlyMap<string, Level> = new Map([
  ['debug', 'debug'],
  ['info', 'info'],
  ['warn', 'warn'],
  ['warning', 'warn'],
  ['error', 'error'],
]);

/** `LOG_LEVEL` as operators write it; anything unknown is `info`. */
export function logLevel(text: string | undefined): Level {
  return LEVELS.get(text?.trim().toLowerCase() ?? '') ?? 'info';
}

/** Where finished lines go, each with its line end. */
export interface LineWriter {
  write(line: string): void;
}

/**
 * JSON lines: `time`, `level`, `msg`, then attributes. The whole line is redacted, so that nothing can be forgotten; it is bounded, and
 * holds nothing that a terminal obeys.
 */
export function createLogger(level: Level, out: LineWriter, redactor: Redactor): Log {
  const logger = pino(
    {
      level,
      base: null,
      messageKey: 'msg',
      timestamp: cachedTime(),
      formatters: { level: (label) => ({ level: label.toUpperCase() }) },
      serializers: { error: (error: unknown) => errorText(error, redactor) },
    },
    { write: (line: string) => out.write(finishedLine(line, redactor)) },
  );
  const method = logMethods(logger, redactor);
  return { debug: method('debug'), info: method('info'), warn: method('warn'), error: method('error') };
}

/** What pino does inside, under the symbols it publishes for those who need speed. */
interface Insides {
  [symbols.writeSym](attributes: Attributes, message: string, level: number): void;
  [symbols.asJsonSym](attributes: Attributes, message: string, level: number, time: string): string;
}

const NONE: Attributes = Object.freeze({});

const SILENT = (): void => {};

/** Whether lines of this level go nowhere: what every request would say need not be put together. */
export function isSilent(log: Log, level: Level): boolean {
  return log[level] === SILENT;
}

/**
 * The log's methods by level. Every request leaves a line, so attributes become JSON in one call, where pino makes one for each name
 * and each value, and messages go in as they are. What JSON cannot hold (a circle, a bigint), or a module gives against the types, is left
 * to pino.
 */
function logMethods(logger: Logger, redactor: Redactor): (level: Level) => Log[Level] {
  const insides = logger as unknown as Insides;
  const bySteps = insides[symbols.asJsonSym];
  const heads = new Map(
    Object.entries(logger.levels.values).map(([label, level]) => [level, `{"level":"${label.toUpperCase()}"`]),
  );
  insides[symbols.asJsonSym] = (attributes, message, level, time) => {
    try {
      const { error } = attributes;
      const json = JSON.stringify(
        error === undefined ? attributes : { ...attributes, error: errorText(error, redactor) },
      );
      if (typeof message === 'string' && json.startsWith('{')) {
        const members = json === '{}' ? '' : `,${json.slice(1, -1)}`;
        return `${heads.get(level)}${time}${members},"msg":${JSON.stringify(message)}}\n`;
      }
    } catch {
      // pino writes what JSON cannot hold
    }
    return bySteps.call(logger, attributes, message, level, time);
  };
  return (label) => {
    const level = logger.levels.values[label] ?? 0;
    if (!logger.isLevelEnabled(label)) return SILENT;
    return (message, attributes = NONE) =>
      insides[symbols.writeSym](attributes instanceof Error ? { error: attributes } : attributes, message, level);
  };
}

/** What a terminal or a reader of lines may obey and JSON leaves as it is: DEL and C1 controls, line separators, marks of direction. */
const OBEYED = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

function finishedLine(line: string, redactor: Redactor): string {
  const finished = line.length > MAX_LINE ? line : redactedLine(line, redactor);
  return finished.length > MAX_LINE
    ? boundedLine(finished, redactor, (text) => redactedLine(text, redactor))
    : finished;
}

function redactedLine(line: string, redactor: Redactor): string {
  return isPlain(line) ? redactor.redact(line) : redactEscaped(line, redactor);
}

/** ASCII without an escape, as nearly all lines are. Found out without a pattern, which would look at each character. */
function isPlain(line: string): boolean {
  return !line.includes('\\') && !line.includes('\x7f') && Buffer.byteLength(line) === line.length;
}

/**
 * Redacts a line with escapes. Texts that needed escaping are redacted as what they mean: a pattern that ends inside an escape
 * would break the line, and one that looks for a word's beginning would miss it behind `\\n`.
 */
function redactEscaped(line: string, redactor: Redactor): string {
  const texts = line.replace(/"(?:[^"\\]|\\.)*"/g, (text) =>
    text.includes('\\') ? JSON.stringify(redactor.redact(JSON.parse(text) as string)) : text,
  );
  return redactor
    .redact(texts)
    .replace(OBEYED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The time member of a line; lines of one second share all but its end, and lines of one millisecond all of it. */
function cachedTime(): () => string {
  let at: number | undefined;
  let second: number | undefined;
  let start = '';
  let text = '';
  return () => {
    const now = Date.now();
    if (now === at) return text;
    at = now;
    const milliseconds = now % 1000;
    if (now - milliseconds !== second) {
      second = now - milliseconds;
      start = `,"time":"${new Date(second).toISOString().slice(0, -4)}`;
    }
    text = `${start}${String(milliseconds).padStart(3, '0')}Z"`;
    return text;
  };
}
