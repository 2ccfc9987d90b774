import type { BadDocument } from './bad-documents.ts';

/** A document with these groups, which all have one target to go to. */
const models = (groups: readonly object[], more: object = {}): object => ({
  targets: [{ virtual_key: 'echo' }, { virtual_key: 'openai', model_map: { fast: 'gpt-4o-mini' } }],
  models: groups,
  ...more,
});
const to = (...names: string[]): object => ({ routes: names.map((target) => ({ target })) });
const named = (name: string): object => ({ name, ...to('echo') });

/** Documents that break the rules on `models`. */
export const BAD_MODELS: Readonly<Record<string, readonly BadDocument[]>> = {
  CV57: [
    {
      document: models(Array.from({ length: 1001 }, (_, index) => named(`m${index}`))),
      at: ['models'],
      says: ['1001 groups', '1000'],
    },
    {
      document: models(
        Array.from({ length: 157 }, (_, group) => ({
          name: `m${group}`,
          routes: Array.from({ length: 64 }, (__, route) => ({ target: 'echo', model: `u${route}` })),
        })),
      ),
      at: ['models'],
      says: ['10048 routes', '10000'],
    },
  ],
  CV61: [
    {
      document: models([to('echo'), named('m'.repeat(257)), named(' m'), named('m?'), named('a*b'), named('**')]),
      at: [0, 1, 2, 3, 4, 5].map((index) => `models[${index}].name`),
      says: ['models[0] has no name', '257 characters, the limit is 256', 'white space', '"m?"', '"a*b"', '"**"'],
    },
    {
      document: models([named('m'), named('oss/*'), named('m'), named('oss/*')]),
      at: ['models[2].name', 'models[3].name'],
      says: ['repeats the name "m"', 'repeats the name "oss/*"'],
      fix: 'each name once',
    },
  ],
  CV62: [
    { document: models([{ name: 'm' }]), at: ['models[0].routes'], says: ['group "m" has no routes'] },
    {
      document: models([
        { name: 'm', routes: Array.from({ length: 65 }, (_, index) => ({ target: 'echo', model: `u${index}` })) },
      ]),
      at: ['models[0].routes'],
      says: ['65 routes, the limit is 64'],
    },
    {
      document: models([{ name: 'm', routes: [{}, { target: 'groq' }] }]),
      at: ['models[0].routes[0].target', 'models[0].routes[1].target'],
      says: ['routes[0] of group "m" names no target', '"groq", which no target declares'],
      fix: 'use one of: echo, openai',
    },
  ],
  CV63: [
    {
      document: models([
        { name: 'm', routes: [{ target: 'echo', model: '' }] },
        { name: 'n', routes: [{ target: 'echo', model: 'up/*' }] },
        { name: 'oss/*', routes: [{ target: 'echo', model: 'a*b' }] },
      ]),
      at: ['models[0].routes[0].model', 'models[1].routes[0].model', 'models[2].routes[0].model'],
      says: ['has an empty model', '"up/*"', '"a*b"'],
    },
    {
      document: models([
        { name: 'm', routes: [{ target: 'echo', model: 'm' }, { target: 'echo' }] },
        { name: 'fast', routes: [{ target: 'openai', model: 'gpt-4o-mini' }, { target: 'openai' }] },
        { name: 'oss/*', routes: [{ target: 'echo', model: 'oss/*' }, { target: 'echo' }] },
      ]),
      at: ['models[0].routes[1]', 'models[1].routes[1]', 'models[2].routes[1]'],
      says: ['repeats the model "m"', 'repeats the model "gpt-4o-mini" of the target "openai"', '"oss/*"'],
    },
    {
      // Two upstream models, but conditions could not tell one route from the other.
      document: models([{ name: 'fast', routes: [{ target: 'openai', model: 'fast' }, { target: 'openai' }] }]),
      at: ['models[0].routes[1]'],
      says: ['routes[1] of group "fast"'],
    },
  ],
  CV64: [
    {
      document: models([named('smart'), named('oss/*')], { aliases: { smart: 'gpt-4o', 'oss/llama': 'gpt-4o' } }),
      at: ['aliases.smart'],
      says: ['alias "smart"'],
    },
  ],
  CV65: [
    {
      document: models([{ ...named('m'), fallbacks: ['', ' a', 'b*', 'm', 'c', 'c'] }]),
      at: [0, 1, 2, 3, 5].map((index) => `models[0].fallbacks[${index}]`),
      says: ['is empty', 'white space', '"b*": patterns', 'is the group itself', 'repeats "c"'],
    },
    {
      document: models([{ ...named('m'), fallbacks: Array.from({ length: 17 }, (_, index) => `f${index}`) }]),
      at: ['models[0].fallbacks'],
      says: ['17 entries, the limit is 16'],
    },
  ],
  CV66: [
    {
      document: models([{ ...named('m'), context: { max_input_tokens: 0, max_output_tokens: -1 } }]),
      at: ['models[0].context.max_input_tokens', 'models[0].context.max_output_tokens'],
      says: ['context.max_input_tokens of group "m" is 0', 'is -1'],
    },
  ],
  CV67: [
    {
      document: models([{ ...named('m'), strategy: { affinity: 'user' } }], { strategy: { affinity: 'sticky' } }),
      at: ['strategy.affinity', 'models[0].strategy.affinity'],
      says: ['"sticky"', '"user"'],
      fix: 'off or session',
    },
  ],
};
