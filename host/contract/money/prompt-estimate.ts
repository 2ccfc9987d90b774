/**
 * What a request counts before any vendor has counted it: guesses for reservations, and for answers
 * that say nothing of their usage.
 */
import type { Exchange } from '../exchange.ts';
import { type Fields, isFields, TOKEN } from '../json/fields.ts';

/**
 * Characters of text that one token stands for. Near the truth for English; other languages and
 * code have fewer characters to a token.
 */
export const CHARACTERS_PER_TOKEN = 4;
/** Tokens of an image of usual size. */
export const IMAGE_TOKENS = 1600;
/** Bytes of any other file that one token stands for. */
const FILE_BYTES_PER_TOKEN = 20;

/**
 * Tokens of any file but an image, from its base64.
 *
 * @param base64 the data alone, without the head of a data address. Its length is enough: nothing
 * is decoded.
 */
export const fileTokens = (base64: string): number => Math.ceil((base64.length * 3) / 4 / FILE_BYTES_PER_TOKEN);

/**
 * What of a request says how long its prompt is. An exchange has all of it; so has what a test
 * makes up.
 */
export type PromptSource = Pick<Exchange, 'surface' | 'request' | 'clientRequest' | 'bodyBytes'>;

/** How long a prompt is, by estimate. */
export interface PromptSize {
  /** Tokens that it may count as. */
  readonly tokens: number;
  /**
   * The body asks for its prompt to be kept in a cache: writing there may cost more than reading.
   */
  readonly writesCache: boolean;
  /** Whether it holds sound. */
  readonly holdsSound: boolean;
  /** Whether it holds images. */
  readonly holdsImages: boolean;
}

/** Members that steer the call, at the top of any body. */
const CONTROLS = new Set([
  'model',
  'user',
  'metadata',
  'service_tier',
  'safety_identifier',
  'prompt_cache_key',
  'modalities',
  'reasoning_effort',
  'verbosity',
  'voice',
  'size',
  'quality',
  'style',
  'encoding_format',
  'input_type',
  'form', // its texts stand among the members as well
]);
/**
 * Members whose objects are written for the model as they are: the names in them are texts as well.
 */
const WRITTEN_WHOLE = new Set([
  'tools',
  'functions',
  'response_format',
  'text',
  'generationConfig',
  'generation_config',
  'output_config',
  'output_format',
  'args',
  'arguments',
  'response',
  'input_schema',
  'parameters',
]);
/** Words of the wire itself, by the member that holds them. */
const WORDS = new Set([
  'type',
  'role',
  'id',
  'call_id',
  'tool_call_id',
  'tool_use_id',
  'status',
  'object',
  'detail',
  'format',
  'mimeType',
  'mime_type',
  'media_type',
]);
const CACHE_MARKS = new Set(['cache_control', 'cachePoint']);
const IMAGE_PARTS = new Set<unknown>(['image_url', 'input_image', 'image', 'computer_screenshot']);
/** Members that hold an image, or say where it is. */
const IMAGE_MEMBERS = new Set(['image_url', 'url', 'source', 'data', 'file_id', 'image']);
/** Members that hold bytes as base64. */
const BYTES = new Set(['data', 'file_data', 'bytes', 'blob', 'b64_json', 'audio']);
const DATA_ADDRESS = /^data:([^;,]*)[^,]{0,200},/;

/**
 * Tokens of the prompt: all texts of the body by their characters, of messages of every kind,
 * tools, schemas and earlier calls; images and files by their number and size; token ids by their
 * number. Of a body that is not JSON, or was not held, its bytes count as text.
 *
 * @returns 1 token at least. The model's own tokenizer is not asked, which would take far longer.
 */
export function promptSize({ request, clientRequest, surface, bodyBytes }: PromptSource): PromptSize {
  const size = new Counter();
  const forwarded = (request as { readonly json?: unknown }).json;
  const isForwarded = surface === 'responses' || surface === 'passthrough';
  const body = isForwarded ? forwarded : (clientRequest?.value ?? request);
  if (isForwarded && forwarded === undefined) size.characters = bodyBytes ?? 0;
  else size.addBody(body);
  if (surface === 'images.edits') size.addImages(filesIn(request['form']));
  const { writesCache, holdsSound, holdsImages } = size;
  return {
    tokens: Math.floor(size.characters / CHARACTERS_PER_TOKEN) + size.tokens + 1,
    writesCache,
    holdsSound,
    holdsImages,
  };
}

/** How many files a form has. */
const filesIn = (form: unknown): number =>
  Array.isArray(form) ? form.filter((part) => isFields(part) && 'file' in part).length : 0;

/**
 * Tokens of the prompt alone. For a plugin that treats requests by their size; for money take
 * `Spending`, which counts the answer as well.
 */
export const promptTokens = (source: PromptSource): number => promptSize(source).tokens;

/**
 * Characters of all texts of a value out of JSON; those of bytes do not count. Numbers do not
 * count, nor do words of the wire such as roles and types. Names of members do only below those
 * that a model reads as they are, such as `arguments`.
 *
 * @param value parsed JSON of any shape, a text too.
 * @returns UTF-16 code units.
 */
export function charactersIn(value: unknown): number {
  const size = new Counter();
  size.add(value, '', false);
  return size.characters;
}

/** The counts of one body. It goes through every value once, and decodes nothing. */
class Counter {
  characters = 0;
  tokens = 0;
  writesCache = false;
  holdsSound = false;
  holdsImages = false;

  addImages(count: number): void {
    this.tokens += IMAGE_TOKENS * count;
    if (count > 0) this.holdsImages = true;
  }

  /**
   * Counts the members of a whole body, without those that steer the call. What is not an object
   * counts nothing.
   */
  addBody(body: unknown): void {
    if (!isFields(body)) return;
    for (const name in body) if (!CONTROLS.has(name)) this.add(body[name], name, WRITTEN_WHOLE.has(name));
  }

  /** `isWhole` is whether names of members count, because the model reads them too. */
  add(value: unknown, name: string, isWhole: boolean): void {
    if (typeof value === 'string') this.#addText(value, name);
    else if (Array.isArray(value)) for (const item of value) this.#addItem(item, name, isWhole);
    else if (isFields(value)) this.#addFields(value, isWhole);
  }

  /** A number in a list is the id of a token. */
  #addItem(item: unknown, name: string, isWhole: boolean): void {
    if (typeof item === 'number') this.tokens += 1;
    else this.add(item, name, isWhole);
  }

  /**
   * Counts an object: as an image where its type says that it is one, with whatever text stands
   * beside the picture.
   */
  #addFields(fields: Readonly<Fields>, isWhole: boolean): void {
    const media = fields['mimeType'] ?? fields['mime_type'] ?? fields['media_type'];
    const isImage = IMAGE_PARTS.has(fields['type']) || isImageType(media);
    if (isImage) this.addImages(1);
    if (fields['type'] === 'input_audio' || isSoundType(media)) this.holdsSound = true;
    for (const name in fields) {
      const value = fields[name];
      if (CACHE_MARKS.has(name)) this.writesCache = true;
      else if (isWhole || !WORDS.has(name) || !isWord(value)) {
        if (isWhole) this.characters += name.length;
        if (!isImage || !IMAGE_MEMBERS.has(name))
          this.add(value, name, isWhole || WRITTEN_WHOLE.has(name) || (name === 'input' && isFields(value)));
      }
    }
  }

  /**
   * A data address and base64 count by the bytes that they stand for, any other text by its
   * characters.
   */
  #addText(text: string, name: string): void {
    const media = text.startsWith('data:') ? DATA_ADDRESS.exec(text) : undefined;
    if (media && isImageType(media[1])) this.addImages(1);
    else if (media) this.tokens += fileTokens(text.slice(media[0].length));
    else if (BYTES.has(name) && TOKEN.test(text)) this.tokens += fileTokens(text);
    else this.characters += text.length;
  }
}

const isSoundType = (value: unknown): boolean => typeof value === 'string' && value.startsWith('audio/');
const isImageType = (value: unknown): boolean => typeof value === 'string' && value.startsWith('image/');
const isWord = (value: unknown): boolean => typeof value === 'string' && TOKEN.test(value);
