import type { IncomingMessage } from 'node:http';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import { isCodedBody } from './listed.ts';
import { boundaryIn, isOddHeader, MAX_HEADERS, partHead } from './part-head.ts';

/** Parts of a form, and bytes of the name of a model: parsers take more or do not. */
const MAX_PARTS = 1000;
const MAX_MODEL = 1024;

const LF = 0x0a;

/** Whether a body is a form whose fields can be looked through. */
export const isReadableForm = (request: IncomingMessage): boolean =>
  /^\s*multipart\/form-data\s*(?:;|$)/i.test(request.headers['content-type'] ?? '') && !isCodedBody(request);

/**
 * The model that a form names in its one text field `model`; `undefined` where there is none, or parsers may read the form differently.
 * Throws for a second one: gateway and upstream might read different ones.
 */
export function modelOfForm(form: Buffer, { headers }: IncomingMessage): string | undefined {
  const boundary = boundaryIn(headers['content-type'] ?? '');
  const [model, ...more] = (boundary === undefined ? undefined : modelsOf(form, Buffer.from(`--${boundary}`))) ?? [];
  if (more.length > 0) throw invalidRequest('the form holds "model" twice');
  return model === '' ? undefined : model;
}

/** Values of the text fields `model`. What stands in the other parts is not looked at. */
function modelsOf(form: Buffer, delimiter: Buffer): readonly string[] | undefined {
  const models: string[] = [];
  let parts = 0;
  const first = form.indexOf(delimiter);
  if (form.toString('latin1', 0, first).trim() !== '') return undefined; // some parsers take what stands before the form, where that is JSON
  for (let at = first, next = 0; at >= 0; at = next) {
    next = form.indexOf(delimiter, at + delimiter.length);
    parts += 1;
    if (parts > MAX_PARTS || (at > 0 && form[at - 1] !== LF)) return undefined; // some parsers end a line at other places
    if (next < 0 && isEnd(form.subarray(at + delimiter.length))) break;
    const part = readPart(form.subarray(at, next < 0 ? form.length : next));
    if (!part || (part.isModel && part.value.length > MAX_MODEL)) return undefined;
    if (part.isModel) models.push(part.value.toString('utf8').replace(/\r?\n$/, ''));
  }
  return models;
}

const isEnd = (rest: Buffer): boolean => rest.length < 64 && /^--\s*$/.test(rest.toString('latin1'));

/** A part from its delimiter on; `undefined` where parsers may read it differently, or it has no head. */
function readPart(part: Buffer): { readonly isModel: boolean; readonly value: Buffer } | undefined {
  const start = part.toString('latin1', 0, MAX_HEADERS);
  const blank = /\n\r?\n/.exec(start);
  if (!blank) return undefined;
  const lines = start
    .slice(start.indexOf('\n'), blank.index)
    .split('\n')
    .map((line) => line.replace(/\r$/, ''));
  const head = lines.some(isOddHeader) ? undefined : partHead(lines.join('\n'));
  return (
    head && {
      isModel: !head.isFile && head.names.includes('model'),
      value: part.subarray(blank.index + blank[0].length),
    }
  );
}
