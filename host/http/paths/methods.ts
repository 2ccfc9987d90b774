import { GatewayError } from '../../contract/index.ts';

export function wrongMethod(method: string, path: string, allowed: string): GatewayError {
  return new GatewayError('method_not_supported', `${method} is not supported on ${path}, use ${allowed}`);
}
