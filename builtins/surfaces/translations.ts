import { uploadSurface } from './upload-surface.ts';

/** `POST /v1/audio/translations`: an audio file in, its text in English out. */
export default uploadSurface('audio.translations', '/v1/audio/translations');
