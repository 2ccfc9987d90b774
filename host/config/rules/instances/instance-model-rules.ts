import type { ConfigRule } from '../rule.ts';
import { credentialsIn, declaredIn } from './declared-instances.ts';

interface Fault {
  readonly message: string;
  readonly fix: string;
}

const MOST_ALLOWED = 1000;
const MOST_CALLS = 10_000;
const LONGEST_REGION = 64;

function modelFault(model: string, seen: ReadonlySet<string>): Fault | undefined {
  if (model === '' || model.trim() !== model)
    return { message: 'is empty or has surrounding white space', fix: 'write the exact model id' };
  if (/[*?]/.test(model)) return { message: `is "${model}": patterns are not supported`, fix: 'list each model id' };
  return seen.has(model) ? { message: `repeats "${model}"`, fix: 'list each model id once' } : undefined;
}

function allowedFault(pattern: string): Fault | undefined {
  const fix = 'write the exact model id, or its beginning and one "*"';
  if (pattern === '' || pattern.trim() !== pattern) return { message: 'is empty or has surrounding white space', fix };
  return /[*?]/.test(pattern.replace(/\*$/, ''))
    ? { message: `is "${pattern}": one "*" may stand at its end, and nothing else`, fix }
    : undefined;
}

export const instanceModelRules: readonly ConfigRule[] = [
  {
    id: 'CV55',
    check: (config, { report }) => {
      for (const { name, block, path } of declaredIn(config)) {
        const seen = new Set<string>();
        block.models?.forEach((model, index) => {
          const found = modelFault(model, seen);
          seen.add(model);
          if (found) report(`${path}.models[${index}]`, `models[${index}] of "${name}" ${found.message}`, found.fix);
        });
      }
    },
  },
  {
    id: 'CV56',
    check: (config, { report }) => {
      for (const { name, block, path } of declaredIn(config))
        if (block.discover === true && block.models !== undefined)
          report(`${path}.discover`, `"${name}" lists its models, and is to be asked for them`, 'keep one of the two');
    },
  },
  {
    id: 'CV58',
    check: (config, { report }) => {
      for (const declared of declaredIn(config)) {
        const credentials = credentialsIn(declared);
        for (const { block, path } of credentials)
          if ((block.weight ?? 1) < 0)
            report(`${path}.weight`, `the weight of "${block.name}" is ${block.weight}`, 'set 0 or more');
        if (credentials.length > 0 && credentials.every(({ block }) => block.weight === 0))
          report(
            `${declared.path}.credentials`,
            `every credential of "${declared.name}" has weight 0`,
            'set one above 0',
          );
      }
    },
  },
  {
    id: 'CV59',
    check: (config, { report }) => {
      for (const { block, path } of declaredIn(config).flatMap(credentialsIn)) {
        const { max_concurrency: most } = block;
        if (most !== undefined && (most < 1 || most > MOST_CALLS))
          report(
            `${path}.max_concurrency`,
            `max_concurrency of "${block.name}" is ${most}`,
            `set 1 to ${MOST_CALLS}, or leave it out`,
          );
      }
    },
  },
  {
    id: 'CV60',
    check: (config, { report }) => {
      for (const { block, path } of declaredIn(config).flatMap(credentialsIn)) {
        const { name, models = [] } = block;
        if (models.length > MOST_ALLOWED)
          report(`${path}.models`, `"${name}" has ${models.length} models, the limit is ${MOST_ALLOWED}`, 'use "*"');
        models.forEach((pattern, index) => {
          const found = allowedFault(pattern);
          if (found) report(`${path}.models[${index}]`, `models[${index}] of "${name}" ${found.message}`, found.fix);
        });
      }
    },
  },
  {
    id: 'CV69',
    check: (config, { report }) => {
      for (const { name, block, path } of declaredIn(config)) {
        const { region = '', retention_days: days = 0 } = block.data ?? {};
        if (region.length > LONGEST_REGION)
          report(
            `${path}.data.region`,
            `data.region of "${name}" has ${region.length} characters, the limit is ${LONGEST_REGION}`,
            'shorten it',
          );
        if (days < 0)
          report(`${path}.data.retention_days`, `data.retention_days of "${name}" is ${days}`, 'set 0 or more');
      }
    },
  },
];
