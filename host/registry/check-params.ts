import type { ChatRequest, ProviderModule, WireRequest } from '../contract/index.ts';
import { CANNED_CALL } from './canned-requests.ts';
import type { Finding } from './shape.ts';

/** A value of each parameter that a wire carries by itself; the others mean something only beside more. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  temperature: 0.25,
  top_p: 0.75,
  n: 2,
  seed: 41,
  presence_penalty: 0.125,
  frequency_penalty: 0.375,
  stop: ['never-so'],
  user: 'user-1',
};

const PLAIN: ChatRequest = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };

/** Where `params` says one thing and the chat translator does another. What is translated may depend on more than this request holds. */
export function paramFindings(module: ProviderModule): readonly Finding[] {
  const { chat } = module.translators;
  if (!chat) return [];
  const params = module.paramsFor?.(PLAIN.model) ?? module.params;
  const plain = wireOf(module, PLAIN);
  if (!plain) return [];
  return Object.entries(SAMPLES).flatMap(([name, sample]) => {
    const wire = wireOf(module, { ...PLAIN, [name]: sample });
    const body: unknown = wire?.body;
    if (!wire || typeof body !== 'object' || body === null || wire.ignored?.includes(name)) return []; // refused, listed in `ignored`, or not JSON
    const treatment = Object.hasOwn(params, name) ? params[name] : 'forward';
    if (typeof treatment === 'object') return renameFindings(name, treatment.rename, body);
    const isSame = JSON.stringify(wire) === JSON.stringify(plain);
    if (treatment === 'unsupported' && module.wire === 'native' && !isSame)
      return [
        {
          message: `params says that ${name} is unsupported, and the chat translator sends it`,
          fix: `write params.${name}: 'translate', or do not send it`,
        },
      ];
    if (treatment === 'forward' && isSame)
      return [
        {
          message: `params says forward of ${name}, and the chat translator drops it`,
          fix: `write params.${name}: 'unsupported', send it, or name it in ignored`,
        },
      ];
    return [];
  });
}

function renameFindings(name: string, rename: string, body: object): readonly Finding[] {
  if (Object.hasOwn(body, rename) && !Object.hasOwn(body, name)) return [];
  return [
    {
      message: `params renames ${name} to ${rename}, and the chat translator does not`,
      fix: 'give params and the translator one table: commonTranslators([…], params)',
    },
  ];
}

/** Nothing for a request that the provider refuses. */
function wireOf(module: ProviderModule, request: ChatRequest): WireRequest | undefined {
  try {
    const wire: unknown = module.translators.chat?.toUpstream(request, CANNED_CALL);
    if (!(wire instanceof Promise)) return wire as WireRequest | undefined;
    wire.catch(() => {}); // MV06 refuses it
    return undefined;
  } catch {
    return undefined; // MV06 tells what it throws on a minimal request
  }
}
