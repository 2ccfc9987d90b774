import { GatewayError } from '../contract/index.ts';

/** What the client has to change in its request. */
export function invalidRequest(message: string): GatewayError {
  return new GatewayError('invalid_request', message);
}
