import { GatewayError } from '../contract/index.ts';

const MESSAGE = 'the gateway could not complete the request';

/** What went wrong, as the client learns it: an error that the gateway did not expect is an internal one. */
export function asGatewayError(cause: unknown): GatewayError {
  return cause instanceof GatewayError ? cause : new GatewayError('routing_error', MESSAGE, { cause });
}

/** A plugin that must not be passed over has failed. */
export function pluginError(cause: unknown): GatewayError {
  return new GatewayError('plugin_error', MESSAGE, { cause });
}
