import { type Decoded, decodeStored } from '../../../host/config/decode.ts';
import { Scrubber } from '../../../host/config/scrubber.ts';
import { type Fields, isFields, parseJson } from '../../../host/contract/index.ts';
import { configSource } from '../../../host/generation/config-source.ts';
import type { Host } from '../../../host/host.ts';
import type { JsonAnswer, JsonCall } from '../../../host/http/json-route.ts';
import { type ConfigurationVersion, MOST_VERSIONS } from '../../../host/stores/configuration-store.ts';
import { SHIPPED } from '../../../host/registry/registry.ts';
import { Query } from '../query.ts';
import { reading } from '../store-calls.ts';
import { timestamp } from '../../../host/common/timestamps.ts';
import { readConfiguration, RefusedConfiguration } from './body.ts';
import { changesBetween } from './diff.ts';
import { askedVersion, keptVersion, noVersion } from './versions.ts';
import { etagOf, requireVersion } from './if-match.ts';
import { isPatch, type PatchBody, readPatchOf } from './patch-body.ts';
import { isSameDocument, patchedDocument } from './patched-document.ts';

export interface Patched {
  readonly decoded: Decoded | undefined;
  readonly changes: ReturnType<typeof changesBetween>;
}

/** What is shown of the configuration, and of one that is not applied. Secrets are hidden in all of it. */
export class ConfigViews {
  readonly #host: Host;
  readonly #scrubber: Scrubber;

  constructor(host: Host) {
    this.#host = host;
    this.#scrubber = new Scrubber(host);
  }

  running(): JsonAnswer {
    const { running } = this.#host.applier;
    return {
      status: 200,
      body: this.#scrubber.show(running.document),
      headers: ['ETag', etagOf(running), 'X-Gateway-Config-Source', configSource(this.#host)],
    };
  }

  /** One version of the history, as its list shows it. */
  async versionOf(call: JsonCall): Promise<JsonAnswer> {
    const { log, stores } = this.#host;
    const version = askedVersion(call);
    const entry = await reading(keptVersion(stores.configuration.value, version), log);
    if (!entry) throw noVersion(call.parameter('version'));
    return { status: 200, body: historyEntry(entry, this.#scrubber) };
  }

  async history({ request }: JsonCall): Promise<JsonAnswer> {
    const { log, stores } = this.#host;
    const query = new Query(request);
    const page = { limit: query.limit(MOST_VERSIONS, MOST_VERSIONS), before: query.beforeVersion() };
    const isBare = query.flag('documents') === false;
    const entries = await reading(stores.configuration.value.history({ ...page, isBare }), log);
    return {
      status: 200,
      body: {
        data: entries.map((entry) => (isBare ? bareEntry(entry) : historyEntry(entry, this.#scrubber))),
        summary: { total_versions: entries.length },
      },
    };
  }

  /** Answers as a write would, without the write. */
  validity(call: JsonCall): JsonAnswer {
    this.#checked(call);
    return { status: 200, body: { valid: true } };
  }

  /** What a write would change. */
  difference(call: JsonCall): JsonAnswer {
    const { config, document } = this.#checked(call);
    const { applier, current } = this.#host;
    return {
      status: 200,
      body: {
        changes: changesBetween(this.#scrubber, meant(applier.running.document, current), meant(document, { config })),
      },
    };
  }

  /** What a patch makes of the configuration that runs; `decoded` only where that is another one. Throws where `If-Match` names another version. */
  patched(call: JsonCall, { operations }: PatchBody, needsVersion = true): Patched {
    const { applier, registry, current } = this.#host;
    const { running } = applier;
    requireVersion(call.request, running, needsVersion);
    const isShipped = (plugin: string): boolean => registry.originOf('plugin', plugin) === SHIPPED;
    const document = patchedDocument(running.document, operations, { scrubber: this.#scrubber, isShipped });
    const decoded = readConfiguration(Buffer.from(JSON.stringify(document)));
    if (isSameDocument(document, running.document, this.#scrubber)) return { decoded: undefined, changes: [] };
    const changes = changesBetween(this.#scrubber, meant(running.document, current), meant(decoded.document, decoded));
    return { decoded, changes };
  }

  #patchedOf(call: JsonCall): Decoded {
    const { decoded } = this.patched(call, readPatchOf(call), false);
    return decoded ?? decodeStored(JSON.stringify(this.#host.applier.running.document));
  }

  #checked(call: JsonCall): Decoded {
    const decoded = isPatch(call) ? this.#patchedOf(call) : readConfiguration(call.bytes);
    const problems = this.#host.applier.problemsOf(decoded);
    if (problems.length > 0) throw new RefusedConfiguration('invalid_config', problems);
    return decoded;
  }
}

/** Bounds for a configuration that was accepted already: none. */
const UNBOUNDED = { fields: Infinity, members: Infinity, containers: Infinity };

function historyEntry(entry: ConfigurationVersion, scrubber: Scrubber): object {
  const document = parseJson(entry.text, UNBOUNDED);
  const { version, updated_at, ...others } = bareEntry(entry);
  return { version, updated_at, config: scrubber.show(isFields(document) ? document : {}), ...others };
}

const bareEntry = ({ version, updatedAt, actor, rolledBackFrom }: ConfigurationVersion) => ({
  version,
  updated_at: timestamp(updatedAt),
  rolled_back_from: rolledBackFrom ?? null,
  actor,
});

/** Fills in what is left out and has one meaning, so that writing it out does not count as a change. */
function meant(document: Fields, running: { readonly config: Decoded['config'] } | undefined): Fields {
  const strategy = isFields(document['strategy']) ? document['strategy'] : {};
  return {
    ...document,
    apiVersion: running?.config?.apiVersion,
    strategy: { ...strategy, mode: running?.config?.strategy.mode },
  };
}
