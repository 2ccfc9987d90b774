import { GatewayError } from '../../contract/index.ts';

/** No credential of a target may be used: nothing was sent. It counts under a class of its own. */
export class NoCredential extends GatewayError {
  constructor(message: string) {
    super('upstream_unavailable', message);
  }
}
