import { TOKEN } from '../../../host/contract/json/fields.ts';
import { type BodyTexts, type Fields, isText } from '../../../host/contract/index.ts';
import { textOfFile } from '../../../host/contract/text/file-text.ts';
import { openEnvelope } from '../envelope.ts';

/** Words that the wire itself defines, by the member that holds them. */
const WORDS: ReadonlyMap<string, RegExp> = new Map([
  ['type', TOKEN],
  ['id', TOKEN],
  ['call_id', TOKEN],
  ['model', TOKEN],
  ['encrypted_content', TOKEN],
  ['file_id', TOKEN],
  ['previous_response_id', TOKEN],
  ['role', /^(?:user|assistant|system|developer)$/],
  ['status', /^(?:in_progress|completed|incomplete)$/],
  ['detail', /^(?:low|high|auto|original)$/],
  ['execution', /^(?:client|server)$/],
  ['syntax', /^(?:lark|regex)$/],
  ['tool_choice', /^(?:none|auto|required)$/],
  ['mode', /^(?:auto|required)$/],
  ['effort', /^(?:none|minimal|low|medium|high|xhigh|max)$/],
  ['summary', /^(?:auto|concise|detailed)$/],
  ['verbosity', /^(?:low|medium|high)$/],
  ['truncation', /^(?:auto|disabled)$/],
  ['service_tier', /^(?:auto|default|flex|scale|priority)$/],
  ['format', /^(?:wav|mp3)$/],
  ['include', /^(?:reasoning\.encrypted_content|message\.[\w.]+|[a-z]+_call[\w.]+)$/],
]);

/** An address, or bytes in base64. */
const RUN = /^(?:(?:data:|https?:\/\/)\S*|[\w+/=-]*)$/i;

/** Members that hold bytes, or the address of an image, by what holds them; audio has its format beside it. */
function isMedia(value: string, name: string, { type, format }: Readonly<Fields>): boolean {
  if (type === 'input_image') return name === 'image_url' && RUN.test(value);
  if (type === 'input_file') return name === 'file_data' && RUN.test(value);
  return name === 'data' && isText(format) && TOKEN.test(value);
}

/** Where the texts of a request stand. See docs/reference/ingress.md#what-guardrails-read. */
export const RESPONSES_TEXTS: BodyTexts = Object.freeze<BodyTexts>({
  isWord: (value, name, holder) => WORDS.get(name)?.test(value) === true || isMedia(value, name, holder),
  isSealed: (name, { type }) => name === 'text' && (type === 'summary_text' || type === 'reasoning_text'),
  textOf: ({ type, text }) =>
    (type === 'input_text' || type === 'output_text' || type === 'text') && typeof text === 'string' ? text : undefined,
  opened: (value, name) =>
    name === 'encrypted_content'
      ? openEnvelope(value)
      : name === 'file_data' || name === 'image_url'
        ? textOfFile(value)
        : undefined,
});
