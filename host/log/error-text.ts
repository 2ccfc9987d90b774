import type { Redactor } from './redact.ts';

const MAX_CAUSES = 5;
const MAX_REASONS = 8;
/** Errors of one text, whatever their shape: causes may be aggregates of errors, which have causes again. */
const MAX_ERRORS = 20;
const MAX_PART = 2048;

/**
 * An error with its causes, in one line, with the provider's own message and the errors of an aggregate. A value that is
 * not an error stays as it is. Never throws, whatever was thrown.
 */
export function errorText(error: unknown, redactor: Redactor): unknown {
  if (!(error instanceof Error)) return error;
  return chainText(error, { redactor, left: MAX_ERRORS });
}

interface Budget {
  readonly redactor: Redactor;
  left: number;
}

function chainText(error: unknown, budget: Budget): string {
  const texts: string[] = [];
  for (
    let at = error;
    at !== undefined && at !== null && texts.length < MAX_CAUSES && budget.left > 0;
    at = memberOf(at, 'cause')
  )
    texts.push(oneError(at, budget));
  return texts.join(': ');
}

function oneError(error: unknown, budget: Budget): string {
  budget.left -= 1;
  const text =
    error instanceof Error ? [plainText(error), faultText(error), reasonsText(error, budget)].join('') : textOf(error);
  return budget.redactor.excerpt(text, MAX_PART);
}

function plainText(error: Error): string {
  const code = memberOf(error, 'code');
  const [text = 'an error without a text'] = ['message', 'name']
    .map((name) => memberOf(error, name))
    .filter((part) => part !== undefined && part !== '')
    .map(textOf);
  return typeof code === 'string' ? `${text} (${code})` : text;
}

/** What an upstream said itself. */
function faultText(error: Error): string {
  const fault = memberOf(error, 'fault');
  const text = ['status', 'message']
    .map((name) => memberOf(fault, name))
    .filter((part) => part !== undefined)
    .map(textOf)
    .join(' ');
  return text === '' ? '' : ` [upstream: ${text}]`;
}

/** The reasons of an `AggregateError`: a host with several addresses fails once for each. */
function reasonsText(error: Error, budget: Budget): string {
  const reasons = memberOf(error, 'errors');
  if (!Array.isArray(reasons) || reasons.length === 0) return '';
  const texts: string[] = [];
  for (const reason of reasons.slice(0, MAX_REASONS)) if (budget.left > 0) texts.push(chainText(reason, budget));
  const more = reasons.length - texts.length;
  return ` [${texts.join('; ')}${more > 0 ? `; and ${more} more` : ''}]`;
}

/** A member of anything; a getter that throws counts as none. */
function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  try {
    return (value as Readonly<Record<string, unknown>>)[name];
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return 'something without a text';
  }
}
