import { parseDuration } from '../../host/contract/duration.ts';
import type { Variables } from '../../host/environment/variables.ts';
import { isHttp, shownAddress } from './address.ts';

const DEFAULT_TIMEOUT_MS = 10_000;

export interface CatalogSettings {
  /** Where a newer catalog is; `undefined`: it is never asked for. */
  readonly url: string | undefined;
  /** Milliseconds for a whole fetch, redirects and body included. */
  readonly timeoutMs: number;
  /** Path of the operator's own entries. */
  readonly overlayPath: string | undefined;
  /** Where newer rules of models are; `undefined`: they are never asked for. */
  readonly rulesUrl: string | undefined;
  /** Path of the operator's own rules of models. */
  readonly rulesPath: string | undefined;
  readonly warnings: readonly string[];
}

/** Where newer catalogs and rules, and entries and rules of one's own are (docs/configuration.md#model-catalog). There is no default address: without one what is shipped is used. */
export function readCatalogSettings(variables: Variables): CatalogSettings {
  const warnings: string[] = [];
  const timeoutMs = readTimeout(trimmed(variables['GW_MODEL_CATALOG_TIMEOUT']), warnings);
  const warnOf =
    (name: string, instead: string) =>
    (shown: string): void =>
      void warnings.push(`${name} is ${shown}: write http or https and a host; ${instead} used`);
  const url = readUrl(variables['GW_MODEL_CATALOG_URL'], warnOf('GW_MODEL_CATALOG_URL', 'the shipped catalog is'));
  const rulesUrl = readUrl(variables['GW_MODEL_RULES_URL'], warnOf('GW_MODEL_RULES_URL', 'the shipped rules are'));
  return {
    url: timeoutMs > 0 ? url : undefined,
    timeoutMs,
    overlayPath: trimmed(variables['GW_MODEL_CATALOG_OVERLAY']),
    rulesUrl: timeoutMs > 0 ? rulesUrl : undefined,
    rulesPath: trimmed(variables['GW_MODEL_RULES_OVERLAY']),
    warnings,
  };
}

const trimmed = (text: string | undefined): string | undefined => text?.trim() || undefined;

function readTimeout(text: string | undefined, warnings: string[]): number {
  if (text === undefined) return DEFAULT_TIMEOUT_MS;
  const ms = parseDuration(text);
  if (ms === undefined) warnings.push(`GW_MODEL_CATALOG_TIMEOUT is "${text}", which is not a duration; 10s is used`);
  return ms ?? DEFAULT_TIMEOUT_MS;
}

function readUrl(value: string | undefined, warn: (shown: string) => void): string | undefined {
  const text = trimmed(value);
  if (text === undefined || isHttp(text)) return text;
  warn(shownAddress(text));
  return undefined;
}
