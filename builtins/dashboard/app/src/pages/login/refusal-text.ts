import { ApiError, messageOf } from '../../api/api-error.ts';

/** What a refused sign-in with an issuer means to who tried. */
export function issuerRefusal(error: unknown, label: string): string {
  switch (error instanceof ApiError ? error.status : undefined) {
    case 401:
      return 'The sign-in could not be completed. Begin again.';
    case 403:
      return 'Your account may not use this gateway. Ask who runs it.';
    case 429:
      return 'Too many attempts. Wait a moment, then try again.';
    case 503:
      return `${label} does not answer. Try again, or use a key.`;
    default:
      return messageOf(error);
  }
}
