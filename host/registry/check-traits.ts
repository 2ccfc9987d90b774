import type { ProviderModule } from '../contract/index.ts';
import { errorMessage } from '../common/error-message.ts';
import { CHAT_TRAITS } from './module-shapes.ts';
import type { Finding } from './shape.ts';

/** What is wrong with the traits that a module states for a model. */
export function traitFindings(module: ProviderModule): readonly Finding[] {
  if (!module.chatTraitsFor) return [];
  try {
    return CHAT_TRAITS(module.chatTraitsFor('m'), 'chatTraitsFor(model)');
  } catch (error) {
    return [{ message: `chatTraitsFor throws: ${errorMessage(error)}`, fix: 'return traits for any model' }];
  }
}
