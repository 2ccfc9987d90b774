import { type Logger, pino, symbols } from 'pino';
import type { Log } from '../contract/index.ts';
import type { Redactor } from './redact.ts';

export type Level = 'debug' | 'info' | 'warn' | 'error';

const LEVELS: ReadonlyMap<string, Level> = new Map([['debug', 'debug'], ['info', 'info'], ['warn', 'warn'], ['warning', 'warn'], ['error', 'error']]);

/** `LOG_LEVEL` as operators write it; anything unknown is `info`. */
export function logLevel(text: string | undefined): Level {
  return LEVELS.get(text?.trim().toLowerCase() ?? '') ?? 'info';
}

/** Where finished lines go, each with its line end. */
export interface LineWriter {
  write(line: string): void;
}

/** JSON lines: `time`, `level`, `msg`, then attributes. The whole line is redacted, so that nothing can be forgotten. */
export function createLogger(level: Level, out: LineWriter, redactor: Redactor): Log {
  const logger = pino({
    level,
    base: null,
    messageKey: 'msg',
    timestamp: cachedTime(),
    formatters: { level: (label) => ({ level: label.toUpperCase() }) },
    serializers: { error: errorText },
  }, { write: (line: string) => out.write(redactLine(line, redactor)) });
  const method = logMethods(logger);
  return { debug: method('debug'), info: method('info'), warn: method('warn'), error: method('error') };
}

/** What pino does inside, under the symbols it publishes for those who need speed. */
interface Insides {
  [symbols.writeSym](attributes: Attributes, message: string, level: number): void;
  [symbols.asJsonSym](attributes: Attributes, message: string, level: number, time: string): string;
}

type Attributes = Readonly<Record<string, unknown>>;

const NONE: Attributes = Object.freeze({});

/**
 * The log's methods by level. Every request leaves a line, so attributes become JSON in one call, where pino makes one for each name
 * and each value, and messages go in as they are. What JSON cannot hold (a circle, a bigint), or a module gives against the types, is left
 * to pino.
 */
function logMethods(logger: Logger): (level: Level) => Log[Level] {
  const insides = logger as unknown as Insides;
  const bySteps = insides[symbols.asJsonSym];
  const heads = new Map(Object.entries(logger.levels.values).map(([label, level]) => [level, `{"level":"${label.toUpperCase()}"`]));
  insides[symbols.asJsonSym] = (attributes, message, level, time) => {
    try {
      const { error } = attributes;
      const json = JSON.stringify(error === undefined ? attributes : { ...attributes, error: errorText(error) });
      if (typeof message === 'string' && json.startsWith('{')) {
        const members = json === '{}' ? '' : `,${json.slice(1, -1)}`;
        return `${heads.get(level)}${time}${members},"msg":${JSON.stringify(message)}}\n`;
      }
    } catch {
      // pino knows a way
    }
    return bySteps.call(logger, attributes, message, level, time);
  };
  return (label) => {
    const level = logger.levels.values[label] ?? 0;
    if (!logger.isLevelEnabled(label)) return () => {};
    return (message, attributes = NONE) => insides[symbols.writeSym](attributes instanceof Error ? { error: attributes } : attributes, message, level);
  };
}

/**
 * Redacts a finished line. Texts that needed escaping are redacted as what they mean: a pattern that ends inside an escape
 * would break the line, and one that looks for a word's beginning would miss it behind `\\n`.
 */
function redactLine(line: string, redactor: Redactor): string {
  if (!line.includes('\\')) return redactor.redact(line);
  const texts = line.replace(/"(?:[^"\\]|\\.)*"/g, (text) => (text.includes('\\') ? JSON.stringify(redactor.redact(JSON.parse(text) as string)) : text));
  return redactor.redact(texts);
}

/** The time member of a line; lines of one millisecond share it. */
function cachedTime(): () => string {
  let at = 0;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== at) {
      at = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}

const MAX_CAUSES = 5;

/** An error with its causes, in one line; what the provider itself said beside it. */
export function errorText(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const texts: string[] = [];
  for (let at: unknown = error; at !== undefined && at !== null && texts.length < MAX_CAUSES; at = (at as { cause?: unknown }).cause) {
    texts.push(oneError(at));
  }
  return texts.join(': ');
}

function oneError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, fault } = error as { code?: unknown; fault?: { status?: number; message?: string } };
  const told = [fault?.status, fault?.message].filter((part) => part !== undefined).join(' ');
  const text = error.message || error.name;
  return (typeof code === 'string' ? `${text} (${code})` : text) + (told === '' ? '' : ` [upstream: ${told}]`);
}
