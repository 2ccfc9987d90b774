import type { SettingNote } from './setting-note.ts';

/** An origin that is meant to be any. */
export const isWildcard = (origin: string): boolean => origin.replace(/["'\s]/g, '') === '*';

interface Risks {
  readonly isProduction: boolean;
  readonly allowUnauthenticated: boolean;
  readonly corsOrigins: readonly string[];
  readonly isLimited: boolean;
  readonly hasPprof: boolean;
}

/** Production refuses what opens the gateway, and warns of what weakens it. */
export function noteRisks(risks: Risks, notes: SettingNote[]): void {
  const hasWildcard = risks.corsOrigins.some(isWildcard);
  if (!risks.isProduction) {
    if (hasWildcard)
      notes.push({
        level: 'warn',
        rule: 'WN05',
        message: 'CORS_ORIGINS contains "*", which matches no origin; list the origins',
      });
    if (risks.allowUnauthenticated)
      notes.push({
        level: 'warn',
        rule: 'WN09',
        message: 'ALLOW_UNAUTHENTICATED_PROXY is in force: /v1 needs no credential',
      });
    return;
  }
  const refused = [
    ...(risks.allowUnauthenticated ? ['ALLOW_UNAUTHENTICATED_PROXY=true'] : []),
    ...(hasWildcard ? ['"*" in CORS_ORIGINS'] : []),
  ];
  if (refused.length > 0)
    notes.push({
      level: 'fatal',
      message: `GATEWAY_ENV=production does not allow ${refused.join(' and ')}; unset it, or list origins`,
    });
  if (!risks.isLimited)
    notes.push({
      level: 'warn',
      rule: 'WN06',
      message: 'RATE_LIMIT_RPS=0 switches the per-address limit off in production',
    });
  if (risks.hasPprof) notes.push({ level: 'warn', rule: 'WN06', message: 'ENABLE_PPROF is on in production' });
}
