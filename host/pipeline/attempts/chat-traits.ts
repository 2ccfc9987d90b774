import { providerError } from '../../boundary/provider-boundary.ts';
import { type ChatTraits, isFields } from '../../contract/index.ts';
import type { ConnectedProvider } from '../../upstream/connect.ts';

const NO_TRAITS: ChatTraits = Object.freeze({});

/** What chats with one model take at a provider, beside the common format's core. */
export function chatTraitsOf({ module, ref }: Pick<ConnectedProvider, 'module' | 'ref'>, model: string): ChatTraits {
  if (!module.chatTraitsFor) return module.chatTraits ?? NO_TRAITS;
  try {
    const traits: unknown = module.chatTraitsFor(model);
    if (isFields(traits)) return traits;
    throw new Error('it returned no traits: an object');
  } catch (thrown) {
    throw providerError(ref, 'chatTraitsFor', thrown);
  }
}
