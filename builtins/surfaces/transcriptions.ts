import { uploadSurface } from './upload-surface.ts';

/** `POST /v1/audio/transcriptions`: an audio file in, its text out. */
export default uploadSurface('audio.transcriptions', '/v1/audio/transcriptions');
