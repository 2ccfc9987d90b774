import {
  GatewayError,
  type ImagesReply,
  inPart,
  isText,
  quoted,
  type Translator,
  type UnaryReply,
  type Usage,
} from 'gw/contract';
import { type BodyOptions, commonBody } from './body.ts';
import { countOf, type Fields, isFields, isGiven, itemsOf, objectOf } from './fields.ts';
import { type FormOptions, formRequest } from './forms.ts';
import { type Path, pathOf } from './paths.ts';

export interface ImagesOptions extends BodyOptions {
  readonly path?: Path;
}

/**
 * Images that are changed: a form, whose files go with their media types, because OpenAI refuses images without (GitHub openai/openai-node issue
 * 1468, 2026-11-27). See docs/reference/providers.md#edits-of-images.
 */
export function commonImageEdits(options: FormOptions = {}): Translator<'images.edits'> {
  return {
    toUpstream: ({ form }, call) =>
      formRequest(
        form.map((part) =>
          'file' in part ? { ...part, contentType: part.contentType ?? part.file.contentType } : part,
        ),
        call,
        '/images/edits',
        options,
      ),
    fromUpstream: readImages,
  };
}

/** Images on the common wire. See docs/reference/providers.md#images. */
export function commonImages(options: ImagesOptions = {}): Translator<'images'> {
  return {
    toUpstream(request, call) {
      const { body, ignored } = commonBody(request, call, options);
      return { path: pathOf(options.path, '/images/generations', call), body, ignored };
    },
    fromUpstream: readImages,
  };
}

function readImages(reply: UnaryReply): ImagesReply {
  const { usage: given, created, ...fields } = objectOf(reply);
  const data = itemsOf(fields['data'], 'images');
  if (!data.every(({ url, b64_json: bytes }) => isText(url) || isText(bytes)))
    throw new Error('an image has neither address nor data');
  const usage = readUsage(given);
  return {
    ...fields,
    data: [...data],
    ...(typeof created === 'number' && created > 0 && { created }),
    ...(usage && { usage }),
  };
}

/** Images are billed by tokens under names of their own; details of them stay. See docs/reference/providers.md#images. */
function readUsage(value: unknown): Usage | undefined {
  if (!isFields(value)) return undefined;
  const { input_tokens: input, output_tokens: output, total_tokens: total, ...details }: Fields = value;
  const [prompt, completion] = [countOf(input), countOf(output)];
  return {
    ...details,
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: countOf(total) || prompt + completion,
  };
}

/** Throws a 400 when the asked `response_format` of an image is not producible; unset is never refused. */
export function requireImageFormat(asked: unknown, formats: readonly string[], model: string): void {
  if (!isGiven(asked) || formats.includes(String(asked))) return;
  throw new GatewayError(
    'unsupported_parameter',
    `response_format ${quoted(asked)} is not supported: ${inPart(model, 64)} produces ${formats.join(' or ')}`,
  );
}
