/** Where what is sent to a vendor names models: not only where this gateway reads the model that it routes by. */
import { decodedUri, isFields } from '../contract/index.ts';

/** One place that names a model, by all texts that it may mean: in a path its owner may stand before a name, and escapes in it. */
export type NamedModel = readonly string[];

/** Names of members, form fields, parameters of queries and headers whose value is a model, letters and digits alone: `model`, `models`, `base_model`, `modelId`, `fallbacks`. */
const NAMES_MODEL = /(?:models?|deployments?)(?:ids?|names?|slugs?|override|groups?|list)?$|fallbacks?$|^preset$/;

/** Members whose insides are the user's own data, or the form of such data: no vendor reads settings there. */
const OPAQUE = new Set([
  'messages',
  'message',
  'contents',
  'content',
  'parts',
  'parameters',
  'properties',
  'arguments',
  'args',
  'variables',
  'documents',
  'document',
  'attributes',
  'examples',
  'item',
]);
const OPAQUE_END = /(?:schema|metadata)$/;

/** A name without its case and its marks. */
export const lettersOf = (name: string): string =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^a-z\d]/g, '');

/** Whether some vendor may read what stands under this name as a model, however it is written. */
export const namesModel = (name: string): boolean => NAMES_MODEL.test(lettersOf(name));

/** Whether a member, by the letters of its name, holds what a user says, and nothing that a vendor acts by. */
export const isData = (letters: string): boolean => OPAQUE.has(letters) || OPAQUE_END.test(letters);

/** How a value is looked at: as settings, as what a member names that is called `model`, or as the turns of a conversation, which bring tools. */
type Role = 'settings' | 'model' | 'turns';

/**
 * Every text in a JSON value that a vendor may read as a model, at any depth; and those in paths of requests that it holds, as lines of a batch do.
 * The member `model` of a body that is routed by it is left out: the gateway writes it itself.
 */
export function modelsIn(value: unknown, isRouted = false): readonly NamedModel[] {
  const found: NamedModel[] = [];
  const open: [value: unknown, role: Role][] = [
    [isRouted && isPlain(value) ? { ...value, model: undefined } : value, 'settings'],
  ];
  for (let next = open.pop(); next; next = open.pop()) {
    const [held, role] = next;
    if (Array.isArray(held)) for (const item of held) open.push([item, role]);
    else if (isPlain(held)) for (const [name, member] of Object.entries(held)) openMember(name, member, role);
    else if (role === 'model' && typeof held === 'string') found.push(meaningsOf(held));
  }
  return found;

  function openMember(name: string, member: unknown, role: Role): void {
    const letters = lettersOf(name);
    if (role === 'turns') {
      if (letters === 'tools') open.push([member, 'settings']);
    } else if (NAMES_MODEL.test(letters)) open.push([member, 'model']);
    else if (isData(letters)) return;
    else if (letters === 'input' && Array.isArray(member)) open.push([member, 'turns']);
    else if (letters === 'url' && typeof member === 'string' && member.startsWith('/'))
      for (const model of modelsInUrl(member)) found.push(model);
    else open.push([member, role]);
  }
}

/** Not bytes, nor what a module made a class of. */
function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isFields(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** A name may stand behind that of its collection. */
export const meaningsOf = (text: string): NamedModel =>
  text.startsWith('models/') ? [text, text.slice('models/'.length)] : [text];

/** Segments before a model, and behind one. Sources: API references of OpenAI ("Engines"), Azure, DeepInfra, Fireworks, Databricks, 2026-11-27. */
const BEFORE_MODEL = new Set([
  'engine',
  'engines',
  'deployment',
  'deployments',
  'model',
  'models',
  'inference',
  'run',
  'endpoint',
  'endpoints',
  'servingendpoints',
]);
const BEHIND_MODEL = new Set(['invocations', 'invoke']);
/** Segments that one name of a model may have. */
const MOST_SEGMENTS = 6;

/** The models that a path names, by where they stand in it, or because they are known. */
export function modelsInPath(path: string, isKnown: (model: string) => boolean): readonly NamedModel[] {
  const segments = path.split('/').filter((segment) => segment !== '');
  const runs = runsOf(segments);
  const isPlace = (at: number): boolean =>
    at > 0 &&
    (BEFORE_MODEL.has(lettersOf(segments[at - 1] ?? '')) || BEHIND_MODEL.has(lettersOf(segments[at + 1] ?? '')));
  const places = segments
    .keys()
    .filter((at) => isPlace(at) || runs.some(({ from, texts }) => from === at && texts.some(isKnown)));
  return Array.from(places, (at) => runs.filter(({ from, to }) => from <= at && at < to).flatMap(({ texts }) => texts));
}

interface Run {
  readonly from: number;
  readonly to: number;
  /** As it is written, and decoded. */
  readonly texts: readonly string[];
}

/** Neighbouring segments, the shortest first; never the version at the beginning. */
function runsOf(segments: readonly string[]): readonly Run[] {
  const runs: Run[] = [];
  for (let length = 1; length <= MOST_SEGMENTS; length += 1) {
    for (let from = 1; from + length <= segments.length; from += 1) {
      const text = segments.slice(from, from + length).join('/');
      const decoded = decodedUri(text);
      runs.push({ from, to: from + length, texts: decoded === text ? [text] : [text, decoded] });
    }
  }
  return runs;
}

/** The models that the parameters of a query, or of a form that is written like one, name. Some servers part them by semicolons too. */
export function modelsInQuery(query: string): readonly NamedModel[] {
  return query.split(/[&;]/).flatMap((pair) => {
    const [[name, value] = ['', '']] = new URLSearchParams(pair);
    return namesModel(name) && value !== '' ? [meaningsOf(value)] : [];
  });
}

/** The path and the query of a request inside a body. */
function modelsInUrl(url: string): readonly NamedModel[] {
  const query = url.indexOf('?');
  const path = query < 0 ? url : url.slice(0, query);
  return [path, decodedUri(path)]
    .flatMap((each) => modelsInPath(each, () => false))
    .concat(query < 0 ? [] : modelsInQuery(url.slice(query + 1)));
}

/** The models that headers name. */
export function modelsInHeaders(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): readonly NamedModel[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    namesModel(name) ? [value ?? []].flat().map((text) => meaningsOf(text.trim())) : [],
  );
}
