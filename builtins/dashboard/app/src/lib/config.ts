/** What the gateway's `config.json` says, read before the first render. */
export interface RuntimeConfig {
  /** Origin of the gateway; empty means the one this page came from. */
  readonly gatewayBaseUrl: string;
}

/** Checks what `config.json` holds. Throws an error that says what is wrong with it. */
export function readConfig(value: unknown): RuntimeConfig {
  const base =
    typeof value === 'object' && value !== null
      ? (value as { readonly gatewayBaseUrl?: unknown }).gatewayBaseUrl
      : undefined;
  if (typeof base !== 'string') throw new Error('config.json needs "gatewayBaseUrl", a text');
  if (base === '') return { gatewayBaseUrl: '' };
  const url = URL.canParse(base) ? new URL(base) : undefined;
  const isOrigin =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    url.pathname === '/' &&
    !/[?#]/.test(base);
  if (!isOrigin)
    throw new Error(
      '"gatewayBaseUrl" in config.json must be an http or https origin, without credentials, path, query or fragment',
    );
  return { gatewayBaseUrl: url.origin };
}
