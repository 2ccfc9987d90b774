import { TOKEN } from '../../../host/contract/json/fields.ts';
import { textOfFile } from '../../../host/contract/text/file-text.ts';
import { type BodyTexts, type Fields, isText } from '../../../host/contract/index.ts';
import { openEnvelope } from '../envelope.ts';

const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+$/;
const ENUM = /^[A-Z][A-Z\d_]*$/;

/** What the wire itself defines, by the member that holds it. Any other value in the same place is read. */
const WORDS: ReadonlyMap<string, RegExp> = new Map([
  ['role', /^(user|model|function)$/],
  ['mimeType', MEDIA_TYPE],
  ['mime_type', MEDIA_TYPE],
  ['responseMimeType', MEDIA_TYPE],
  ['thoughtSignature', TOKEN],
  ['thought_signature', TOKEN],
  ['fileUri', /^\w+:\/\/\S+$/],
  ['file_uri', /^\w+:\/\/\S+$/],
  ['model', /^[\w./:@-]*$/],
  ['modelVersion', TOKEN],
  ['responseId', TOKEN],
  ['createTime', TOKEN],
  ['type', /^(TYPE_UNSPECIFIED|STRING|NUMBER|INTEGER|BOOLEAN|ARRAY|OBJECT|NULL)$/i],
  ...[
    'mode',
    'category',
    'threshold',
    'method',
    'thinkingLevel',
    'responseModalities',
    'mediaResolution',
    'language',
    'outcome',
    'finishReason',
    'taskType',
    'blockReason',
    'probability',
    'modality',
    'behavior',
    'serviceTier',
    'urlRetrievalStatus',
    'scheduling',
    'severity',
    'trafficType',
    'modelStage',
  ].map((name) => [name, ENUM] as const),
]);

/** Where texts stand in the bodies of this wire. See docs/reference/ingress.md#what-guardrails-read. */
export const BODY_TEXTS: BodyTexts = {
  isWord: (value, name, holder) =>
    name === 'id'
      ? isCallId(value, holder)
      : name === 'data'
        ? isBytes(value, holder)
        : (WORDS.get(name)?.test(value) ?? false),
  isSealed: (name, holder) =>
    isSignature(name) ||
    (name === 'text' &&
      (holder['thought'] === true || isText(holder['thoughtSignature']) || isText(holder['thought_signature']))),
  hasNames: (name, holder) => (name === 'args' || name === 'response') && 'name' in holder,
  repeats: 'logprobsResult',
  textOf: ({ text, thought }) => (typeof text === 'string' && thought !== true ? text : undefined),
  opened: (value, name, holder) =>
    isSignature(name) ? openEnvelope(value) : name === 'data' ? textOfFile(value, typeOf(holder)) : undefined,
};

const isSignature = (name: string): boolean => name === 'thoughtSignature' || name === 'thought_signature';

/** Calls and their results have a name and a body beside the id. */
function isCallId(value: string, holder: Readonly<Fields>): boolean {
  return 'name' in holder && ('args' in holder || 'response' in holder) && TOKEN.test(value);
}

/** Bytes have their type beside them. */
function isBytes(value: string, holder: Readonly<Fields>): boolean {
  const type = typeOf(holder);
  return type !== undefined && MEDIA_TYPE.test(type) && /^[\w+/=-]*$/.test(value);
}

function typeOf({ mimeType, mime_type }: Readonly<Fields>): string | undefined {
  const type = mimeType ?? mime_type;
  return typeof type === 'string' ? type : undefined;
}
