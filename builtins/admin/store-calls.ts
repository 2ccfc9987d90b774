import { GatewayError, type Log } from '../../host/contract/index.ts';
import { ChangeInDoubt } from '../../host/stores/changes.ts';
import { StoreUnavailable } from '../../host/stores/store-link.ts';

/** Waits for a change. When the store does not answer it is 503, with a message of the gateway's own. */
export async function changing<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ChangeInDoubt)
      throw new GatewayError(
        'store_unavailable',
        `${error.message}; it is not known whether this was done: look before you repeat it`,
        { cause: error },
      );
    if (error instanceof StoreUnavailable)
      throw new GatewayError('store_unavailable', `${error.message}; nothing was changed, try again`, { cause: error });
    throw error;
  }
}

/** Waits for a read. When the store does not answer it is 500, with a message of the gateway's own; the driver's message is logged. */
export async function reading<T>(work: Promise<T>, log: Log): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    log.error('an admin route could not be answered', { error });
    throw new GatewayError('internal_error', error.message, { cause: error });
  }
}

export function unknownKey(id: string): GatewayError {
  return new GatewayError('resource_not_found', `there is no key ${JSON.stringify(id)}`);
}
