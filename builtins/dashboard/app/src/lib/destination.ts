const HOME = '/overview';
/** Only to tell a path from everything else: nothing is loaded from there. */
const ANY_ORIGIN = 'http://gateway.invalid';

/** Where to go after signing in: a path of this application, whatever the address says. Browsers drop tabs and line breaks and turn backslashes before they read an address, so it is read as they do. */
export function returnPath(from: string | null): string {
  if (from === null || !/^\/(?![/\\])/.test(from) || !URL.canParse(from, ANY_ORIGIN)) return HOME;
  const { origin, pathname, search, hash } = new URL(from, ANY_ORIGIN);
  if (origin !== ANY_ORIGIN || pathname.startsWith('//')) return HOME;
  return /^\/login(?:$|\/)/.test(pathname) ? HOME : pathname + search + hash;
}
