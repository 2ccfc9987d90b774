import { type Decoded, decodeStored } from '../../../host/config/decode.ts';
import { ConfigRefused } from '../../../host/config/problems.ts';
import { Scrubber } from '../../../host/config/scrubber.ts';
import { type Fields, GatewayError, isFields, parseJson, quoted } from '../../../host/contract/index.ts';
import type { Applied } from '../../../host/generation/apply.ts';
import type { Host } from '../../../host/host.ts';
import type { JsonAnswer, JsonCall, JsonRoute } from '../../../host/http/json-route.ts';
import { type ConfigurationVersion, MOST_VERSIONS, type Writer } from '../../../host/stores/configuration-store.ts';
import { mostBytes } from '../asked.ts';
import { actorOf, type Auditor } from '../auditor.ts';
import { reading } from '../store-calls.ts';
import { timestamp } from '../timestamps.ts';
import { readConfiguration, RefusedConfiguration } from './body.ts';
import { changesBetween } from './diff.ts';
import { etagOf, wantedVersion } from './if-match.ts';

interface Mutation {
  readonly action: string;
  readonly target: string;
  readonly act: () => Promise<Applied>;
  readonly detail: (applied: Applied) => Record<string, unknown> | undefined;
  readonly answer: (applied: Applied) => JsonAnswer;
}

/** The configuration: looked at, replaced, reset, gone back to. See docs/admin.md#the-configuration. */
export function configRoutes(host: Host, auditor: Auditor): JsonRoute[] {
  const scrubber = new Scrubber(host);
  const {
    applier,
    log,
    stores: { configuration },
  } = host;
  const maxBytes = mostBytes(host);

  const writerOf = ({ principal, request }: JsonCall): Writer => ({
    actor: actorOf(principal),
    version: wantedVersion(request, applier.running.version),
  });

  const mutate = async (call: JsonCall, { action, target, act, detail, answer }: Mutation): Promise<JsonAnswer> => {
    try {
      const applied = await act().catch(asRefusal);
      auditor.record(call, { action, target, outcome: 'ok', detail: detail(applied) });
      const { status, body, headers = [] } = answer(applied);
      return { status, body, headers: [...headers, 'ETag', etagOf(applied.entry.version)] };
    } catch (error) {
      auditor.failed(call, { action, target, error });
      throw error;
    }
  };

  const replace =
    (action: string, status: number, word: string) =>
    async (call: JsonCall): Promise<JsonAnswer> => {
      let decoded: Decoded;
      try {
        decoded = readConfiguration(call.bytes);
      } catch (error) {
        const field = error instanceof RefusedConfiguration ? error.field : undefined;
        if (field !== undefined)
          auditor.record(call, {
            action,
            target: '*',
            outcome: 'denied',
            detail: { field, reason: 'redacted_secret' },
          });
        throw error;
      }
      return mutate(call, {
        action,
        target: '*',
        act: async () => applier.apply(decoded, writerOf(call)),
        detail: ({
          generation: {
            config: { plugins, strategy, targets },
          },
        }) => ({ plugins: plugins.length, strategy: strategy.mode, targets: targets.length }),
        answer: () => ({ status, body: { status: word } }),
      });
    };

  const reset = (call: JsonCall): Promise<JsonAnswer> =>
    mutate(call, {
      action: 'config.delete',
      target: '*',
      act: async () => applier.reset(writerOf(call)),
      detail: () => undefined,
      answer: () => ({ status: 200, body: { status: 'deleted' } }),
    });

  const rollBack = async (call: JsonCall): Promise<JsonAnswer> => {
    const asked = call.parameter('version');
    if (!/^[1-9]\d*$/.test(asked)) throw noVersion(asked);
    const [action, target] = ['config.rollback', asked];
    const history = await reading(configuration.value.history(), log).catch((error: unknown) => {
      auditor.failed(call, { action, target, error });
      throw error;
    });
    const found = history.find(({ version }) => version === Number(asked));
    if (!found) {
      auditor.record(call, { action, target, outcome: 'denied', detail: { reason: 'version_not_found' } });
      throw noVersion(asked);
    }
    const size = configuration.value.isDurable ? history.length + 1 : Math.min(history.length + 1, MOST_VERSIONS);
    return mutate(call, {
      action,
      target,
      act: async () => applier.apply(decodeStored(found.text), writerOf(call), 'rollback'),
      detail: ({ entry }) => ({ rolled_back_from: entry.rolledBackFrom }),
      answer: () => ({
        status: 200,
        body: { status: 'rolled_back', rolled_back_to: found.version, current_history_size: size },
      }),
    });
  };

  /** Answers as a write would, without the write. */
  const checked =
    (answer: (decoded: Decoded) => object) =>
    ({ bytes }: JsonCall): JsonAnswer => {
      const decoded = readConfiguration(bytes);
      const problems = applier.problemsOf(decoded);
      if (problems.length > 0) throw new RefusedConfiguration('invalid_config', problems);
      return { status: 200, body: answer(decoded) };
    };

  const show = (): JsonAnswer => {
    const { document, version } = applier.running;
    return { status: 200, body: scrubber.show(document), headers: ['ETag', etagOf(version)] };
  };

  const history = async (): Promise<JsonAnswer> => {
    const entries = await reading(configuration.value.history(), log);
    return {
      status: 200,
      body: {
        data: entries.map((entry) => historyEntry(entry, scrubber)),
        summary: { total_versions: entries.length },
      },
    };
  };

  const diff = ({ config, document }: Decoded): object => ({
    changes: changesBetween(scrubber, meant(applier.running.document, host.current), meant(document, { config })),
  });

  return [
    { method: 'GET', path: '/admin/config', scope: 'read_only', answer: show },
    {
      method: 'PUT',
      path: '/admin/config',
      scope: 'admin',
      maxBytes,
      answer: replace('config.update', 200, 'updated'),
    },
    {
      method: 'POST',
      path: '/admin/config',
      scope: 'admin',
      maxBytes,
      answer: replace('config.create', 201, 'created'),
    },
    { method: 'DELETE', path: '/admin/config', scope: 'admin', answer: reset },
    { method: 'GET', path: '/admin/config/history', scope: 'read_only', answer: history },
    { method: 'POST', path: '/admin/config/rollback/:version', scope: 'admin', answer: rollBack },
    {
      method: 'POST',
      path: '/admin/config/validate',
      scope: 'admin',
      maxBytes,
      answer: checked(() => ({ valid: true })),
    },
    { method: 'POST', path: '/admin/config/diff', scope: 'admin', maxBytes, answer: checked(diff) },
  ];
}

function asRefusal(error: unknown): never {
  throw error instanceof ConfigRefused ? new RefusedConfiguration('invalid_config', error.problems) : error;
}

function noVersion(asked: string): GatewayError {
  return new GatewayError('resource_not_found', `the history has no version ${quoted(asked)}`);
}

/** Bounds for a configuration that was accepted already: none. */
const UNBOUNDED = { fields: Infinity, members: Infinity, containers: Infinity };

function historyEntry(
  { version, updatedAt, text, actor, rolledBackFrom }: ConfigurationVersion,
  scrubber: Scrubber,
): object {
  const document = parseJson(text, UNBOUNDED);
  return {
    version,
    updated_at: timestamp(updatedAt),
    config: scrubber.show(isFields(document) ? document : {}),
    rolled_back_from: rolledBackFrom ?? null,
    actor,
  };
}

/** Fills in what is left out and has one meaning, so that writing it out does not count as a change. */
function meant(document: Fields, running: { readonly config: Decoded['config'] } | undefined): Fields {
  const strategy = isFields(document['strategy']) ? document['strategy'] : {};
  return {
    ...document,
    apiVersion: running?.config?.apiVersion,
    strategy: { ...strategy, mode: running?.config?.strategy.mode },
  };
}
