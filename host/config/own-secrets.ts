/** Variables that hold secrets of the gateway itself: no upstream gets one. */
const NAMES: ReadonlySet<string> = new Set(['MASTER_KEY', 'GW_API_KEY', 'GW_STATE_URL', 'GW_SEAL_KEY']);
const PATTERNS: readonly RegExp[] = [/_DSN$/, /^OTEL_EXPORTER_OTLP.*HEADERS$/, /^OIDC_.*SECRET/];

/** Whether a variable holds a secret of the gateway itself. */
export const isOwnSecret = (variable: string): boolean =>
  NAMES.has(variable) || PATTERNS.some((pattern) => pattern.test(variable));

/**
 * Whether a variable may name a file that holds the secret of another one, as `MASTER_KEY_FILE` does. Which ones do is for those to say who
 * know all secrets; this is what can be asked before they are loaded.
 */
export const mayNameSecret = (variable: string): boolean =>
  /(?:KEY|TOKEN|SECRET|PASSWORD|JSON|DSN|URL|HEADERS).*_FILE$/.test(variable);

const FILE = '_FILE';

/** Files that the gateway's own secrets are read from: `MASTER_KEY_FILE` and its kin name them. */
export function ownSecretFiles(variables: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(variables).flatMap(([name, value]) => {
    const path = value?.trim() ?? '';
    return path !== '' && name.endsWith(FILE) && isOwnSecret(name.slice(0, -FILE.length)) ? [path] : [];
  });
}
