import { createHash } from 'node:crypto';
import { isOfNewer } from '../../config/decode.ts';
import { GatewayError, type Log } from '../../contract/index.ts';
import type { ConfigurationStore, NewestConfiguration } from '../../stores/configuration-store.ts';

type Newest = Pick<NewestConfiguration, 'version' | 'text' | 'mark'>;

/** What this process knows of the stored configuration: the version that was the newest when it looked last, and the highest number. */
export class StoredVersions {
  #version = 0;
  #digest = digestOf(undefined);
  #mark: string | undefined;
  #highest = 0;

  /** No later version may have this number, or a lower one. */
  get highest(): number {
    return this.#highest;
  }

  saw({ version, text, mark }: Newest): void {
    this.#version = version;
    this.#digest = digestOf(text);
    this.#mark = mark;
    this.#highest = Math.max(this.#highest, version);
  }

  /**
   * What the store holds, where it is not what it held at the last look. A lower number, or another text of the same one, is a database that lost
   * changes: it was put back, or one that was behind took over. The numbers that were lost are not used again.
   */
  async look(
    store: Pick<ConfigurationStore, 'newest' | 'raiseFloor'>,
    log: Log,
  ): Promise<NewestConfiguration | undefined> {
    const newest = await store.newest();
    const { version, mark } = newest;
    const running = this.#version;
    const isOther = digestOf(newest.text) !== this.#digest;
    if (version === running && mark === this.#mark && !isOther) return undefined;
    const isBehind = version < running || (version === running && isOther);
    if (isBehind) {
      await store.raiseFloor?.(this.#highest, version === running ? version : undefined);
      log.warn('the configuration store went back', { running, stored: version });
    }
    const found = isBehind ? await store.newest() : newest; // with its mark
    this.saw(found);
    return found;
  }
}

/** Throws where a stored configuration has keys that this program does not know, and would lose. */
export function refuseOfNewer(stored: string): void {
  if (isOfNewer(stored)) throw new GatewayError('config_newer', 'the stored configuration was written by a newer gw');
}

/** A text may be large: only its digest is kept. */
const digestOf = (text: string | undefined): string =>
  text === undefined ? '' : createHash('sha256').update(text).digest('hex');
