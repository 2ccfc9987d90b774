import type { ModerationsReply, Translator, UnaryReply } from 'gw/contract';
import { type BodyOptions, commonBody } from './body.ts';
import { type Fields, isFields, itemsOf, objectOf } from './fields.ts';

/** Moderations on the common wire; categories keep the vendor's names. See docs/reference/providers.md#moderations. */
export function commonModerations(options: BodyOptions = {}): Translator<'moderations'> {
  return {
    toUpstream: (request, call) => ({ path: '/moderations', ...commonBody(request, call, options) }),
    fromUpstream: readModerations,
  };
}

function readModerations(reply: UnaryReply): ModerationsReply {
  const body = objectOf(reply);
  return { ...body, results: itemsOf(body['results'], 'results').map(readResult) };
}

/** `flagged` is derived where the vendor leaves it out: true when any category is. */
function readResult(result: Fields): ModerationsReply['results'][number] {
  const { flagged, categories, category_scores: scores } = result;
  if (!isFields(categories)) throw new Error('a result holds no categories');
  return {
    ...result,
    flagged: typeof flagged === 'boolean' ? flagged : Object.values(categories).includes(true),
    categories: categories as Record<string, boolean>,
    category_scores: (isFields(scores) ? scores : {}) as Record<string, number>,
  };
}
