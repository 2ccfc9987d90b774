import { expect } from 'chai';
import {
  type CallInfo,
  ERRORS,
  GatewayError,
  type ProviderModule,
  type RequestOf,
  type TranslatedSurface,
  type Translator,
} from '../../../host/contract/index.ts';
import { callFor, cases, connected, Dice, minimal } from '../../kit/index.ts';
import { PROVIDERS, wireVariables, wiresOf } from '../hostile/wires.ts';

/** Names as vendors give them, of every form that some provider tells apart: with an owner, a version, a region, a resource. */
const ORDINARY = [
  'm',
  'owner/name',
  'owner/name:v1',
  `owner/name:${'5c7d5dc6'.repeat(8)}`,
  'models/gemini-3-pro',
  'tunedModels/mine',
  'google/gemini-2.5-pro',
  'publishers/google/models/gemini-2.5-pro',
  'anthropic/claude-sonnet-4-5',
  'claude-sonnet-4-5',
  'claude-sonnet-4-5@20250929',
  'us.anthropic.claude-sonnet-4-20250514-v1:0',
  'arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/a1b2c3',
  'imagen-4.0-generate-001',
  'gemini-embedding-001',
  'text-embedding-005',
  'whisper-v3',
  'whisper-v3-turbo',
  'gpt-4o',
  'jamba-instruct',
  'accounts/fireworks/models/x',
  '@cf/meta/llama-3.1-8b-instruct',
];

/** What leaves its place in an address, in one reader's eyes or another's. */
const HOSTILE = [
  '',
  '.',
  '..',
  '/',
  '//',
  '/..',
  '../',
  '/../',
  '/./',
  '..;/',
  '...',
  '\\',
  '..\\',
  '%2e',
  '%2e%2e',
  '%2E%2e/',
  '%252e%252e',
  '%2f',
  '%5c',
  '%',
  '%zz',
  '%00',
  '%0d%0a',
  '?',
  '?a=b',
  '#',
  '#x',
  '&a=b',
  ';a=b',
  '@',
  '@evil.example',
  'u:p@evil.example/',
  ':',
  ':80',
  ':generateContent',
  '://',
  'https://evil.example/',
  '//evil.example/',
  '\r\n',
  '\r\nX-Evil: y',
  '\n',
  '\t',
  ' ',
  '\0',
  '\x7f',
  '\u0085',
  '\u00a0',
  '\u2028',
  '\u202e',
  '\ufeff',
  'é',
  '日本',
  '\u{1f600}',
  '\uff0e\uff0e',
  '\u2215',
  '\uff0f',
  '\ud800',
  '\udc00',
  '*',
  '+',
  '=',
  '"',
  "'",
  '<',
  '>',
  '[',
  ']',
  '{',
  '}',
  '|',
  '^',
  '`',
  '~',
  '!',
  '$',
  '(',
  ')',
  ',',
  '__proto__',
  '../'.repeat(500),
  'x'.repeat(100_000),
];

const GENERATED = 400;
const SEED = 41;

/** Where the requests for some ordinary name go: all of the address, or what stands before and behind the name. */
type Place = readonly [before: string, after?: string];

type Facts = Pick<CallInfo, 'root' | 'credentials' | 'stream'>;

/** What one surface of a provider makes of names. */
class Addresses {
  readonly #module: ProviderModule;
  readonly #surface: TranslatedSurface;
  readonly #call: Facts;

  constructor(module: ProviderModule, surface: TranslatedSurface, call: Facts) {
    this.#module = module;
    this.#surface = surface;
    this.#call = call;
  }

  /** The address of a request for this model. Throws what the translator throws. */
  of(model: string): string {
    const translator = this.#module.translators[this.#surface] as unknown as Translator<TranslatedSurface>;
    const { path } = translator.toUpstream(
      minimal(this.#surface, model) as RequestOf<TranslatedSurface>,
      callFor(model, this.#call),
    );
    return path.startsWith('/') ? this.#call.root + path : path;
  }

  /** Places for the names that the provider takes. */
  places(models: readonly string[]): Place[] {
    return models.flatMap((model): Place[] => {
      const address = attempt(() => this.of(model));
      return typeof address === 'string' ? [placeIn(address, model)] : [];
    });
  }
}

/** The name may be escaped, as a whole or between its slashes, and what stands before its last slash may be left out. */
function placeIn(address: string, model: string): Place {
  const spellings = [model, model.slice(model.lastIndexOf('/') + 1)].flatMap((name) => [
    name,
    encodeURIComponent(name),
    name.split('/').map(encodeURIComponent).join('/'),
  ]);
  for (const name of spellings) {
    const at = address.indexOf(`/${name}`) + 1;
    const after = address.slice(at + name.length);
    if (at > 0 && /^([/:?]|$)/.test(after)) return [address.slice(0, at), after];
  }
  return [address];
}

function attempt<T>(run: () => T): T | GatewayError {
  try {
    return run();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

/** What is wrong with an address, or with a refusal; `undefined` when nothing is. */
function problemOf(outcome: string | GatewayError, places: readonly Place[]): string | undefined {
  if (typeof outcome !== 'string')
    return [400, 404].includes(ERRORS[outcome.code].status) ? undefined : `refused with ${outcome.code}`;
  const shown = outcome.slice(0, 300);
  if (new URL(outcome).href !== outcome) return `it would be read as another address: ${shown}`;
  return places.some((place) => standsIn(outcome, place)) ? undefined : `it has left its place: ${shown}`;
}

function standsIn(address: string, [before, after]: Place): boolean {
  if (after === undefined) return address === before;
  if (!address.startsWith(before) || !address.endsWith(after) || address.length <= before.length + after.length)
    return false;
  const name = address.slice(before.length, address.length - after.length);
  return (
    !/[?#\\\s]/.test(name) &&
    decodeURIComponent(name)
      .split(/[/\\]/)
      .every((segment) => segment !== '' && segment !== '.' && segment !== '..') &&
    !name.includes('//')
  );
}

function* namesFrom(ordinary: readonly string[], dice: Dice): Generator<string> {
  for (const piece of HOSTILE) {
    yield piece;
    for (const name of ordinary)
      yield* [name + piece, piece + name, `${name}/${piece}`, name.replace(/[/:.-]|$/, (mark) => piece + mark)];
  }
  for (let count = 0; count < cases(10 * GENERATED); count += 1) {
    yield Array.from({ length: 1 + dice.below(4) }, () =>
      dice.pick([
        dice.pick(HOSTILE),
        dice.pick(HOSTILE),
        dice.pick(ordinary),
        String.fromCharCode(dice.below(0x10000)),
      ]),
    ).join('');
  }
}

describe('a name of a model in an address', () => {
  for (const [at, module] of PROVIDERS.entries()) {
    it(`stays in its place, or is refused: ${module.name}`, async function providers() {
      this.timeout(60_000);
      const {
        provider: { root, credentials },
      } = await connected(module, wireVariables(module));
      const problems: string[] = [];
      for (const surface of Object.keys(module.translators) as TranslatedSurface[]) {
        const models = [
          ...new Set([
            ...ORDINARY,
            ...wiresOf(module)
              .filter((wire) => wire.surface === surface)
              .map(({ model }) => model),
          ]),
        ];
        for (const stream of surface === 'chat' ? [false, true] : [false]) {
          const addresses = new Addresses(module, surface, { root, credentials, stream });
          const places = addresses.places(models);
          expect(places, `${surface}: addresses of ordinary names`).to.not.be.empty;
          for (const name of new Set(namesFrom(models.slice(0, 8), new Dice(SEED + at)))) {
            const problem = problemOf(
              attempt(() => addresses.of(name)),
              places,
            );
            if (problem !== undefined) problems.push(`${surface} ${JSON.stringify(name.slice(0, 60))}: ${problem}`);
          }
        }
      }
      expect(problems.slice(0, 20), `${problems.length} names`).to.deep.equal([]);
    });
  }
});
