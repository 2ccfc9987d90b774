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
  readonly warnings: readonly string[];
}

/** Where a newer catalog and entries of one's own are (docs/configuration.md#model-catalog). There is no default address: without one the shipped catalog is used. */
export function readCatalogSettings(variables: Variables): CatalogSettings {
  const warnings: string[] = [];
  const timeoutMs = readTimeout(trimmed(variables['GW_MODEL_CATALOG_TIMEOUT']), warnings);
  const url = readUrl(trimmed(variables['GW_MODEL_CATALOG_URL']), warnings);
  return {
    url: timeoutMs > 0 ? url : undefined,
    timeoutMs,
    overlayPath: trimmed(variables['GW_MODEL_CATALOG_OVERLAY']),
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

function readUrl(text: string | undefined, warnings: string[]): string | undefined {
  if (text === undefined || isHttp(text)) return text;
  warnings.push(
    `GW_MODEL_CATALOG_URL is ${shownAddress(text)}: write http or https and a host; the shipped catalog is used`,
  );
  return undefined;
}
