import { jsonBody, surfaceBuiltin } from '../../host/http/surface-route.ts';
import { checkFields, type FieldKind, invalid, requireText, text } from './fields.ts';

const FIELDS: ReadonlyMap<string, FieldKind> = new Map([['model', text]]);

/** `POST /v1/moderations`. The input is forwarded as it is: text, a list of texts, or multimodal parts. */
export default surfaceBuiltin({
  surface: 'moderations',
  path: '/v1/moderations',
  read: jsonBody((body) => {
    checkFields(body, FIELDS);
    requireText(body, 'model');
    const { input } = body;
    if (input === undefined || input === null) throw invalid('input is required');
    if (typeof input !== 'string' && !Array.isArray(input)) throw invalid('input must be a string or a list');
    return { request: body, streaming: false };
  }),
});
