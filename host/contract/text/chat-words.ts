import { TOKEN } from '../json/fields.ts';

/**
 * Request fields of the chat wire that hold no text of the caller's: numbers, switches, the model;
 * messages are read by themselves.
 */
const CONTROL_FIELDS = new Set(['model', 'messages', 'stream', 'n', 'seed']);
/** Fields whose objects have members that the chat wire names; any other is only forwarded. */
export const NAMED_FIELDS: ReadonlySet<string> = new Set([
  'tools',
  'tool_choice',
  'response_format',
  'stream_options',
  'logit_bias',
]);
const TOOL_CHOICES = /^(auto|none|required)$/;

/** Whether a field of a chat request only steers the call. */
export function isControl(field: string, value: unknown): boolean {
  return (
    CONTROL_FIELDS.has(field) || (field === 'tool_choice' && typeof value === 'string' && TOOL_CHOICES.test(value))
  );
}

/** Members of content parts that hold bytes or addresses rather than text, by the part's type. */
export const PART_MEDIA: ReadonlyMap<unknown, readonly [holder: string, member: string]> = new Map([
  ['image_url', ['image_url', 'url']],
  ['input_audio', ['input_audio', 'data']],
  ['file', ['file', 'file_data']],
]);

/**
 * Words of the wire by the name of their member: a value of that form is not a text of the client.
 */
export type Words = ReadonlyMap<string, RegExp>;

/**
 * What the wire itself defines, by the member that holds it: enumerated words and opaque tokens.
 * Only a value of that form is left out: any other value in the same place may be text of the
 * caller's, and is read.
 */
export const MESSAGE_WORDS: Words = new Map([
  ['role', /^(system|developer|user|assistant|tool|function)$/],
  ['tool_call_id', TOKEN],
]);
/** Words in a call of a tool. */
export const CALL_WORDS: Words = new Map([
  ['id', TOKEN],
  ['type', /^(function|custom)$/],
]);
/** Words in a detail of reasoning. */
export const DETAIL_WORDS: Words = new Map(['type', 'format', 'id', 'signature', 'data'].map((name) => [name, TOKEN]));
/** Words in a part of a message's content. */
export const PART_WORDS: Words = new Map([['type', /^(text|image_url|input_audio|file|refusal)$/]]);
/** Words in an image, a sound or a file. */
export const MEDIA_WORDS: Words = new Map([
  ['detail', /^(auto|low|high)$/],
  ['format', /^(wav|mp3)$/],
]);
/** The words of what a member holds, by the member's name. */
export const WORDS_BY_FIELD: ReadonlyMap<string, Words> = new Map([
  ['tools', new Map([['type', /^(function|custom)$/]])],
  ['tool_choice', new Map([['type', /^(function|custom|allowed_tools)$/]])],
  ['response_format', new Map([['type', /^(text|json_object|json_schema)$/]])],
]);
