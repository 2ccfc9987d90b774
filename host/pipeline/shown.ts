import { GatewayError, inPart } from '../contract/index.ts';
import type { Redactor } from '../log/redact.ts';

/** What headers, log lines and messages show of a request: clients choose how long its names are, and how many. */

/** UTF-16 code units; names longer than any model's are redacted and cut. Shorter ones are redacted with what they stand in. */
const MAX_MODEL = 256;
const MAX_NAMES = 1024;

export function shownModel(model: string, redactor: Redactor): string {
  return model.length > MAX_MODEL ? redactor.excerpt(model, MAX_MODEL) : model;
}

export function modelNotFound(model: string, redactor: Redactor, why?: string): GatewayError {
  return new GatewayError(
    'model_not_found',
    why === undefined
      ? `no configured provider serves the model "${shownModel(model, redactor)}"`
      : shownModel(why, redactor),
  );
}

/** Names between commas, a thousand characters of them; a name that would be cut is left out. */
export function shownNames(names: readonly string[]): string {
  let shown = '';
  for (const name of names) {
    shown = shown === '' ? name : `${shown}, ${name}`;
    if (shown.length > MAX_NAMES) return inPart(shown, MAX_NAMES);
  }
  return shown;
}
