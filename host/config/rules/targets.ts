import type { GatewayConfig, TargetConfig } from '../document.ts';
import { useOneOf } from '../../common/nearest.ts';
import { parseDuration } from '../../contract/duration.ts';
import type { ProviderModule } from '../../contract/index.ts';
import type { Problem } from '../problems.ts';
import { MAX_MODEL_FACTS, modelFactsProblems } from './model-facts-rule.ts';
import type { ConfigRule, RuleContext } from './rule.ts';

type TargetCheck = (target: TargetConfig, path: string, report: RuleContext['report']) => void;

const LIMIT = 10_000;
const named = (target: TargetConfig): string => `target "${target.virtual_key}"`;

function eachTarget(id: string, check: TargetCheck): ConfigRule {
  return {
    id,
    check: (config: GatewayConfig, { report }) =>
      config.targets.forEach((target, index) => check(target, `targets[${index}]`, report)),
  };
}

/** A rule on each entry of `targets[].models`; `seen` holds those before it. */
function eachModel(
  id: string,
  check: (model: string, seen: ReadonlySet<string>) => { message: string; fix: string } | undefined,
): ConfigRule {
  return eachTarget(id, (target, path, report) => {
    const seen = new Set<string>();
    target.models?.forEach((model, index) => {
      const found = check(model, seen);
      seen.add(model);
      if (found) report(`${path}.models[${index}]`, `models[${index}] of ${named(target)} ${found.message}`, found.fix);
    });
  });
}

const isSameSet = (a: readonly number[], b: readonly number[]): boolean =>
  new Set(a).symmetricDifference(new Set(b)).size === 0;

const CHAT_VIA: ReadonlySet<string> = new Set(['auto', 'chat', 'responses']);

const BREAKER_COUNTS = ['failure_threshold', 'success_threshold', 'max_half_threshold'] as const;

export const targetRules: readonly ConfigRule[] = [
  {
    id: 'CV01',
    check: ({ targets }, { report }) => {
      if (targets.length === 0)
        report('targets', 'no target is configured', 'list at least one target with its virtual_key');
    },
  },
  {
    id: 'CV33',
    check: ({ targets }, { report }) => {
      const seen = new Set<string>();
      targets.forEach(({ virtual_key }, index) => {
        const path = `targets[${index}].virtual_key`;
        if (virtual_key === '')
          report(path, `targets[${index}] has no virtual_key`, 'name a provider, for example "openai"');
        else if (seen.has(virtual_key))
          report(path, `targets[${index}] repeats the virtual_key "${virtual_key}"`, 'keep one target per provider');
        seen.add(virtual_key);
      });
    },
  },
  eachTarget('CV02', (target, path, report) => {
    if (target.concurrency && (target.concurrency.max_concurrency ?? 0) <= 0) {
      report(
        `${path}.concurrency.max_concurrency`,
        `max_concurrency of ${named(target)} is ${target.concurrency.max_concurrency ?? 'missing'}`,
        'set 1 to 10000, or omit the concurrency block',
      );
    }
  }),
  eachTarget('CV03', (target, path, report) => {
    const value = target.concurrency?.max_concurrency ?? 0;
    if (value > LIMIT)
      report(
        `${path}.concurrency.max_concurrency`,
        `max_concurrency of ${named(target)} is ${value}, the limit is 10000`,
        'set at most 10000',
      );
  }),
  eachTarget('CV04', (target, path, report) => {
    const value = target.concurrency?.queue_size ?? 0;
    if (value < 0)
      report(
        `${path}.concurrency.queue_size`,
        `queue_size of ${named(target)} is ${value}`,
        'set 0 (the default of 1000) or more',
      );
  }),
  eachTarget('CV05', (target, path, report) => {
    const value = target.concurrency?.queue_size ?? 0;
    if (value > LIMIT)
      report(
        `${path}.concurrency.queue_size`,
        `queue_size of ${named(target)} is ${value}, the limit is 10000`,
        'set at most 10000',
      );
  }),
  eachModel('CV06', (model) =>
    model === '' || model.trim() !== model
      ? { message: 'is empty or has surrounding white space', fix: 'write the exact model id' }
      : undefined,
  ),
  eachModel('CV07', (model) =>
    /[*?]/.test(model)
      ? { message: `is "${model}": patterns are not supported`, fix: 'list each model id' }
      : undefined,
  ),
  eachModel('CV08', (model, seen) =>
    seen.has(model) ? { message: `repeats "${model}"`, fix: 'list each model id once' } : undefined,
  ),
  eachTarget('CV09', (target, path, report) => {
    const value = target.retry?.attempts ?? 0;
    if (value < 0)
      report(
        `${path}.retry.attempts`,
        `retry.attempts of ${named(target)} is ${value}`,
        'set the number of tries, 0 or more',
      );
  }),
  eachTarget('CV10', (target, path, report) => {
    const value = target.retry?.initial_backoff_ms ?? 0;
    if (value < 0)
      report(
        `${path}.retry.initial_backoff_ms`,
        `retry.initial_backoff_ms of ${named(target)} is ${value}`,
        'set milliseconds, 0 (the default of 100) or more',
      );
  }),
  eachTarget('CV11', (target, path, report) => {
    for (const field of BREAKER_COUNTS) {
      const value = target.circuit_breaker?.[field] ?? 0;
      if (value < 0)
        report(
          `${path}.circuit_breaker.${field}`,
          `${field} of ${named(target)} is ${value}`,
          'set 0 (the default) or more',
        );
    }
  }),
  eachTarget('CV12', (target, path, report) => {
    const value = target.circuit_breaker?.timeout;
    if (!value || (parseDuration(value) ?? -1) >= 0) return;
    report(
      `${path}.circuit_breaker.timeout`,
      `circuit_breaker.timeout of ${named(target)} is "${value}"`,
      'write a duration such as 30s',
    );
  }),
  eachTarget('CV36', (target, path, report) => {
    const nested = target.retry?.on_status_codes;
    if (!nested || !target.retry_on_status || isSameSet(nested, target.retry_on_status)) return;
    report(
      `${path}.retry_on_status`,
      `${named(target)} has retry_on_status and a different retry.on_status_codes`,
      'keep one of the two',
    );
  }),
  eachTarget('CV41', (target, path, report) => {
    const { responses } = target;
    if (!responses || responses === 'native' || responses === 'translate') return;
    report(`${path}.responses`, `responses of ${named(target)} is "${responses}"`, 'use native or translate');
  }),
  eachTarget('CV100', ({ chat_via: via }, path, report) => {
    if (via !== undefined && !CHAT_VIA.has(via))
      report(`${path}.chat_via`, `"${via}" is not a way to send chats`, 'use auto, chat or responses');
  }),
  eachTarget('CV101', (target, path, report) => {
    const { model_facts: entries = [] } = target;
    if (entries.length > MAX_MODEL_FACTS)
      report(
        `${path}.model_facts`,
        `model_facts of ${named(target)} has ${entries.length} entries, the limit is ${MAX_MODEL_FACTS}`,
        'name several models in one entry',
      );
    entries.forEach((entry, index) => {
      const at = `model_facts[${index}]`;
      for (const { member, message, fix } of modelFactsProblems(entry)) {
        const place = member === '' ? at : `${at}.${member}`;
        report(`${path}.${place}`, `${place} of ${named(target)} ${message}`, fix);
      }
    });
  }),
  eachTarget('CV37', (target, path, report) => {
    for (const [model, upstream] of Object.entries(target.model_map ?? {})) {
      if (model !== '' && upstream !== '') continue;
      report(
        `${path}.model_map`,
        `model_map of ${named(target)} maps "${model}" to "${upstream}"`,
        'write a model id on both sides',
      );
    }
  }),
];

const EACH_TARGET = new Set(targetRules.map(({ id }) => id).filter((id) => id !== 'CV01' && id !== 'CV33'));
const TARGET_NUMBER = /^targets\[(\d+)\]/;
const numberOf = ({ path }: Problem): number => Number(TARGET_NUMBER.exec(path)?.[1]);

/** What the rules on each target found, target by target: each rule looks at all targets. See docs/configuration.md#the-document-by-itself. */
export function byTarget(problems: readonly Problem[]): readonly Problem[] {
  const first = problems.findIndex(({ rule }) => EACH_TARGET.has(rule));
  const end = problems.findLastIndex(({ rule }) => EACH_TARGET.has(rule)) + 1;
  if (first < 0) return problems;
  return problems.toSpliced(
    first,
    end - first,
    ...problems.slice(first, end).toSorted((a, b) => numberOf(a) - numberOf(b)),
  );
}

/** The kind of a target. */
const moduleOf = (
  providers: GatewayConfig['providers'],
  modules: ReadonlyMap<string, ProviderModule>,
  name: string,
): ProviderModule | undefined =>
  modules.get(providers && Object.hasOwn(providers, name) ? (providers[name]?.kind ?? '') : name);

/** Runs with the rules about what this build ships, after those about the document. */
export const providerRule: ConfigRule = {
  id: 'BV01',
  check: ({ targets, providers = {} }, { known, report }) => {
    targets.forEach(({ virtual_key }, index) => {
      if (virtual_key === '' || Object.hasOwn(providers, virtual_key)) return;
      const module = known.providers.get(virtual_key);
      if ((module && !module.connection.onlyDeclared) || known.isRefused('provider', virtual_key)) return;
      const declared = Object.keys(providers);
      report(
        `targets[${index}].virtual_key`,
        declared.length > 0
          ? `"${virtual_key}" is neither a declared instance nor a known provider`
          : `"${virtual_key}" is not a provider of this build`,
        useOneOf(
          virtual_key,
          [...new Set([...declared, ...known.providers.keys()])].filter((name) => name !== virtual_key).toSorted(),
        ),
      );
    });
  },
};

/** Only a service with a Responses API can answer chats by it. */
export const chatViaRule: ConfigRule = {
  id: 'BV20',
  check: ({ targets, providers }, { known, report }) => {
    targets.forEach(({ virtual_key, chat_via: via }, index) => {
      const module = moduleOf(providers, known.providers, virtual_key);
      if (via === 'responses' && module && !module.translators.chat?.viaResponses)
        report(
          `targets[${index}].chat_via`,
          `${virtual_key} has no Responses API to send chats by`,
          'use auto or chat, or leave it out',
        );
    });
  },
};
