import { ApiError, isOutdated } from '../api/api-error.ts';
import type { ApiClient } from '../api/client.ts';
import { given } from '../api/polling.ts';
import { type Fields, isFields } from '../lib/fields.ts';
import { blockAt } from '../lib/form-values.ts';
import { misplacedMarkers, placeOf, sendingOf } from '../lib/config-sending.ts';
import { withInstance } from './instance-block.ts';
import type { SavedInstance } from './instance-dialog.tsx';

/** The configuration in force, and the version that a write must find. */
export interface Base {
  readonly config: Fields;
  readonly etag: string | null;
}

export async function readBase(api: ApiClient, signal?: AbortSignal): Promise<Base> {
  const { data, headers } = await api.answered('/admin/config', signal ? { signal } : {});
  const config = given(data);
  return { config: isFields(config) ? config : {}, etag: headers.get('etag') };
}

const entryIn = ({ config }: Base, name: string): unknown => blockAt(config, 'providers')[name];

/**
 * Writes one entry of `providers` into the configuration that it was made of. Where another write came first, gives back the newest
 * configuration in an `Outdated`, unless that one changed the same entry.
 */
export async function writeInstance(api: ApiClient, base: Base, saved: SavedInstance): Promise<void> {
  const { name, entry, hasNewTarget } = saved;
  const body = withInstance(base.config, name, entry, hasNewTarget);
  const [withheld] = misplacedMarkers(base.config, body);
  if (withheld !== undefined)
    throw new ApiError(
      400,
      `${withheld} holds a value that was withheld, where none was: put the value or a \${VARIABLE} in its place.`,
    );
  const sending = sendingOf(base.config, body, JSON.stringify(body));
  const { path, method } = placeOf(sending);
  const headers = { ...sending.headers, ...(base.etag === null ? {} : { 'If-Match': base.etag }) };
  try {
    await api.json(path, { method, written: sending.written, headers });
  } catch (error) {
    if (!isOutdated(error)) throw error;
    const newest = await readBase(api);
    const isSame = JSON.stringify(entryIn(newest, name)) === JSON.stringify(entryIn(base, name));
    throw isSame ? new Outdated(newest) : new ApiError(412, ALSO_CHANGED);
  }
}

const ALSO_CHANGED = 'Another write has changed this instance meanwhile. Close this form, and open it again to see it.';

/** Another write came first, and left the entry alone. */
export class Outdated extends Error {
  override readonly name = 'Outdated';
  readonly newest: Base;

  constructor(newest: Base) {
    super(
      'Another write has changed the configuration meanwhile, and not this instance. Apply again to write on top of it.',
    );
    this.newest = newest;
  }
}
