import { invalidRequest } from '../../host/common/invalid-request.ts';
import { type FormPart, GatewayError, type TranscriptionRequest } from '../../host/contract/index.ts';
import type { RequestSource, ReadRequest } from '../../host/http/surface-route.ts';
import { surfaceBuiltin } from '../../host/surface-builtin.ts';
import { isField, membersIn, streamIn, textIn } from './form-fields.ts';
import { readUpload } from './upload.ts';

/** A recording. See docs/reference/data-plane.md#uploads. */
const RECORDING = { maxBytes: 25 * 1024 * 1024, files: 'file' } as const;

/** The one list of this API; some clients leave the brackets out. */
const GRANULARITIES = 'timestamp_granularities[]';
const BARE_GRANULARITIES = 'timestamp_granularities';

/** Fields that count as absent when they are empty. */
const KNOWN: ReadonlySet<string> = new Set([
  'language',
  'prompt',
  'response_format',
  'temperature',
  'stream',
  GRANULARITIES,
]);

/** A surface that takes an audio file in a form. */
export function uploadSurface(
  surface: 'audio.transcriptions' | 'audio.translations',
  path: string,
): ReturnType<typeof surfaceBuiltin> {
  const canStream = surface === 'audio.transcriptions';
  return surfaceBuiltin({ surface, path, read: (source) => readTranscription(source, canStream) });
}

async function readTranscription(source: RequestSource, canStream: boolean): Promise<ReadRequest> {
  const upload = await readUpload(source, RECORDING);
  try {
    const request = toRequest(upload.parts);
    const streaming = streamIn(upload.parts);
    if (streaming && !canStream)
      throw new GatewayError('streaming_not_supported', 'translations are not streamed; leave stream out');
    return { request, streaming, dispose: () => upload.dispose() };
  } catch (error) {
    upload.dispose();
    throw error;
  }
}

function toRequest(written: readonly FormPart[]): TranscriptionRequest {
  const file = written.find((part) => 'file' in part)?.file;
  if (!file) throw invalidRequest('file is required');
  const model = textIn(written, 'model');
  if (model === undefined) throw invalidRequest('model is required');
  const temperature = textIn(written, 'temperature');
  if (temperature !== undefined && (temperature.trim() === '' || !Number.isFinite(Number(temperature))))
    throw invalidRequest('temperature must be a finite number');
  for (const name of ['language', 'prompt', 'response_format']) textIn(written, name);
  const form = written
    .map((part) => (isField(part) && part.name === BARE_GRANULARITIES ? { ...part, name: GRANULARITIES } : part))
    .filter((part) => !isField(part) || part.value !== '' || !KNOWN.has(part.name));
  const { [GRANULARITIES]: granularities, ...members } = membersIn(form);
  return {
    ...members,
    model,
    file,
    ...(granularities !== undefined && { timestamp_granularities: [granularities].flat() as string[] }),
    form,
  };
}
