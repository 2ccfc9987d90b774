import { invalidRequest } from '../../host/common/invalid-request.ts';
import type { Surface, TranscriptionRequest } from '../../host/contract/index.ts';
import type { RequestSource, ReadRequest } from '../../host/http/surface-route.ts';
import { surfaceBuiltin } from '../../host/surface-builtin.ts';
import { readUpload, type Upload } from './upload.ts';

/** A surface that takes an audio file in a form. */
export function uploadSurface(surface: Surface, path: string): ReturnType<typeof surfaceBuiltin> {
  return surfaceBuiltin({ surface, path, read: readTranscription });
}

async function readTranscription(source: RequestSource): Promise<ReadRequest> {
  const upload = await readUpload(source, 'file');
  try {
    return { request: toRequest(upload), streaming: false, dispose: () => upload.dispose() };
  } catch (error) {
    upload.dispose();
    throw error;
  }
}

function toRequest({ fields, file }: Upload): TranscriptionRequest {
  if (!file) throw invalidRequest('file is required');
  const model = textOf(fields, 'model');
  if (!model) throw invalidRequest('model is required');
  const temperature = textOf(fields, 'temperature');
  if (temperature !== undefined && (temperature.trim() === '' || !Number.isFinite(Number(temperature))))
    throw invalidRequest('temperature must be a finite number');
  const [language, prompt, response_format] = ['language', 'prompt', 'response_format'].map((name) =>
    textOf(fields, name),
  );
  // The one list of this API; some clients leave the brackets out.
  const granularities = ['timestamp_granularities[]', 'timestamp_granularities']
    .flatMap((name) => fields.get(name) ?? [])
    .filter((value) => value !== '');
  return {
    model,
    file,
    ...(language !== undefined && { language }),
    ...(prompt !== undefined && { prompt }),
    ...(response_format !== undefined && { response_format }),
    ...(temperature !== undefined && { temperature }),
    ...(granularities.length > 0 && { timestamp_granularities: granularities }),
  };
}

/** `undefined` when absent or empty. */
function textOf(fields: Upload['fields'], name: string): string | undefined {
  const values = fields.get(name) ?? [];
  if (values.length > 1) throw invalidRequest(`${name} must be given once`);
  return values[0] === '' ? undefined : values[0];
}
