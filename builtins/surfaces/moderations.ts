import { invalidRequest } from '../../host/common/invalid-request.ts';
import { jsonBody } from '../../host/http/surface-route.ts';
import { surfaceBuiltin } from '../../host/surface-builtin.ts';
import { checkFields, type FieldKind, requireText, text } from './fields.ts';

const FIELDS: ReadonlyMap<string, FieldKind> = new Map([['model', text]]);

/** `POST /v1/moderations`. The input is forwarded as it is: text, a list of texts, or multimodal parts. */
export default surfaceBuiltin({
  surface: 'moderations',
  path: '/v1/moderations',
  read: jsonBody((body) => {
    checkFields(body, FIELDS);
    requireText(body, 'model');
    const { input } = body;
    if (input === undefined || input === null) throw invalidRequest('input is required');
    if (typeof input !== 'string' && !Array.isArray(input)) throw invalidRequest('input must be a string or a list');
    // Governance 2: guardrails read text alone; of an input with other parts, they have not read the whole.
    return {
      request: body,
      streaming: false,
      unreadable: typeof input !== 'string' && input.some((item) => typeof item !== 'string'),
    };
  }),
});
