import { providerContract } from '../../kit/index.ts';
import { FACTS } from './facts.ts';
import { PROVIDERS } from './support.ts';

for (const facts of FACTS) {
  const module = PROVIDERS.find(({ name }) => name === facts.name);
  if (module) providerContract(module, facts); // one that is missing fails the coverage guard
}
