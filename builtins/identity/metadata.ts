import { isIssuerUrl } from '../../host/config/identity/identity-url.ts';
import { isFields } from '../../host/contract/index.ts';
import { KeysRefused } from './keys-refused.ts';

/** What an issuer says of itself. Source: OpenID Connect Discovery 1.0, section 3. */
export interface Metadata {
  readonly keysUrl: string;
  /** All of it, for a library. */
  readonly document: Readonly<Record<string, unknown>>;
}

/** Where an issuer keeps it. */
export const metadataUrl = (issuer: string): string => `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;

/** Endpoints may have a query, and are https, or http on loopback. */
const isEndpoint = (value: unknown): value is string =>
  typeof value === 'string' && isIssuerUrl(value.replace(/\?[^#]*$/, ''));

/** Throws where it is that of another issuer, or names an address that is not used. */
export function readMetadata(document: unknown, issuer: string): Metadata {
  if (!isFields(document)) throw new KeysRefused('malformed metadata');
  if (document['issuer'] !== issuer) throw new KeysRefused('issuer mismatch');
  const endpoints = Object.entries(document).filter(([name]) => name === 'jwks_uri' || name.endsWith('_endpoint'));
  const keysUrl = document['jwks_uri'];
  if (!isEndpoint(keysUrl) || endpoints.some(([, value]) => value !== undefined && !isEndpoint(value)))
    throw new KeysRefused('malformed metadata');
  return { keysUrl, document };
}
