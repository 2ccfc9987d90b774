import type { CallInfo, Credentials } from 'gw/contract';
import { pathSegment } from 'gw/common-wire';

const API_VERSION = '2024-10-21';

/**
 * A path of the configured deployment, whatever model the request names; where none is configured, of the one named like the
 * model. See docs/providers.md#addresses-of-their-own.
 */
export function pinned(path: string): (call: CallInfo) => string {
  return ({ model, credentials }) => deploymentPath(configured(credentials) || model, path, credentials);
}

/** A path of the deployment named like the request's model; of the configured one when that is empty. */
export function requested(path: string): (call: CallInfo) => string {
  return ({ model, credentials }) => deploymentPath(model || configured(credentials), path, credentials);
}

/** Throws when the configured deployment cannot stand in a path: an operator's mistake, so it must not wait for a request. */
export function checkDeployment(credentials: Credentials): void {
  if (configured(credentials) === '') return; // only a declared instance may leave it out
  try {
    pathSegment(configured(credentials));
  } catch (cause) {
    throw new Error(`AZURE_OPENAI_DEPLOYMENT "${configured(credentials)}" cannot stand in an address`, { cause });
  }
}

/** The deployment that answers chats; empty where each model is one. */
export const configured = ({ AZURE_OPENAI_DEPLOYMENT: deployment = '' }: Credentials): string => deployment;

/** The version travels as it is written. */
function deploymentPath(
  deployment: string,
  path: string,
  { AZURE_OPENAI_API_VERSION: version = API_VERSION }: Credentials,
): string {
  return `/openai/deployments/${pathSegment(deployment)}${path}?api-version=${version}`;
}
