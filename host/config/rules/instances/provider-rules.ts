import type { ConfigRule } from '../rule.ts';
import { instanceAddressRules } from './instance-address-rules.ts';
import { instanceHeaderRules } from './instance-header-rules.ts';
import { instanceModelRules } from './instance-model-rules.ts';
import { instanceNameRules } from './instance-name-rules.ts';
import { instanceSecretRules } from './instance-secret-rules.ts';

/** Rules on `providers` that know no kind, in the order of their ids. */
export const providerRules: readonly ConfigRule[] = [
  ...instanceNameRules,
  ...instanceSecretRules,
  ...instanceAddressRules,
  ...instanceHeaderRules,
  ...instanceModelRules,
].toSorted((a, b) => (a.id < b.id ? -1 : 1));
