import type { Span } from '@opentelemetry/api';
import { errorText } from '../../../host/log/error-text.ts';
import type { Redactor } from '../../../host/log/redact.ts';
import type { PrivacyLevel } from './settings.ts';

/** Characters of one attribute that leave, the mark of a cut included; content is cut elsewhere. */
export const MOST_CHARACTERS = 2048;

/** Attributes by name; what is not known is `undefined`. */
export type Facts = Readonly<Record<string, string | number | boolean | string[] | undefined>>;

/** What spans may say about a request. See docs/reference/observability.md#what-spans-say. */
export interface Privacy {
  readonly level: PrivacyLevel;
  /** Texts of attributes, without what is secret. */
  readonly text: (text: string) => string;
  /** What went wrong, as far as the level tells it. */
  readonly error: (error: unknown) => string;
}

export function createPrivacy(level: PrivacyLevel, redactor: Redactor): Privacy {
  const plain: Redactor = {
    redact: (text) => text,
    hideKnown: (text) => text,
    redactName: (text) => text,
    excerpt: (text, limit = MOST_CHARACTERS) => (text.length > limit ? `${text.slice(0, limit)}…` : text),
    learn: () => {},
    register: () => {},
  };
  const text = (text: string): string => redactor.excerpt(text, MOST_CHARACTERS - 1);
  const errors: Readonly<Record<PrivacyLevel, (error: unknown) => string>> = {
    none: () => 'redacted',
    metadata: (error) => text(String(errorText(error, redactor))),
    full: (error) => String(errorText(error, plain)),
  };
  return { level, text, error: errors[level] };
}

/** What is not known is left out; texts pass the redaction. */
export function setAttributes(span: Span, attributes: Facts, { text }: Privacy): void {
  for (const name of Object.keys(attributes)) {
    const value = attributes[name];
    if (value !== undefined) span.setAttribute(name, typeof value === 'string' ? text(value) : value);
  }
}

/** Adds an event for what happened on the way. What is not known is left out; texts pass the redaction. */
export function addEvent(span: Span, name: string, at: [number, number], attributes: Facts, { text }: Privacy): void {
  const told = Object.entries(attributes).map(
    ([key, value]) => [key, typeof value === 'string' ? text(value) : value] as const,
  );
  span.addEvent(name, Object.fromEntries(told), at);
}

/** A span that failed, with the exception that says why. */
export function fail(span: Span, error: unknown, at: [number, number], privacy: Privacy): void {
  const message = privacy.error(error);
  const type = privacy.level === 'none' || !(error instanceof Error) ? 'error' : error.name;
  span.setStatus({ code: 2, message });
  span.addEvent('exception', { 'exception.type': type, 'exception.message': message }, at);
}
