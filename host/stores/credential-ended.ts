import { GatewayError } from '../contract/index.ts';

/**
 * Why a request stops whose credential no longer stands. It tells of neither the provider nor the gateway: retries, breakers and
 * figures treat it as a client that left. See docs/admin.md#what-runs-under-a-credential-that-has-ended.
 */
export class CredentialEnded extends GatewayError {
  constructor() {
    super('invalid_api_key', 'the credential of this request was ended');
  }
}
