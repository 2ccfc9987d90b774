import { canonicalJson } from '../../../host/config/canonical.ts';
import { withoutIdentity } from '../../../host/config/decode.ts';
import { formatOf, loadConfigFile } from '../../../host/config/load.ts';
import { markedFields } from '../../../host/config/markers.ts';
import { pathText, type Problem } from '../../../host/config/problems.ts';
import { TextScrubber } from '../../../host/config/scrub-text.ts';
import { Scrubber } from '../../../host/config/scrubber.ts';
import { timestamp } from '../../../host/common/timestamps.ts';
import { configSource, sourceOfStart } from '../../../host/generation/config-source.ts';
import type { Host } from '../../../host/host.ts';
import type { JsonAnswer } from '../../../host/http/json-route.ts';
import { reading } from '../store-calls.ts';

/** The file is read again once this is over. */
const LOOK_MS = 5_000;

/** What a look at the file found: whether it means something else than what serves, `null` where it cannot be read. */
interface Look {
  readonly at: number;
  readonly serving: unknown;
  readonly differs: boolean | null;
}

/** Where the configuration that serves came from, and what the next start begins with. See docs/admin.md#the-configuration. */
export class SourceView {
  readonly #host: Host;
  readonly #scrubber: Scrubber;
  readonly #texts: TextScrubber;
  #look: Look | undefined;

  constructor(host: Host) {
    this.#host = host;
    this.#scrubber = new Scrubber(host);
    this.#texts = new TextScrubber(host.redactor);
  }

  async show(): Promise<JsonAnswer> {
    const { applier, current, configFile, stores, log } = this.#host;
    const { value: store } = stores.configuration;
    const [newest, last] = await reading(Promise.all([store.newest(), store.history({ limit: 1, isBare: true })]), log);
    const inForce = configSource(this.#host);
    const entry = last.at(-1);
    return {
      status: 200,
      body: {
        in_force: inForce,
        version: entry?.version ?? 0,
        updated_at: entry ? timestamp(entry.updatedAt) : null,
        actor: entry?.actor ?? null,
        file: await this.#file(),
        next_start: newest.isStored ? 'store' : sourceOfStart(this.#host),
        pending_restart: current?.pendingRestart ?? [],
        format: inForce === 'file' && configFile ? (formatOf(configFile.path) ?? 'json') : 'json',
        withheld: markedFields(this.#scrubber.show(applier.running.document)).map(pathText),
        warnings: (current?.warnings ?? []).map((problem) => this.#warning(problem)),
      },
    };
  }

  async #file(): Promise<object | null> {
    const { configFile, settings } = this.#host;
    if (!configFile) return null;
    const differs = await this.#differs(configFile.path);
    return { path: configFile.path, watched: settings.watchesConfig, differs, readable: differs !== null };
  }

  async #differs(path: string): Promise<boolean | null> {
    const { current, services } = this.#host;
    const [at, serving] = [services.clock.monotonic(), current?.config];
    const before = this.#look;
    if (before && before.serving === serving && at - before.at < LOOK_MS) return before.differs;
    const { config, problems } = withoutIdentity(await loadConfigFile(path));
    const isReadable = config !== undefined && problems.length === 0;
    const differs = isReadable ? canonicalJson(config) !== canonicalJson(serving) : null;
    this.#look = { at, serving, differs };
    return differs;
  }

  #warning({ rule, path, message, fix }: Problem): object {
    return { rule, path, message: this.#texts.quoting(message), fix: this.#texts.quoting(fix) };
  }
}
