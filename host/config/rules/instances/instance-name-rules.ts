import type { GatewayConfig } from '../../document.ts';
import type { ConfigRule, RuleContext } from '../rule.ts';
import { credentialsIn, declaredIn, secretsIn } from './declared-instances.ts';

const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;
const RESERVED: ReadonlySet<string> = new Set(['none', 'cache', 'unknown', 'gateway', 'mcp']);
const NAME_FIX = 'use lower-case letters, digits and "-", at most 64, a letter or digit first';

const MOST_INSTANCES = 256;
const MOST_CREDENTIALS = 1024;
const MOST_OF_ONE = 64;
const MOST_HEADERS = 32;
const MOST_MODELS = 10_000;

export const instanceNameRules: readonly ConfigRule[] = [
  {
    id: 'CV42',
    check: (config, { report }) => {
      for (const { name, path } of declaredIn(config)) {
        if (!NAME.test(name)) report(path, `"${name}" is not a name of an instance`, NAME_FIX);
        else if (RESERVED.has(name)) report(path, `the name "${name}" is reserved`, 'choose another name');
      }
    },
  },
  {
    id: 'CV45',
    check: (config, { report }) => {
      for (const declared of declaredIn(config)) {
        const { credentials } = declared.block;
        if (credentials === undefined) continue;
        if (credentials.length === 0)
          report(
            `${declared.path}.credentials`,
            `credentials of "${declared.name}" is empty`,
            'list at least one, or leave it out',
          );
        for (const { key, path } of secretsIn(declared))
          report(path, `"${declared.name}" has ${key} beside credentials`, 'move it into an entry of credentials');
      }
    },
  },
  {
    id: 'CV46',
    check: (config, { report }) => {
      for (const declared of declaredIn(config)) {
        const seen = new Set<string>();
        for (const { block, path } of credentialsIn(declared)) {
          const { name, vendor_account: account } = block;
          if (name === undefined || name === '')
            report(`${path}.name`, `a credential of "${declared.name}" has no name`, NAME_FIX);
          else if (!NAME.test(name)) report(`${path}.name`, `"${name}" is not a name of a credential`, NAME_FIX);
          else if (seen.has(name))
            report(`${path}.name`, `"${declared.name}" has the credential "${name}" twice`, 'give each its own name');
          seen.add(name ?? '');
          if (account !== undefined && !NAME.test(account))
            report(`${path}.vendor_account`, `"${account}" is not a label of a vendor account`, NAME_FIX);
        }
      }
    },
  },
];

/** Bounds on how many there are, which stand in `CV57` beside those of groups. */
export function reportTooMany(config: GatewayConfig, report: RuleContext['report']): void {
  const bounded = (path: string, what: string, found: number, limit: number): void => {
    if (found > limit) report(path, `there are ${found} ${what}, the limit is ${limit}`, 'remove some');
  };
  const all = declaredIn(config);
  const credentials = all.reduce((sum, { block }) => sum + (block.credentials?.length ?? 1), 0);
  bounded('providers', 'instances', all.length, MOST_INSTANCES);
  bounded('providers', 'credentials', credentials, MOST_CREDENTIALS);
  for (const { name, block, path } of all) {
    bounded(`${path}.credentials`, `credentials of "${name}"`, block.credentials?.length ?? 0, MOST_OF_ONE);
    bounded(`${path}.headers`, `headers of "${name}"`, Object.keys(block.headers ?? {}).length, MOST_HEADERS);
    bounded(`${path}.models`, `models of "${name}"`, block.models?.length ?? 0, MOST_MODELS);
  }
}
