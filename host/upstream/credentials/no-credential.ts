import { GatewayError } from '../../contract/index.ts';

/** No credential of a target may be used: nothing was sent. It counts under a class of its own. */
export class NoCredential extends GatewayError {
  constructor(message: string) {
    super('upstream_unavailable', message);
  }
}

/** Every credential of a target that may be called serves its most calls: nothing was sent, and nothing says when one is free. */
export class NoFreeCredential extends GatewayError {
  constructor(target: string) {
    super('provider_saturated', `${target} has no credential free: each serves its most calls`);
  }
}
