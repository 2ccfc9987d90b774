/** How much an answer says, where its vendor does not: characters of its texts, thoughts and calls. */
import type { ChatChunk, ChatReply } from '../contract/index.ts';
import { type Fields, isFields } from '../contract/json/fields.ts';
import { CHARACTERS_PER_TOKEN } from '../contract/money/prompt-estimate.ts';

/** Members of a message that say nothing which a model has written, by any of their names. */
const BESIDE = new Set([
  'role',
  'id',
  'type',
  'index',
  'format',
  'name',
  'object',
  'annotations',
  'citations',
  'logprobs',
  'provider_specific_fields',
  'extra_content',
  'signature',
]);
const THOUGHTS = ['reasoning_content', 'reasoning'] as const;

/** Bytes of sound that one token stands for, of the least that is usual: 20 tokens a second (OpenAI documentation, "Managing costs" of the Realtime API, 2026-11-26), 128 kbit/s. */
const SOUND_BYTES_PER_TOKEN = 800;
/** Tokens of an image in a chat's answer. Source: ai.google.dev, "Gemini API pricing", images up to 1024 x 1024, 2026-11-26. */
const IMAGE_TOKENS = 1290;

/** Characters of what a chunk adds to its answer, as it arrived. */
export function charactersOfChunk(chunk: ChatChunk): number {
  const choices: unknown = chunk.choices;
  if (!Array.isArray(choices)) return 0;
  let characters = 0;
  for (const choice of choices as readonly unknown[])
    if (isFields(choice)) characters += charactersOfMessage(choice['delta'] ?? choice['message']);
  return characters;
}

/** Characters of a whole answer. */
export function charactersOfReply({ choices }: ChatReply): number {
  return choices.reduce((sum, { message }) => sum + charactersOfMessage(message), 0);
}

function charactersOfMessage(message: unknown): number {
  if (!isFields(message)) return 0;
  let characters = 0;
  for (const name in message) {
    const value = message[name];
    if (typeof value === 'string' && name !== 'role') characters += value.length;
    else if (typeof value === 'object' && value !== null) characters += nested(value, name);
  }
  return characters - repeatedThoughts(message);
}

function nested(value: unknown, name: string): number {
  if (typeof value === 'string') return sizeOfText(value, name);
  if (Array.isArray(value)) return value.reduce((sum: number, item: unknown) => sum + nested(item, name), 0);
  if (!isFields(value) || BESIDE.has(name)) return 0;
  return Object.entries(value).reduce(
    (sum, [member, inner]) => sum + (member === 'data' && name === 'audio' ? soundIn(inner) : nested(inner, member)),
    0,
  );
}

function sizeOfText(text: string, name: string): number {
  if (name === 'name') return text.length; // of a tool that is called
  if (BESIDE.has(name)) return 0;
  return text.startsWith('data:image/') ? IMAGE_TOKENS * CHARACTERS_PER_TOKEN : text.length;
}

const soundIn = (base64: unknown): number =>
  typeof base64 === 'string' ? ((base64.length * 3) / 4 / SOUND_BYTES_PER_TOKEN) * CHARACTERS_PER_TOKEN : 0;

/** Some vendors say a thought twice, as a text and as an item: it counts once. */
function repeatedThoughts(message: Readonly<Fields>): number {
  const { reasoning_details: details } = message;
  if (!Array.isArray(details)) return 0;
  const text = THOUGHTS.map((name) => message[name]).find((value) => typeof value === 'string');
  return typeof text === 'string' ? Math.min(text.length, nested(details, 'reasoning_details')) : 0;
}
