import type { CallInfo, ImagesReply, ImagesRequest, Translator, UnaryReply, Usage, WireRequest } from 'gw/contract';
import { countOf, type Fields, fieldsBeside, isFields, isGiven, objectOf } from 'gw/common-wire';
import { contentRefused } from '../_common/google/faults.ts';
import { imagenBody, readImagen } from '../_common/google/imagen.ts';
import { blockedPrompt, readUsage } from './candidates.ts';
import { methodPath, modelName } from './models.ts';

const KNOWN = ['model', 'prompt', 'response_format', 'n'];
const isImagen = ({ model }: CallInfo): boolean => modelName(model).startsWith('imagen');

/** Imagen by its own method, any other model by an answer that holds images. See docs/reference/providers.md#images. */
export const images: Translator<'images'> = {
  toUpstream: (request, call) =>
    isImagen(call)
      ? { path: methodPath(call.model, 'predict'), ...imagenBody(request, modelName(call.model)) }
      : toAnswer(request, call),
  fromUpstream: (reply, call) => (isImagen(call) ? readImagen(reply) : readAnswer(reply)),
};

function toAnswer(request: ImagesRequest, call: CallInfo): WireRequest {
  const ignored = fieldsBeside(request, KNOWN);
  return {
    path: methodPath(call.model, 'generateContent'),
    body: {
      contents: [{ parts: [{ text: request.prompt }] }],
      generationConfig: { responseModalities: ['TEXT', 'IMAGE'] },
    },
    ignored: isGiven(request.n) && request.n !== 1 ? ['n', ...ignored] : ignored,
  };
}

/** Every image of every candidate. Throws when there is none: as a refusal where the model says that it is one. */
function readAnswer(reply: UnaryReply): ImagesReply {
  const body = objectOf(reply);
  const { candidates } = body;
  const given = Array.isArray(candidates) ? candidates.filter(isFields) : [];
  const data = given
    .flatMap(partsOf)
    .flatMap(({ inlineData: inline }) =>
      isFields(inline) && typeof inline['data'] === 'string' && inline['data'] !== ''
        ? [{ b64_json: inline['data'] }]
        : [],
    );
  const usage = usageOf(body['usageMetadata']);
  if (data.length > 0) return { data, ...(usage && { usage }) };
  const refusal = blockedPrompt(body) ?? given.map(refusalOf).find((text) => text !== undefined);
  if (refusal !== undefined) throw contentRefused(refusal);
  throw new Error('the answer holds no image');
}

/** Without what the model drew while it was thinking. */
function partsOf({ content }: Fields): readonly Fields[] {
  const parts = isFields(content) && Array.isArray(content['parts']) ? content['parts'].filter(isFields) : [];
  return parts.filter(({ thought }) => thought !== true);
}

/** With the kinds of tokens under the names that answers with images have for them. Source: OpenAI API reference, "Images", `usage`, 2026-11-22. */
function usageOf(metadata: unknown): Usage | undefined {
  const usage = readUsage(metadata);
  if (!usage || !isFields(metadata)) return usage;
  const details = {
    input_tokens_details: kindsOf(metadata['promptTokensDetails']),
    output_tokens_details: kindsOf(metadata['candidatesTokensDetails']),
  };
  return { ...usage, ...Object.fromEntries(Object.entries(details).filter(([, kinds]) => kinds !== undefined)) };
}

function kindsOf(details: unknown): Fields | undefined {
  if (!Array.isArray(details) || details.length === 0) return undefined;
  const count = (wanted: string): number =>
    details
      .filter(isFields)
      .filter(({ modality }) => modality === wanted)
      .reduce((sum, { tokenCount }) => sum + countOf(tokenCount), 0);
  return { text_tokens: count('TEXT'), image_tokens: count('IMAGE') };
}

/** Reasons to stop that are a refusal. Source: ai.google.dev, API reference, "FinishReason", 2026-11-21. */
const REFUSALS = /SAFETY|PROHIBITED_CONTENT|RECITATION|BLOCKLIST|SPII/;

function refusalOf({ finishReason: reason, finishMessage: message }: Fields): string | undefined {
  if (typeof reason !== 'string' || !REFUSALS.test(reason)) return undefined;
  return typeof message === 'string' && message !== '' ? message : `no image was made: ${reason}`;
}
