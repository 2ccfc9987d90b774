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
/** Names that only a start uses: their values are no less secret afterwards. */
const BOOTSTRAP = 'ADMIN_BOOTSTRAP_';

/** Whether the variable, or the file that it names, holds a secret of the gateway itself. */
export function refersToOwnSecret(name: string): boolean {
  const plain = name.endsWith(FILE) ? name.slice(0, -FILE.length) : name;
  return name.startsWith(BOOTSTRAP) || isOwnSecret(name) || isOwnSecret(plain);
}

/** Variables that name the private keys of the listeners. */
const KEY_FILES = ['GW_TLS_KEY', 'GW_ADMIN_TLS_KEY'];

/** Files that the gateway's own secrets are read from: `MASTER_KEY_FILE` and its kin name them, and the keys of its listeners. */
export function ownSecretFiles(variables: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(variables).flatMap(([name, value]) => {
    const path = value?.trim() ?? '';
    const isOwn = KEY_FILES.includes(name) || (name.endsWith(FILE) && isOwnSecret(name.slice(0, -FILE.length)));
    return path !== '' && isOwn ? [path] : [];
  });
}
